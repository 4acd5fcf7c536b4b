"""Signals that ask a process to stop, while an engine runs and raw records may be on disk.

Ctrl-C, SIGTERM and SIGHUP are treated alike. Handlers are the program's own: what is put in their place here is there
for one block, in the main thread, where alone Python runs handlers, and is taken away again. Signals that the program
ignores stay ignored.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""A terminal's, a system's and a lost terminal's way to ask a process to stop."""

Handler = Callable[[int, FrameType | None], Any]


class Stopped(BaseException):
    """The process was told to end, and will, as soon as what is under way is cleared away."""


class Interrupts:
    """What the program's own handlers have raised, which is not to be lost."""

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
    """Notice such signals in the block: engines catch what handlers raise, and report it as an error of their own.

    The program's own handlers are called as ever.
    """
    noticed = Interrupts()

    def noting(handler: Handler) -> Handler:
        def on_signal(number: int, frame: FrameType | None) -> None:
            try:
                handler(number, frame)
            except BaseException as raised:
                noticed.note(raised)
                raise

        return on_signal

    with _instead({number: noting(before) for number, before in _handlers().items() if callable(before)}):
        yield noticed


@contextmanager
def ended_in_order() -> Iterator[None]:
    """A signal that would end the process at once ends it after the block, which is left by an exception."""
    came: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise Stopped

    try:
        with _instead({number: stop for number, before in _handlers().items() if before == signal.SIG_DFL}):
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def undisturbed() -> Iterator[None]:
    """A signal that comes in the block is as if it came after it: for clearing away, which has to be done whole."""
    came: list[int] = []
    wait = {number: lambda number, _: came.append(number) for number in _handlers()}
    try:
        with _instead(wait):
            yield
    finally:
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


def _handlers() -> dict[int, Any]:
    """What the program does about each such signal, where it is known and we may change it; not what it ignores."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    known = {number: signal.getsignal(number) for number in STOPS}
    return {number: handler for number, handler in known.items() if handler not in (None, signal.SIG_IGN)}


@contextmanager
def _instead(handlers: dict[int, Handler]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        for number, their_own in before.items():
            signal.signal(number, their_own)
