"""Run a command and turn every way it can end into an exit code and at most one sentence on standard error."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import cache
from types import FrameType
from typing import Any

import typer

from sparsedp.cli._speaking import coloured
from sparsedp.errors import BudgetExceeded, SparsedpError
from sparsedp.files.untrusted import printable

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What the framework raises for a command line that it does not understand."""

_DEBUG = "--debug"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in given
    _never_fail_to_speak()
    given = [argument for argument in given if argument != _DEBUG]
    with _watched() as interruption:
        try:
            code = _commands().main(given, prog_name="sparsedp", standalone_mode=False)
            sys.stdout.flush()
            if interruption.noticed and code == ExitCode.INTERRUPTED:  # before the command began
                raise Interrupted(interruption.done)
            return code if isinstance(code, int) else ExitCode.DONE
        except BaseException as error:
            if interruption.noticed and not isinstance(error, Interrupted | SystemExit):
                error = Interrupted(done_before(error))
            code = _ended_by(error, debug=debug)
            return 128 + interruption.number if code == ExitCode.INTERRUPTED else code


@cache
def _commands() -> Any:
    """The commands as the framework understands them, read once: that takes longer than most of them do."""
    from sparsedp.cli._app import app

    return typer.main.get_command(app)


def _ended_by(error: BaseException, *, debug: bool) -> int:
    # The framework makes an exit of a pipe whose reader is gone.
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        _forget_output()
        return ExitCode.READER_GONE
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else ExitCode.REFUSED
    if type(error).__name__ == "NoArgsIsHelpError":  # the help was printed, and is explanation enough
        return ExitCode.USAGE
    code, sentence = _explained(error)
    # What was meant for standard output and could not be written would fail again when Python ends.
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()
    with suppress(OSError):
        if debug:
            sys.stderr.writelines(f"{printable(line)}\n" for line in _trace(error).split("\n")[:-1])
        sys.stderr.write(f"{coloured('sparsedp:', sys.stderr)} {printable(sentence)}\n")
        sys.stderr.flush()
    return code


def _explained(error: BaseException) -> tuple[int, str]:
    """The exit code and the sentence. Texts of other libraries can quote data, so they are never passed on."""
    code, sentence = _by_kind(error)
    spent = "" if isinstance(error, Interrupted) else _spent_before(error)
    return code, f"{sentence} {spent}" if spent else sentence


def _by_kind(error: BaseException) -> tuple[int, str]:
    if isinstance(error, Interrupted | KeyboardInterrupt):
        return ExitCode.INTERRUPTED, str(error) or str(Interrupted())
    if isinstance(error, SparsedpError):
        return code_of(error), str(error)
    if isinstance(error, USAGE_ERROR):
        return ExitCode.USAGE, _usage(error)
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if isinstance(error.filename, str) else ""
        remedy = "make room and try again" if error.errno == errno.ENOSPC else "check the path and who may use it"
        return ExitCode.REFUSED, f"Could not read or write{where or ' the output'}: {error.strerror}; {remedy}."
    if isinstance(error, MemoryError):
        return ExitCode.REFUSED, "There is not enough memory for this; declare fewer or coarser cells."
    name = type(error).__name__
    how = f"`sparsedp {_DEBUG} …` shows where (without the values it met), for a report of the error"
    return ExitCode.UNEXPECTED, f"Something went wrong inside sparsedp ({name}); {how}."


def _usage(error: Any) -> str:
    if (typed := _typed_for_a_number(error)) is not None:
        error.message = f"{typed[:40]!r} is not a whole number"
    sentence = " ".join(str(error.format_message()).split()).rstrip(".")
    where = error.ctx.command_path if getattr(error, "ctx", None) else "sparsedp"
    return f"{sentence}{'' if sentence.endswith('?') else ';'} `{where} --help` shows how it is used."


def _typed_for_a_number(error: Any) -> str | None:
    """What was typed where a whole number belongs: nothing else is read by the framework, which has its own words."""
    faults = getattr(error.__cause__, "errors", None)
    typed = faults()[0].get("input") if callable(faults) else None
    return typed if isinstance(typed, str) else None


def _trace(error: BaseException) -> str:
    """Where it happened, without a single value: messages of other libraries and variables can hold data."""
    lines: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        lines += [f"{type(seen).__name__}, raised here:\n", *traceback.extract_tb(seen.__traceback__).format()]
        seen = seen.__cause__ or seen.__context__
    return "".join(lines)


def _never_fail_to_speak() -> None:
    """A terminal that has no ε shows a question mark instead."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _forget_output() -> None:
    """Nobody reads what is left to write; without this Python would complain about it as it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# How a command ends, for scripts to act on.


