"""Ctrl-C and signals like it: noticed once, whatever library was at work, and explained in one sentence."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):
    """A command was stopped with Ctrl-C, or by SIGTERM or SIGHUP; what had been done by then is in the text."""

    def __init__(self, done: str = "") -> None:
        super().__init__(f"Interrupted. {done or NOTHING_SPENT}")


NOTHING_SPENT = "Nothing was spent and nothing was written."


STAYS_SPENT = "stays spent."
GOES_ON = "goes on from what is stored and spends nothing."
TAKES_NOTE = "takes note of that and spends nothing."
"""How notes end that we have put on an error; those of other libraries can quote data, and are not passed on."""


def spent_before(error: BaseException) -> str:
    """What was noted on an error about a debit that came before it; empty if there was none."""
    notes = (note for note in getattr(error, "__notes__", []) if isinstance(note, str))
    return " ".join(dict.fromkeys(note for note in notes if note.endswith((STAYS_SPENT, GOES_ON, TAKES_NOTE))))


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
    return spent_before(error) or ("" if watch is None else watch.done)


def _watch() -> Interruption | None:
    handler = signal.getsignal(signal.SIGINT)
    return handler if isinstance(handler, Interruption) else None


@contextmanager
def watched() -> Iterator[Interruption]:
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
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
