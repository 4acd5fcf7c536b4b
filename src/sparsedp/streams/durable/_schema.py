"""A stream's SQLite file: how it is connected to, which tables it has, and its atomic creation."""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from sparsedp.errors import BadFile
from sparsedp.files.untrusted import statements_in, work_at_most
from sparsedp.privacy.ledger_file.store import sync_folder
from sparsedp.streams._counters import forget_in_forks
from sparsedp.streams.durable._sealing import LABEL, PLACE_BYTES, scrub, wal_of

# Connections: every commit on disk, freed bytes overwritten, nothing spilled elsewhere.

APPLICATION_ID = 0x53445053
"""Marks the file as a sparsedp stream ("SDPS" in the SQLite header)."""

FORMAT = 1
"""The version of the tables, in the SQLite header too."""

PRAGMAS = (
    # One process for as long as the file is open, so ticks cannot interleave (and see `_sealing.py`).
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
    """A connection that is never closed in a forked child: that would truncate the log under its parent."""

    def forget_in_child(self) -> None:
        """One reference more, which nobody gives back."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


def connect(path: Path) -> sqlite3.Connection:
    """Open the file; first of all recover and scrub what a crash may have left."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False, factory=_Connection)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        work_at_most(connection, sum(each.stat().st_size for each in (path, wal_of(path)) if each.exists()))
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


# The schema, and the atomic creation of a file: it is complete before it has its name, and has no other name.

TABLES = (
    "CREATE TABLE stream (description TEXT, private INTEGER, in_use INTEGER)",
    "CREATE TABLE gaps (first INTEGER PRIMARY KEY, stop INTEGER NOT NULL)",
)
"""The schema of every stream's file."""

COUNTERS = (
    "CREATE TABLE key (place BLOB NOT NULL)",
    "CREATE TABLE sealed (slot INTEGER PRIMARY KEY, version BLOB NOT NULL)",
)
"""Beside counters: the state, encrypted, and the place of its key."""

LOGS = {
    "count": "CREATE TABLE counts (tick INTEGER PRIMARY KEY, count INTEGER NOT NULL)",
    "total": "CREATE TABLE totals (number INTEGER PRIMARY KEY, total INTEGER NOT NULL)",
}
"""The table of each log: what was published."""


def create(path: Path, description: dict[str, Any], logs: tuple[str, ...], *, counters: bool) -> None:
    """Create the file, without ticks. It appears under its name once it is complete."""
    scratch = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = connect(scratch)
        try:
            _create_tables(connection, description, logs, counters=counters)
            scrub(connection, scratch)
        finally:
            connection.close()
        _link_into_place(scratch, path)
        with suppress(OSError):  # not every system lets a folder be written through
            sync_folder(path.absolute().parent)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder {path.parent}"
        raise BadFile(f"Could not create {path}: {reason}; nothing was left half-written.") from None
    finally:
        for ending in ("", "-wal", "-journal"):
            with suppress(OSError):
                scratch.with_name(scratch.name + ending).unlink(missing_ok=True)


def drop_second_link(path: Path) -> None:
    """A process killed while it created the file may have left a hidden hard link: what is deleted must be gone.

    Any other second link is refused: the log lies beside one name alone, and opened by the other it would be missed.
    """
    if path.stat().st_nlink > 1:
        for other in path.parent.iterdir():
            if other.name.startswith(f".{path.name}.") and other.samefile(path):
                other.unlink()
    if path.stat().st_nlink > 1:
        raise BadFile(f"{path} has more than one name (hard links); remove the others, for its log has only one.")


def _create_tables(
    connection: sqlite3.Connection, description: dict[str, Any], logs: tuple[str, ...], *, counters: bool
) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("BEGIN")
    for statement in (*TABLES, *(COUNTERS if counters else ()), *(LOGS[name] for name in logs)):
        connection.execute(statement)
    connection.execute("INSERT INTO stream VALUES (?, 1, 0)", (json.dumps(description, sort_keys=True),))
    if counters:
        connection.execute("INSERT INTO key VALUES (?)", (LABEL + bytes(PLACE_BYTES - len(LABEL)),))
    connection.execute("COMMIT")


def has_schema(connection: sqlite3.Connection) -> bool:
    """Whether the schema is that of a stream, word for word, and nothing else: no view, no trigger."""
    found = statements_in(connection)
    logs = [statement for statement in LOGS.values() if statement in found]
    return found in (sorted((*TABLES, *logs)), sorted((*TABLES, *COUNTERS, *logs)))


def _link_into_place(scratch: Path, path: Path) -> None:
    """Give the file its name, unless another process has taken the name meanwhile."""
    try:
        os.link(scratch, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise
        os.rename(scratch, path)
