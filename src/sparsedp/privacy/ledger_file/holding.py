"""Hold a ledger's file for one operation: a lock that nothing else in this process can drop by accident.

SQLite's own lock is not enough: on POSIX systems it is gone as soon as *any* handle on the file is closed in this
process, by a copy or a checksum for instance. This one belongs to its handle, so every operation takes it first.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where SQLite's own locks last
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.005
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotAFile(Exception):
    """A folder, a device or a pipe."""


class StillHeld(Exception):
    """Another holder did not let go in time."""


class Hold:
    """The file that is held."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    @property
    def in_place(self) -> bool:
        """Whether its name still leads to it: what is written to a file without a name, nobody will find."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._handle))
        except OSError:
            return False

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return os.fstat(self._handle).st_size


@contextmanager
def held(path: Path, *, exclusive: bool, deadline: float) -> Iterator[Hold]:
    """The file at the path, for this block alone (or with other readers), waiting for it until the deadline."""
    # A file object, not a bare handle: if an interruption comes between any two lines, it is closed when forgotten.
    with _opened(path) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotAFile
        _lock(file.fileno(), exclusive=exclusive, deadline=deadline)
        try:
            yield Hold(path, file.fileno())
        finally:
            # A child that was forked meanwhile has the handle too: closing ours alone would not let go.
            if fcntl is not None:
                fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def _opened(path: Path) -> FileIO:
    try:
        return FileIO(path, opener=lambda name, _: os.open(name, _FLAGS))
    except IsADirectoryError:
        raise NotAFile from None


def _lock(handle: int, *, exclusive: bool, deadline: float) -> None:
    if fcntl is None:
        return
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StillHeld from None
            time.sleep(_PAUSE)
        except OSError:  # a file system without such locks: SQLite's own must do
            return
