"""One status line on the terminal for anything that takes longer than two seconds; silent in scripts and logs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0
"""Seconds of silence before a person is told what is going on."""

_REFRESH = 0.2
_CLEAR = "\r\x1b[2K"


class StatusLine:
    """What is going on, on standard error, rewritten in place; nested stages are shown one after the other."""

    def __init__(self) -> None:
        self._stages: list[str] = []
        self._idle = threading.Event()
        self._shower: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self, what: str) -> None:
        """Show `what` from two seconds after the outermost stage began until its `end`."""
        with self._lock:
            self._stages.append(what)
            if len(self._stages) == 1 and sys.stderr.isatty():
                self._idle = threading.Event()
                self._shower = threading.Thread(target=self._show, args=(self._idle,), daemon=True)
                self._shower.start()

    def end(self, what: str) -> None:
        """The stage is over; the line goes when the last one is."""
        with self._lock:
            self._stages.remove(what)
            shower = None if self._stages else self._shower
            if shower is not None:
                self._idle.set()
                self._shower = None
        # Outside the lock, which the line's own thread takes; after this nothing more is written.
        if shower is not None:
            shower.join()

    def _show(self, idle: threading.Event) -> None:
        started = time.monotonic()
        shown = False
        wait = PATIENCE
        while not idle.wait(wait):
            with self._lock:
                what = " · ".join(dict.fromkeys(self._stages))
            sys.stderr.write(f"{_CLEAR}sparsedp: {what} … {time.monotonic() - started:.0f} s")
            sys.stderr.flush()
            shown, wait = True, _REFRESH
        if shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


STATUS = StatusLine()
"""The terminal is one for the whole process, and so is its status line."""


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Tell a person at the terminal what takes so long, if it does."""
    STATUS.begin(what)
    try:
        yield
    finally:
        STATUS.end(what)
