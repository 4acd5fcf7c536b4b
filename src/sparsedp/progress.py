"""One status line on the terminal for anything that takes longer than two seconds; silent in scripts and logs.

It says what is going on and for how long, and where that is known how much of it is done, as a bar.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sparsedp.files.untrusted import printable

PATIENCE = 2.0
"""Seconds of silence before a person is told what is going on."""

_REFRESH = 0.2
_CLEAR = "\r\x1b[2K"
_WIDTH = 20


class StatusLine:
    """What is going on, on standard error, rewritten in place; nested stages are shown one after the other."""

    def __init__(self) -> None:
        self._stages: list[str] = []
        self._idle = threading.Event()
        self._shower: threading.Thread | None = None
        self._lock = threading.Lock()
        self._done = 0.0
        self._spans: list[tuple[float, float]] = []

    def begin(self, what: str) -> None:
        """Show `what` from two seconds after the outermost stage began until its `end`."""
        with self._lock:
            self._stages.append(what)
            if len(self._stages) == 1:
                self._done, self._spans = 0.0, [(0.0, 1.0)]
            else:  # how much of the outermost stage a nested one is, nobody knows
                self._spans.append((self._done, self._done))
            if len(self._stages) == 1 and sys.stderr.isatty():
                self._idle = threading.Event()
                self._shower = threading.Thread(target=self._show, args=(self._idle,), daemon=True)
                self._shower.start()

    def end(self, what: str) -> None:
        """The stage is over; the line goes when the last one is."""
        with self._lock:
            self._stages.remove(what)
            del self._spans[-1:]
            shower = None if self._stages else self._shower
            if shower is not None:
                self._idle.set()
                self._shower = None
        # Outside the lock, which the line's own thread takes; after this nothing more is written.
        if shower is not None:
            shower.join()

    def advance(self, share: float) -> None:
        """So much of the part that is under way is done; never less than before."""
        if self._spans:
            first, last = self._spans[-1]
            self._done = max(self._done, first + share * (last - first))

    def begin_part(self, until: float) -> None:
        """What follows takes the part that is under way from where it is to this share of it."""
        first, last = self._spans[-1] if self._spans else (0.0, 0.0)
        self._spans.append((self._done, max(self._done, first + until * (last - first))))

    def end_part(self) -> None:
        """That is done."""
        self.advance(1.0)
        del self._spans[-1:]

    def _show(self, idle: threading.Event) -> None:
        started = time.monotonic()
        shown = False
        wait = PATIENCE
        while not idle.wait(wait):
            with self._lock:
                what = printable(" · ".join(dict.fromkeys(self._stages)))
            begin, end = f"sparsedp: {self._bar()}", f" … {time.monotonic() - started:.0f} s"
            # A line that goes on in the next one could not be cleared.
            room = shutil.get_terminal_size().columns - 1 - len(begin) - len(end)
            sys.stderr.write(f"{_CLEAR}{begin}{what[: max(room, 0)]}{end}")
            sys.stderr.flush()
            shown, wait = True, _REFRESH
        if shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def _bar(self) -> str:
        """Empty where nobody says how much is done."""
        full = int(_WIDTH * self._done)
        return f"{'█' * full}{'░' * (_WIDTH - full)} {self._done:.0%} " if self._done > 0.0 else ""


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


def advance(share: float) -> None:
    """Say how much is done, from 0 to 1, of the stage or of the part of it that is under way."""
    STATUS.advance(share)


@contextmanager
def part(until: float) -> Iterator[None]:
    """What is done here brings the stage, or the part of it that is under way, to that share."""
    STATUS.begin_part(until)
    try:
        yield
    finally:
        STATUS.end_part()
