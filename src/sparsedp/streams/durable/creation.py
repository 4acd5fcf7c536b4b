"""Make a stream's file: complete before it has its name, and with no other name."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from sparsedp.errors import BadFile
from sparsedp.files.untrusted import statements_in
from sparsedp.privacy.ledger_file.store import sync_folder
from sparsedp.streams.durable.connection import APPLICATION_ID, FORMAT, connect
from sparsedp.streams.durable.scrubbing import scrub
from sparsedp.streams.durable.sealing import LABEL, PLACE_BYTES

TABLES = (
    "CREATE TABLE stream (description TEXT, private INTEGER, in_use INTEGER)",
    "CREATE TABLE gaps (first INTEGER PRIMARY KEY, stop INTEGER NOT NULL)",
)
"""Of every stream's file."""

COUNTERS = (
    "CREATE TABLE key (place BLOB NOT NULL)",
    "CREATE TABLE sealed (slot INTEGER PRIMARY KEY, version BLOB NOT NULL)",
)
"""And where there are counters, whose state is sealed."""

LOGS = {
    "count": "CREATE TABLE counts (tick INTEGER PRIMARY KEY, count INTEGER NOT NULL)",
    "total": "CREATE TABLE totals (number INTEGER PRIMARY KEY, total INTEGER NOT NULL)",
}
"""The table of each log: what was published."""


def create(path: Path, description: dict[str, Any], logs: tuple[str, ...], *, counters: bool) -> None:
    """Make the file with no tick in it; it appears under its name once it is complete."""
    scratch = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = connect(scratch)
        try:
            _lay_out(connection, description, logs, counters=counters)
            scrub(connection, scratch)
        finally:
            connection.close()
        _put_in_place(scratch, path)
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


def drop_second_name(path: Path) -> None:
    """A process killed while it made the file may have left it a second, hidden name: what is deleted must be gone.

    Any other second name is refused: the log lies beside one of them alone, and through the other it would be missed.
    """
    if path.stat().st_nlink > 1:
        for other in path.parent.iterdir():
            if other.name.startswith(f".{path.name}.") and other.samefile(path):
                other.unlink()
    if path.stat().st_nlink > 1:
        raise BadFile(f"{path} has more than one name (hard links); remove the others, for its log has only one.")


def _lay_out(
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


def is_laid_out(connection: sqlite3.Connection) -> bool:
    """Whether the tables are those of a stream, word for word, and there is nothing else: no view, no trigger."""
    found = statements_in(connection)
    logs = [statement for statement in LOGS.values() if statement in found]
    return found in (sorted((*TABLES, *logs)), sorted((*TABLES, *COUNTERS, *logs)))


def _put_in_place(scratch: Path, path: Path) -> None:
    """Give the file its name, unless another process has taken the name meanwhile."""
    try:
        os.link(scratch, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise
        os.rename(scratch, path)
