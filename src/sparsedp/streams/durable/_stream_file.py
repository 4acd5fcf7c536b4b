"""An open stream file: what was published, and one version of the counters' state, read and committed."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any
from weakref import finalize

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.errors import BadFile
from sparsedp.files.untrusted import document
from sparsedp.streams._counters import CounterState
from sparsedp.streams._store import Published
from sparsedp.streams.durable._schema import check_kind, connect, drop_second_link, has_schema
from sparsedp.streams.durable._sealing import ExclusiveLock, KeyPlace, Version, scrub, seal, unseal, version_of, wal_of

INSERT = {"count": "INSERT INTO counts VALUES (?, ?)", "total": "INSERT INTO totals VALUES (?, ?)"}
LENGTH = {
    "count": "SELECT count(*), max(tick), max(typeof(count) <> 'integer') FROM counts",
    "total": "SELECT count(*), max(number), max(typeof(total) <> 'integer') FROM totals",
}
SELECT = {
    "count": "SELECT count FROM counts WHERE tick >= ? AND tick < ? ORDER BY tick",
    "total": "SELECT total FROM totals WHERE number >= ? AND number < ? ORDER BY number",
}
"""By the name of a log."""

_NOTHING = np.empty(0, np.int64)

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, MemoryError)
"""What comes of reading a file that says other things than a stream does."""

CHECKED_EVERY = 0.01
"""Seconds between two looks whether the file is still where it was: every tick, but for those in quick succession."""


class StreamFile:
    """Stores a stream in one file. Whatever can be read in it was published, or is one version of the counters' state.

    Tables: `stream` (one row: the public description, whether the noise was real, whether a process has it open),
    `counts` and `totals` (append-only: what was published), `gaps` (ticks that were left out and filled); for
    counters `sealed` (the newest versions of the state, see `_sealing.py`) and `key` (the place of the key).

    With counters, what a tick published is encrypted with the state until the next tick is written: it cannot be read
    before it is committed either.
    """

    redelivers = True

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: ExclusiveLock, *, log_found: bool) -> None:
        self._path = path
        self._real_path = path.resolve()  # wherever the process goes, and if the path is a link
        self._file, self._log = str(self._real_path), str(wal_of(self._real_path))
        self._connection = connection
        self.closed = False
        self._check_not_truncated()
        if not has_schema(connection):
            raise ValueError("other tables than a stream has")
        text, private, in_use = connection.execute("SELECT description, private, in_use FROM stream").fetchone()
        if in_use and not log_found:
            raise BadFile(
                f"{path} was not closed, and its log {wal_of(path).name} is missing, so the last ticks may be too; put "
                "it back beside the file, or open it with log_lost=True if you know that no tick is missing."
            )
        self.description: dict[str, Any] = document(text)
        self.private = private == 1
        self._key_place = KeyPlace(lock) if self._has_table("sealed") else None
        self._generation = 0
        self._pending: Version | None = None
        self.ticks = 0
        self._read_newest()
        try:
            connection.execute("UPDATE stream SET in_use = 1")
            self._write_pending()
            self._check_logs()
            scrub(connection, self._real_path)
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("UPDATE stream SET in_use = 0")
            raise
        connection.set_progress_handler(None, 0)  # what came from elsewhere has been read
        self._checked = 0.0
        self._inodes = (os.stat(self._file).st_ino, os.stat(self._log).st_ino)
        # Also when nobody calls `close`: at the end of the process, or when the last reference is gone.
        self._release = finalize(self, _release, connection, lock, self._real_path, os.getpid())

    @classmethod
    def open(cls, path: Path, *, log_lost: bool = False) -> StreamFile:
        """Open it for this process alone; what a crash left is recovered and scrubbed first."""
        check_kind(path)
        try:
            lock = ExclusiveLock(path.resolve())
        except OSError as error:
            raise BadFile(f"Could not open {path}: {error.strerror}; it must be yours to write.") from None
        connection, log_found = None, False
        try:
            drop_second_link(path.resolve())
            log_found = log_lost or wal_of(path.resolve()).exists()
            connection = connect(path.resolve())
            return cls(path, connection, lock, log_found=log_found)
        except BaseException as error:
            try:
                if connection is not None:
                    connection.close()
                if log_found and not log_lost:
                    _leave_empty_wal(path.resolve())
            finally:
                lock.release()
            if isinstance(error, (sqlite3.Error, OSError, *UNREADABLE)):
                raise BadFile(_unopened(path, error)) from None
            raise

    def mark_not_private(self) -> None:
        """Say for ever that some of its noise came from a test source."""
        try:
            self._connection.execute("UPDATE stream SET private = 0")
        except sqlite3.Error as error:
            raise BadFile(f"Could not write to {self._path}: {error}; make room, or repair the disk.") from None
        self.private = False

    def rewrite_description(self, description: dict[str, Any]) -> None:
        """Write the description again, with what has come to be known since."""
        try:
            self._connection.execute("UPDATE stream SET description = ?", (json.dumps(description, sort_keys=True),))
        except sqlite3.Error as error:
            raise BadFile(f"Could not write to {self._path}: {error}; make room, or repair the disk.") from None
        self.description = description

    # ---- what a stream asks of its store

    def commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        """Commit the ticks and the state after them; from then on the state before them cannot be read any more."""
        self._check_not_moved()
        try:
            if counter is not None and self._key_place is not None:
                self._commit_sealed(version_of(counter, self.ticks + ticks, self.ticks, gap, published))
            elif ticks == 1:
                self._connection.execute(INSERT["count"], (self.ticks, int(published["count"][0])))
            else:
                self._connection.execute("BEGIN IMMEDIATE")
                self._write(Version(self.ticks + ticks, _NOTHING, self.ticks, gap, published))
                self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise BadFile(
                f"Could not write to {self._path}: {error}; make room, or repair the disk, and observe that tick "
                f"again, with at={self.ticks}."
            ) from None
        self.ticks += ticks

    def _commit_sealed(self, version: Version) -> None:
        """First the encrypted version, on disk; then its key. Writing the key is the commit."""
        assert self._key_place is not None  # noqa: S101  # for the type checker: asked by `commit`
        generation = self._generation + 1
        key, sealed = seal(version)
        self._connection.execute("BEGIN IMMEDIATE")
        if self._pending is not None:
            self._write(self._pending, again=True)
        self._connection.execute("INSERT OR REPLACE INTO sealed VALUES (?, ?)", (generation % 2, sealed))
        self._connection.execute("COMMIT")
        self._key_place.overwrite(generation, key)
        self._generation, self._pending = generation, version.without_state()

    def _write(self, version: Version, *, again: bool = False) -> None:
        """What was published, where every tool can read it; `again` if it may be there already: then it is the same."""
        verb = "INSERT OR IGNORE" if again else "INSERT"
        if version.gap:
            row = (version.first, version.first + version.gap)
            self._connection.execute(f"{verb} INTO gaps VALUES (?, ?)", row)
        for name, entries in version.published.items():
            if len(entries):
                stop = self._length(name, version.ticks)
                rows = zip(range(stop - len(entries), stop), entries.tolist(), strict=True)
                self._connection.executemany(INSERT[name].replace("INSERT", verb), rows)

    def _length(self, name: str, ticks: int) -> int:
        """How many entries a log has after so many ticks."""
        return ticks if name == "count" else ticks // self._ticks_between_totals

    def _write_pending(self) -> None:
        if self._pending is not None:
            self._connection.execute("BEGIN IMMEDIATE")
            self._write(self._pending, again=True)
            self._connection.execute("COMMIT")
            self._pending = None

    def filled(self, first: int, stop: int) -> bool:
        """Whether any of the ticks first … stop − 1 was left out when its time came, and filled with zero."""
        last = self._pending
        if last is not None and last.gap and last.first < stop and last.first + last.gap > first:
            return True
        query = "SELECT 1 FROM gaps WHERE first < ? AND stop > ? LIMIT 1"
        return self._connection.execute(query, (stop, first)).fetchone() is not None

    def log(self, name: str, first: int, stop: int) -> Ints:
        """Entries first … stop − 1 of what was published."""
        last = _NOTHING if self._pending is None else self._pending.published.get(name, _NOTHING)
        written = self._length(name, self.ticks) - len(last)
        try:
            rows = self._connection.execute(SELECT[name], (first, min(stop, written))).fetchall()
        except sqlite3.Error as error:
            raise BadFile(f"Could not read {self._path}: {error}; if it was closed, open it again.") from None
        found = np.concatenate(
            (np.array(rows, np.int64).reshape(-1), last[max(first - written, 0) : max(stop - written, 0)])
        )
        if len(found) != stop - first:
            raise BadFile(f"{self._path} lacks ticks that it should hold; it was damaged from outside.")
        return found

    def restore(self, counter: CounterState | None) -> None:
        """After a commit that failed: roll back, scrub what it wrote, and read the state that was stored last."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            scrub(self._connection, self._real_path)
            newest = self._read_newest()
            if (counter is None) != (self._key_place is None):
                raise ValueError("counters without a state, or a state without counters")
            if counter is not None and newest is not None:
                newest.put_into(counter)
            elif counter is not None:
                counter.reset()
        except (sqlite3.Error, OSError) as error:
            raise BadFile(f"{self._path} cannot be used at present: {error}; open it again later.") from None
        except (ValueError, TypeError, KeyError):
            raise BadFile(_damaged(self._path)) from None

    def close(self) -> None:
        """Write the log back, remove it, and release the lock."""
        self.closed = True
        with suppress(sqlite3.Error):  # it is sealed with the state, and written when the file is opened again
            self._write_pending()
        self._release()

    # ---- inside

    def _check_not_moved(self) -> None:
        """What is written to a file that was deleted or moved away is not where anybody will look for it."""
        now = monotonic()
        if now - self._checked < CHECKED_EVERY:
            return
        self._checked = now
        with suppress(OSError):
            if (os.stat(self._file).st_ino, os.stat(self._log).st_ino) == self._inodes:
                return
        raise BadFile(
            f"{self._path} or its log was moved or deleted while the stream was open; put it back, or close the stream "
            "and open it again."
        )

    def _check_not_truncated(self) -> None:
        """SQLite reads zeros for what a page that was cut short lacks."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (size,) = self._connection.execute("PRAGMA page_size").fetchone()
        if self._real_path.stat().st_size < pages * size:
            raise ValueError("the last page is cut short")

    def _read_newest(self) -> Version | None:
        """The newest version of the state, if there are counters; and how many ticks there are, which must be whole."""
        if self._key_place is None:
            self.ticks = int(self._connection.execute(LENGTH["count"]).fetchone()[0])
            return None
        self._generation, key = self._key_place.read()
        if self._generation == 0:
            # Slot 0 is that of generation 2: with it there was a key.
            if self._connection.execute("SELECT 1 FROM sealed WHERE slot = 0").fetchone() is not None:
                raise ValueError("the key is missing")
            self.ticks = 0
            return None
        slot = (self._generation % 2,)
        (sealed,) = self._connection.execute("SELECT version FROM sealed WHERE slot = ?", slot).fetchone()
        newest = unseal(key, sealed)
        self._pending, self.ticks = newest.without_state(), newest.ticks
        return newest

    def _check_logs(self) -> None:
        """What was published must be all there, 0, 1, 2, … without a gap, and whole numbers."""
        for name, table in (("count", "counts"), ("total", "totals")):
            if self._has_table(table):
                found, last, other = self._connection.execute(LENGTH[name]).fetchone()
                if other or (0 if last is None else last + 1) != found or found != self._length(name, self.ticks):
                    raise ValueError("ticks are missing, or are no numbers")

    @property
    def _ticks_between_totals(self) -> int:
        return int(self.description["settings"].get("totals_every", 1))

    def _has_table(self, name: str) -> bool:
        found = self._connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
        return found.fetchone() is not None


def _release(connection: sqlite3.Connection, lock: ExclusiveLock, path: Path, process: int) -> None:
    """Close the file properly, in the process that opened it; a forked child leaves it alone."""
    if os.getpid() != process:
        return
    closed = False
    try:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("UPDATE stream SET in_use = 0")
            closed = True
            scrub(connection, path)
    finally:
        try:
            connection.close()
            if not closed:
                _leave_empty_wal(path)
        finally:
            lock.release()


def _leave_empty_wal(path: Path) -> None:
    """SQLite has written the log back and removed it, but the file still says that it is open: its log is not lost."""
    with suppress(OSError):
        os.close(os.open(wal_of(path), os.O_CREAT | os.O_RDWR, 0o600))


def _damaged(path: Path) -> str:
    return (
        f"{path} is a stream file that is damaged or cut short; begin anew (an older copy must not be given again any "
        "tick that was published since it was made)."
    )


def _unopened(path: Path, error: BaseException) -> str:
    if not isinstance(error, sqlite3.Error | OSError):
        return _damaged(path)
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path} is in use by another program; close it there first."
    return f"Could not open {path}: {error}; it may be damaged, cut short, or not writeable."
