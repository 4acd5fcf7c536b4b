"""A connection to a stream's file: every commit on disk, freed bytes overwritten, nothing spilled elsewhere."""

from __future__ import annotations

import ctypes
import sqlite3
from pathlib import Path

from sparsedp.errors import BadFile
from sparsedp.files.untrusted import work_at_most
from sparsedp.streams.durable.scrubbing import log_of, scrub
from sparsedp.streams.forks import forget_in_forks

APPLICATION_ID = 0x53445053
"""Marks the file as a sparsedp stream ("SDPS" in the SQLite header)."""

FORMAT = 1
"""The version of the tables, in the SQLite header too."""

PRAGMAS = (
    # One process for as long as the file is open, so ticks cannot interleave (and see `ownership.py`).
    "PRAGMA locking_mode = EXCLUSIVE",
    # A commit is on disk before it is acknowledged, also on systems whose plain fsync does not promise that.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    "PRAGMA checkpoint_fullfsync = ON",
    # Freed bytes are overwritten by zeros; nothing is spilled to temporary files.
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)


_LOGGED_AT, _LOGGED = 18, b"\x02\x02"
"""Where in its first bytes a file says how SQLite keeps it, and what it says if that is by a write-ahead log."""


class _Connection(sqlite3.Connection):
    """A connection that is never closed in a forked child: that would cut the log under its parent."""

    def forget_in_child(self) -> None:
        """One reference more, which nobody gives back."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, and settle and scrub what a crash may have left, before anything else."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False, factory=_Connection)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        work_at_most(connection, sum(each.stat().st_size for each in (path, log_of(path)) if each.exists()))
        for pragma in PRAGMAS:
            connection.execute(pragma)
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            raise sqlite3.OperationalError("this file system has no write-ahead log for SQLite")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
        scrub(connection, path)
    except BaseException:
        connection.close()
        raise
    forget_in_forks(connection)
    return connection


def check_kind(path: Path) -> None:
    """Refuse what is not a stream's file, without touching it."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder; give the path of a stream's file.")
    if not path.is_file():
        raise BadFile(f"{path} is a device or a pipe; give the path of a stream's file.")
    try:
        # Immutable: no lock, no recovery, no file beside it.
        probe = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            # A crash may have left a header that counts pages which only the log holds: not damage, so not refused.
            probe.execute("PRAGMA writable_schema = ON")
            (kind,) = probe.execute("PRAGMA application_id").fetchone()
            (version,) = probe.execute("PRAGMA user_version").fetchone()
        finally:
            probe.close()
    except (sqlite3.Error, UnicodeDecodeError):  # it quotes what is damaged, which may be no text
        raise BadFile(f"{path} is not a readable stream file; it may be damaged or of another kind.") from None
    if kind != APPLICATION_ID:
        raise BadFile(f"{path} is not a sparsedp stream; give the path of one, or of a file that does not exist yet.")
    if version != FORMAT:
        raise BadFile(f"{path} is a stream of format {version}, this version reads {FORMAT}; update sparsedp.")
    with open(path, "rb") as file:
        header = file.read(_LOGGED_AT + len(_LOGGED))
    if header[_LOGGED_AT:] != _LOGGED:  # SQLite would change it into one, and the file would be another than before
        raise BadFile(f"{path} is not a readable stream file; it may be damaged or of another kind.")
