"""Run a command and turn every way it can end into an exit code and at most one sentence on standard error."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import typer

from sparsedp.cli.exit_codes import ExitCode, code_of
from sparsedp.cli.interruption import Interrupted, done_before, spent_before, watched
from sparsedp.cli.speaking import coloured
from sparsedp.errors import SparsedpError
from sparsedp.untrusted import printable

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What the framework raises for a command line that it does not understand."""

DEBUG = "--debug"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    from sparsedp.cli.app import app

    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in given
    _never_fail_to_speak()
    given = [argument for argument in given if argument != DEBUG]
    with watched() as interruption:
        try:
            code = typer.main.get_command(app).main(given, prog_name="sparsedp", standalone_mode=False)
            sys.stdout.flush()
            if interruption.noticed and code == ExitCode.INTERRUPTED:  # before the command began
                raise Interrupted(interruption.done)
            return code if isinstance(code, int) else ExitCode.DONE
        except BaseException as error:
            if interruption.noticed and not isinstance(error, Interrupted | SystemExit):
                error = Interrupted(done_before(error))
            code = _ended_by(error, debug=debug)
            return 128 + interruption.number if code == ExitCode.INTERRUPTED else code


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
    spent = "" if isinstance(error, Interrupted) else spent_before(error)
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
    how = f"`sparsedp {DEBUG} …` shows where (without the values it met), for a report of the error"
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