class ExitCode(IntEnum):
    """The exit codes of `sparsedp`; they are documented in `sparsedp --help` and do not change."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    BUDGET_EXCEEDED = 3
    UNEXPECTED = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    READER_GONE = 141
    TERMINATED = 143


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.REFUSED: "refused: a file, a value or the data cannot be used; the message says what would do",
    ExitCode.USAGE: "the command line was not understood",
    ExitCode.BUDGET_EXCEEDED: "the ledger has less left than was asked for; nothing was spent",
    ExitCode.UNEXPECTED: "an error of sparsedp itself",
    ExitCode.HUNG_UP: "interrupted by SIGHUP: its terminal went away; what was done is cleared up as after Ctrl-C",
    ExitCode.INTERRUPTED: "interrupted with Ctrl-C; the message says whether the budget was spent",
    ExitCode.READER_GONE: "the program that read the output went away",
    ExitCode.TERMINATED: "interrupted by SIGTERM; what was done is cleared up as after Ctrl-C",
}


def code_of(error: SparsedpError) -> ExitCode:
    """How a command ends that the library refuses."""
    return ExitCode.BUDGET_EXCEEDED if isinstance(error, BudgetExceeded) else ExitCode.REFUSED


# Ctrl-C and signals like it: noticed once, whatever library was at work, and explained in one sentence.


class Interrupted(Exception):
    """A command was stopped with Ctrl-C, or by SIGTERM or SIGHUP; what had been done by then is in the text."""

    def __init__(self, done: str = "") -> None:
        super().__init__(f"Interrupted. {done or _NOTHING_SPENT}")


_NOTHING_SPENT = "Nothing was spent and nothing was written."


_STAYS_SPENT = "stays spent."
GOES_ON = "goes on from what is stored and spends nothing."
TAKES_NOTE = "takes note of that and spends nothing."
"""How notes end that we have put on an error; those of other libraries can quote data, and are not passed on."""


def _spent_before(error: BaseException) -> str:
    """What was noted on an error about a debit that came before it; empty if there was none."""
    notes = (note for note in getattr(error, "__notes__", []) if isinstance(note, str))
    return " ".join(dict.fromkeys(note for note in notes if note.endswith((_STAYS_SPENT, GOES_ON, TAKES_NOTE))))


class Interruption:
    """Remembers that Ctrl-C was pressed, or a signal like it came: libraries turn it into errors of their own."""

    def __init__(self) -> None:
        self.noticed = False
        self.number = signal.SIGINT.value
        """Of the first signal."""
        self.done = ""
        """What is to be said of the command, if it is stopped where nobody knows better; empty if it did nothing."""

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """The handler of the signals."""
        if not self.noticed:
            self.noticed, self.number = True, number
        raise KeyboardInterrupt


def is_interrupted(error: BaseException | None = None) -> bool:
    """Whether Ctrl-C was pressed, even if some library has swallowed it or made an error of its own of it."""
    watch = _watch()
    return isinstance(error, KeyboardInterrupt) or (watch is not None and watch.noticed)


def refuse_if_interrupted() -> None:
    """Stop now if Ctrl-C was pressed and some library has swallowed it."""
    if is_interrupted():
        raise KeyboardInterrupt


def from_here_on(done: str) -> None:
    """What to say if Ctrl-C is pressed from here on, where nobody knows better."""
    watch = _watch()
    if watch is not None:
        watch.done = done


def done_before(error: BaseException) -> str:
    """What was spent and written before an interruption, as far as is known where nobody knows better."""
    watch = _watch()
    return _spent_before(error) or ("" if watch is None else watch.done)


def _watch() -> Interruption | None:
    handler = signal.getsignal(signal.SIGINT)
    return handler if isinstance(handler, Interruption) else None


@contextmanager
def _watched() -> Iterator[Interruption]:
    """Watch for Ctrl-C, SIGTERM and SIGHUP while a command runs, but not for what its caller ignores (`nohup`).

    Only the main thread may, and elsewhere nothing is watched.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    watched = [signal.SIGINT, *(number for number in asked if signal.getsignal(number) != signal.SIG_IGN)]
    before = {number: signal.signal(number, interruption) for number in watched}
    told, sys.unraisablehook = sys.unraisablehook, _but_interruptions(sys.unraisablehook)
    try:
        yield interruption
    finally:
        sys.unraisablehook = told
        for number, handler in before.items():
            signal.signal(number, handler)


def _but_interruptions(tell: Callable[[Any], object]) -> Callable[[Any], object]:
    """A signal may come in a callback from which nothing can be raised: it is noticed, and its trace helps nobody."""
    return lambda lost: None if issubclass(lost.exc_type, KeyboardInterrupt) else tell(lost)
