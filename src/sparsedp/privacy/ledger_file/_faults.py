"""What went wrong with a ledger's file, in one sentence each; SQLite's own words stay inside."""

from __future__ import annotations

import sqlite3
from pathlib import Path

NOTHING_SPENT = "Nothing was spent."

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class Refused(Exception):
    """What is wrong with the file; `LedgerStore` turns it into a `BadFile` that says what it means for the budget."""

    def __init__(self, fault: str, outcome: str | None = None) -> None:
        self.fault = fault
        self.outcome = outcome
        super().__init__(fault)


def no_ledger(path: Path) -> str:
    """There is nothing at the path: how to begin one."""
    return (
        f"There is no ledger {path}; check the path, or begin one: `sparsedp ledger init {path} --dataset NAME "
        f'--epsilon 2` in a shell, `sparsedp.open_ledger("{path}").declare("NAME", epsilon=2)` in Python.'
    )


def gone(path: Path) -> str:
    """It was there."""
    return f"The ledger {path} was moved or deleted while it was in use; put it back, for it holds what was spent."


def lost(path: Path, synopses: Path) -> str:
    """It was there once, and what was bought is still beside it: a new one would be a second budget."""
    return (
        f"There is no ledger {path}, but its synopses are there, in {synopses.name}: put the ledger back, or move that "
        "folder away if these are other people's data."
    )


def replaced(path: Path) -> str:
    """Another one is there now."""
    return f"The ledger {path} was replaced by another while it was in use; put it back, or open the other one anew."


def rolled_back(path: Path) -> str:
    """An older state of it is there now."""
    return f"The ledger {path} lacks spends that it held before: an older copy was put back; restore the newest."


def in_use(path: Path, wait: float) -> str:
    """Somebody else holds it."""
    return f"The ledger {path} has been in use by another process for {wait:g} seconds; try again when that is done."


def not_a_ledger(path: Path) -> str:
    """Of another kind."""
    return f"{path} is not a sparsedp ledger; give the path of one, or of a file that does not exist yet."


def later_version(path: Path, found: int, known: int) -> str:
    """Written by a later version."""
    return f"{path} is a ledger of format {found}, this version reads {known}; update sparsedp."


def damaged(path: Path) -> str:
    """Not as this library wrote it."""
    return (
        f"The ledger {path} is damaged, cut short or was changed by another program; restore the newest copy, and add "
        "what was spent since."
    )


def sentence(path: Path, error: sqlite3.Error | OSError, wait: float) -> str:
    """What an error of SQLite or of the system comes to."""
    if isinstance(error, OSError):
        return f"The ledger {path} cannot be used: {error.strerror or 'the system refuses'}; check who may use it."
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY:
        return in_use(path, wait)
    if code in _READ_ONLY:
        return f"The ledger {path} cannot be written: it, or its folder, is read-only or not yours; make both writable."
    if code in _FULL:
        return f"The ledger {path} could not be written: the disk is full or fails; make room, or repair it."
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_ledger(path)
    return damaged(path)
