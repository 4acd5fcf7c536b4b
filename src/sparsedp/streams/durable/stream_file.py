"""A stream's SQLite file: its description, the published ticks, and one version of the counters' state."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import BadFile
from sparsedp.streams.counter_state import CounterState
from sparsedp.streams.durable.connection import check_kind, connect
from sparsedp.streams.durable.creation import counter_parts, drop_second_name
from sparsedp.streams.durable.ownership import OwnerLock
from sparsedp.streams.durable.scrubbing import log_of, scrub
from sparsedp.streams.keeping import Published

INSERT = {"count": "INSERT INTO counts VALUES (?, ?)", "total": "INSERT INTO totals VALUES (?, ?)"}
SELECT = {
    "count": "SELECT count FROM counts WHERE tick >= ? AND tick < ? ORDER BY tick",
    "total": "SELECT total FROM totals WHERE number >= ? AND number < ? ORDER BY number",
}
"""By the name of a log."""


class StreamFile:
    """Keeps a stream in one file. Whatever is in it was published, or is the counters' state, in one version.

    Tables: `stream` (one row: the public description, whether the noise was real, whether a process has it open, the
    number of ticks if there are counters), `counts` and `totals` (append-only: what was published), `gaps` (ticks
    that were left out and filled), `counter` (the state, overwritten in place).
    """

    redelivers = True

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: OwnerLock, *, log_found: bool) -> None:
        self._path = path
        self._real_path = path.resolve()  # wherever the process goes, and if the path is a link
        self._inode = self._real_path.stat().st_ino
        self._connection = connection
        self._blob: sqlite3.Blob | None = None
        self.closed = False
        self._check_whole()
        text, private, in_use = connection.execute("SELECT description, private, in_use FROM stream").fetchone()
        if in_use and not log_found:
            raise BadFile(
                f"{path} was not closed, and its log {log_of(path).name} is missing, so the last ticks may be too; put "
                "it back beside the file, or open it with log_lost=True if you know that no tick is missing."
            )
        self.description: dict[str, Any] = json.loads(text)
        self.private = private == 1
        self.ticks = self._read_ticks()
        try:
            connection.execute("UPDATE stream SET in_use = 1")
            scrub(connection, self._real_path)
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("UPDATE stream SET in_use = 0")
            raise
        # Also when nobody calls `close`: at the end of the process, or when the last reference is gone.
        self._let_go = finalize(self, _let_go, connection, lock, self._real_path, os.getpid())

    @classmethod
    def open(cls, path: Path, *, log_lost: bool = False) -> StreamFile:
        """Open it for this process alone; what a crash left is settled and scrubbed first."""
        check_kind(path)
        try:
            lock = OwnerLock(path.resolve())
        except OSError as error:
            raise BadFile(f"Could not open {path}: {error.strerror}; it must be yours to write.") from None
        connection = None
        try:
            drop_second_name(path.resolve())
            log_found = log_lost or log_of(path.resolve()).exists()
            connection = connect(path.resolve())
            return cls(path, connection, lock, log_found=log_found)
        except BaseException as error:
            if connection is not None:
                connection.close()
            lock.release()
            if isinstance(error, sqlite3.Error | OSError | ValueError | TypeError | KeyError):
                raise BadFile(_unopened(path, error)) from None
            raise

    def mark_not_private(self) -> None:
        """Say for ever that some of its noise came from a test source."""
        try:
            self._connection.execute("UPDATE stream SET private = 0")
        except sqlite3.Error as error:
            raise BadFile(f"Could not write to {self._path}: {error}; make room, or repair the disk.") from None
        self.private = False

    # ---- what a stream asks of its keeper

    def commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        """Commit the ticks and the state after them; then leave no trace of the state before them."""
        self._check_in_place()
        try:
            if counter is None and ticks == 1:
                self._connection.execute(INSERT["count"], (self.ticks, int(published["count"][0])))
            else:
                self._commit(ticks, published, counter, gap)
        except sqlite3.Error as error:
            raise BadFile(
                f"Could not write to {self._path}: {error}; it holds {self.ticks} ticks as before: make room, or "
                "repair the disk, and observe the next one again."
            ) from None
        self.ticks += ticks
        if counter is not None:
            try:
                scrub(self._connection, self._real_path)
            except sqlite3.Error as error:
                raise BadFile(
                    f"{self._path} HAS kept the tick and holds {self.ticks}, but older versions of its state could not "
                    f"be erased: {error}; make room, or repair the disk, and do not observe that tick again."
                ) from None

    def _commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        if gap:
            self._connection.execute("INSERT INTO gaps VALUES (?, ?)", (self.ticks, self.ticks + gap))
        for name, entries in published.items():
            first = self.ticks // (1 if counter is None or name == "count" else counter.every)
            numbers = range(first, first + len(entries))
            self._connection.executemany(INSERT[name], zip(numbers, entries.tolist(), strict=True))
        if counter is not None:
            self._write_counter(counter)
            self._connection.execute("UPDATE stream SET ticks_counted = ?", (self.ticks + ticks,))
        self._connection.execute("COMMIT")

    def filled(self, first: int, stop: int) -> bool:
        """Whether any of the ticks first … stop − 1 was left out when its time came, and filled with zero."""
        query = "SELECT 1 FROM gaps WHERE first < ? AND stop > ? LIMIT 1"
        return self._connection.execute(query, (stop, first)).fetchone() is not None

    def log(self, name: str, first: int, stop: int) -> Integers:
        """Entries first … stop − 1 of what was published."""
        try:
            rows = self._connection.execute(SELECT[name], (first, stop)).fetchall()
        except sqlite3.Error as error:
            raise BadFile(f"Could not read {self._path}: {error}; if it was closed, open it again.") from None
        if len(rows) != stop - first:
            raise BadFile(f"{self._path} lacks ticks that it should hold; it was damaged from outside.")
        return np.array(rows, np.int64).reshape(-1)

    def restore(self, counter: CounterState | None) -> None:
        """After a commit that failed: take it back, scrub what it wrote, and read the state that was kept."""
        try:
            if self._blob is not None:
                self._blob.close()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            scrub(self._connection, self._real_path)
            self.ticks = self._read_ticks()
            if counter is not None:
                self._read_counter(counter)
        except sqlite3.Error as error:
            raise BadFile(f"{self._path} cannot be used at present: {error}; open it again later.") from None
        except (ValueError, TypeError, KeyError):
            raise BadFile(_damaged(self._path)) from None

    def close(self) -> None:
        """Write the log back, remove it, and let other processes in."""
        self.closed = True
        self._let_go()

    # ---- inside

    def _write_counter(self, counter: CounterState) -> None:
        """In place, the parts that changed alone: no page is freed, so none keeps an old version."""
        for part, values in counter_parts(counter, counter.changed_levels(self.ticks)):
            # Known to `restore`: left open by an interruption, it would keep the file from being scrubbed.
            self._blob = self._connection.blobopen("counter", "noisy", part)
            self._blob.write(values.astype("<i8", copy=False).tobytes())
            self._blob.close()

    def _read_counter(self, counter: CounterState) -> None:
        blobs = dict(self._connection.execute("SELECT part, noisy FROM counter").fetchall())
        for part, target in counter_parts(counter, counter.levels):
            target[:] = np.frombuffer(blobs[part], "<i8").reshape(target.shape)
        counter.ticks = self.ticks

    def _check_in_place(self) -> None:
        """What is written to a file that was deleted or moved away is not where the user looks for it."""
        with suppress(OSError):
            if os.stat(self._real_path).st_ino == self._inode:
                return
        raise BadFile(f"{self._path} was moved or deleted while the stream was open; put it back, or begin anew.")

    def _check_whole(self) -> None:
        """SQLite reads zeros for what a page that was cut short lacks."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (size,) = self._connection.execute("PRAGMA page_size").fetchone()
        if self._real_path.stat().st_size < pages * size:
            raise ValueError("the last page is cut short")

    def _read_ticks(self) -> int:
        """The number of ticks; where each has an entry, all must be there: 0, 1, 2, … without a gap."""
        (counted,) = self._connection.execute("SELECT ticks_counted FROM stream").fetchone()
        has_counts = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'counts'"
        if self._connection.execute(has_counts).fetchone() is None:
            return int(counted)
        found, last = self._connection.execute("SELECT count(*), max(tick) FROM counts").fetchone()
        if (0 if last is None else last + 1) != found or counted not in (None, found):
            raise ValueError("ticks are missing")
        return int(found)


def _let_go(connection: sqlite3.Connection, lock: OwnerLock, path: Path, process: int) -> None:
    """Close the file properly, in the process that opened it; a forked child leaves it alone."""
    if os.getpid() != process:
        return
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("UPDATE stream SET in_use = 0")
        scrub(connection, path)
    connection.close()
    lock.release()


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
