"""Leave one version of every page: what was overwritten is gone from the file and from its log."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path


def log_of(path: Path) -> Path:
    """The write-ahead log beside a stream's file."""
    return path.with_name(path.name + "-wal")


def scrub(connection: sqlite3.Connection, path: Path) -> None:
    """Leave one version of every page: the newest, in the main file; no page image anywhere else.

    `path` is the file's own, no link to it, for the log lies beside the file. The log is written back into the main
    file, overwritten by zeros, and cut to nothing. After a crash this also removes what was written but not
    committed. Stopped halfway, it can be done again.
    """
    frames = _checkpoint(connection, "FULL")
    log = log_of(path)
    try:
        size = log.stat().st_size if log.exists() else 0
        if frames and not size:
            raise sqlite3.OperationalError("its log is not beside it: was it moved while it was open?")
        _overwrite(log, size)
    except OSError as error:
        raise sqlite3.OperationalError(f"the log could not be overwritten ({error.strerror})") from None
    _checkpoint(connection, "TRUNCATE")


def _overwrite(log: Path, size: int) -> None:
    if size:
        with open(log, "r+b", buffering=0) as file:
            zeros = bytes(min(size, 1 << 20))
            for start in range(0, size, len(zeros)):
                file.write(zeros[: size - start])
            os.fsync(file.fileno())


def _checkpoint(connection: sqlite3.Connection, mode: str) -> int:
    """Write the log back into the main file; how many pages it holds."""
    busy, frames, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    if busy:
        raise sqlite3.OperationalError("the log could not be written back")
    return int(frames)
