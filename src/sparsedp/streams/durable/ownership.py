"""One process owns a stream's file: a lock that lasts, and that forked children do not share."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sparsedp.errors import BadFile
from sparsedp.streams.forks import forget_in_forks

try:
    import fcntl
except ImportError:  # Windows, where SQLite's own locks last
    fcntl = None  # type: ignore[assignment]


class OwnerLock:
    """Held on the file itself from before SQLite opens it until after it is closed.

    SQLite's own lock is not enough: on POSIX systems it is gone as soon as *any* handle on the file is closed in this
    process, by a copy or a checksum for instance. This one belongs to its handle.
    """

    def __init__(self, path: Path) -> None:
        self._handle: int | None = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            if fcntl is not None:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise BadFile(f"{path} is in use, by another process or by this one; close it there first.") from None
        forget_in_forks(self)

    def read(self, start: int, size: int) -> bytes:
        """Bytes of the file itself, past SQLite; through this handle, for closing another would drop SQLite's lock."""
        os.lseek(self._opened(), start, os.SEEK_SET)
        return os.read(self._opened(), size)

    def write(self, start: int, content: bytes) -> None:
        """Overwrite bytes of the file itself, on disk when it returns."""
        os.lseek(self._opened(), start, os.SEEK_SET)
        if os.write(self._opened(), content) != len(content):
            raise OSError("the disk took only a part")
        os.fsync(self._opened())
        if fcntl is not None and hasattr(fcntl, "F_FULLFSYNC"):  # macOS, where fsync alone does not reach the disk
            with suppress(OSError):  # not every file system has it
                fcntl.fcntl(self._opened(), fcntl.F_FULLFSYNC)

    def _opened(self) -> int:
        if self._handle is None:
            raise OSError("the file is closed")
        return self._handle

    def release(self) -> None:
        """Let another process own the file."""
        if self._handle is not None:
            with suppress(OSError):
                os.close(self._handle)
            self._handle = None

    def forget_in_child(self) -> None:
        """The child's copy of the handle would keep the lock after its parent has gone."""
        self.release()
