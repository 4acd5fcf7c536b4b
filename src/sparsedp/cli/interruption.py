"""Ctrl-C: noticed once, whatever library was at work, and explained in one sentence."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):
    """A command was stopped with Ctrl-C; what had been done by then is in the text."""

    def __init__(self, done: str = "") -> None:
        super().__init__(f"Interrupted. {done or NOTHING_SPENT}")


NOTHING_SPENT = "Nothing was spent and nothing was written."


def spent_before(error: BaseException) -> str:
    """What the library noted on an error about a debit that came before it; empty if there was none."""
    notes = getattr(error, "__notes__", [])
    return " ".join(dict.fromkeys(text for text in notes if isinstance(text, str) and text.endswith("stays spent.")))


class Interruption:
    """Remembers that Ctrl-C was pressed: libraries turn it into errors of their own."""

    def __init__(self) -> None:
        self.noticed = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """The handler of the signal."""
        self.noticed = True
        raise KeyboardInterrupt


def refuse_if_interrupted() -> None:
    """Stop now if Ctrl-C was pressed and some library has swallowed it."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Interruption) and handler.noticed:
        raise KeyboardInterrupt


@contextmanager
def watched() -> Iterator[Interruption]:
    """Watch for Ctrl-C while a command runs; only the main thread may, and elsewhere nothing is watched."""
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    before = signal.signal(signal.SIGINT, interruption)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)
