"""Ctrl-C while an engine runs: engines catch what a signal raises and report it as an error of their own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """What the program's own handler of Ctrl-C has raised, which is not to be lost."""

    def __init__(self) -> None:
        self._raised: BaseException | None = None

    def note(self, raised: BaseException) -> None:
        """A handler has raised this."""
        self._raised = self._raised or raised

    def check(self) -> None:
        """Raise it again, free of what else went wrong after it."""
        if self._raised is not None:
            raise self._raised.with_traceback(None) from None


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Notice Ctrl-C in the block; the program's own handler is called as ever."""
    noticed = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield noticed
        return
    handler = before

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as raised:
            noticed.note(raised)
            raise

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, handler)
