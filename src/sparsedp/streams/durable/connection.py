"""A connection to a stream's file: one process alone, every commit on disk, nothing left of what was overwritten."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import weakref
from pathlib import Path

from sparsedp.errors import BadFile

APPLICATION_ID = 0x53445053
"""Marks the file as a sparsedp stream ("SDPS" in the SQLite header)."""

SETTINGS = (
    # One process for as long as the file is open: a second one is refused, so ticks cannot interleave.
    "PRAGMA locking_mode = EXCLUSIVE",
    "PRAGMA journal_mode = WAL",
    # A commit is on disk before it is acknowledged, also on systems whose plain fsync does not promise that.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    # Freed bytes are overwritten by zeros; nothing is spilled to temporary files.
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)


class _ReferableConnection(sqlite3.Connection):
    """A connection that can be referred to without being kept alive."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for this process alone, and settle and scrub what a crash may have left, before anything else."""
    connection = sqlite3.connect(
        path, timeout=0, isolation_level=None, check_same_thread=False, factory=_ReferableConnection
    )
    try:
        for setting in SETTINGS:
            connection.execute(setting)
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        scrub(connection, path)
    except sqlite3.Error:
        connection.close()
        raise
    _keep_open_in_forks(connection)
    return connection


def check_kind(path: Path) -> None:
    """Refuse what is not a stream's file, without touching it."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder; give the path of a stream's file.")
    if not path.is_file():
        raise BadFile(f"{path} is a device or a pipe; give the path of a stream's file.")
    try:
        # Immutable: no lock, no recovery, no file beside it. Through SQLite, because closing a file that this process
        # has open elsewhere would drop the locks on it.
        probe = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            # A crash may have left a header that counts pages which only the log holds: not damage, so not refused.
            probe.execute("PRAGMA writable_schema = ON")
            (kind,) = probe.execute("PRAGMA application_id").fetchone()
            (version,) = probe.execute("PRAGMA user_version").fetchone()
        finally:
            probe.close()
    except sqlite3.Error:
        raise BadFile(f"{path} is not a readable stream file; it may be damaged or of another kind.") from None
    if kind != APPLICATION_ID:
        raise BadFile(f"{path} is not a sparsedp stream; give the path of one, or of a file that does not exist yet.")
    if version != 1:
        raise BadFile(f"{path} is a stream of format {version}, this version reads 1; update sparsedp.")


def scrub(connection: sqlite3.Connection, path: Path) -> None:
    """Leave one version of every page: the newest, in the main file; no page image anywhere else.

    `path` is the file's own, no link to it, for the log lies beside the file. The log is written back into the main
    file, overwritten by zeros, and cut to nothing. After a crash this also removes what was written but not
    committed. Stopped halfway, it can be done again.
    """
    _checkpoint(connection, "FULL")
    try:
        _overwrite(path.with_name(path.name + "-wal"))
    except OSError as error:
        raise sqlite3.OperationalError(f"the log could not be overwritten ({error.strerror})") from None
    _checkpoint(connection, "TRUNCATE")


def _overwrite(log: Path) -> None:
    size = log.stat().st_size if log.exists() else 0
    if size:
        with open(log, "r+b", buffering=0) as file:
            zeros = bytes(min(size, 1 << 20))
            for start in range(0, size, len(zeros)):
                file.write(zeros[: size - start])
            os.fsync(file.fileno())


def _checkpoint(connection: sqlite3.Connection, mode: str) -> None:
    busy, _, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    if busy:
        raise sqlite3.OperationalError("the log could not be written back")


def _keep_open_in_forks(connection: sqlite3.Connection) -> None:
    """A forked child must never close its copy of the connection: that would cut the log under its parent."""
    reference = weakref.ref(connection)

    def hold() -> None:
        held = reference()
        if held is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))

    os.register_at_fork(after_in_child=hold)
