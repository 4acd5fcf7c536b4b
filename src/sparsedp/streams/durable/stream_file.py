"""A stream's SQLite file: its description, the published ticks, and one version of the counters' state."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import BadFile
from sparsedp.streams.counter_state import CounterState
from sparsedp.streams.durable.connection import APPLICATION_ID, check_kind, connect, scrub
from sparsedp.streams.keeping import Published

CREATE = {
    "count": "CREATE TABLE counts (tick INTEGER PRIMARY KEY, count INTEGER NOT NULL)",
    "total": "CREATE TABLE totals (number INTEGER PRIMARY KEY, total INTEGER NOT NULL)",
}
INSERT = {"count": "INSERT INTO counts VALUES (?, ?)", "total": "INSERT INTO totals VALUES (?, ?)"}
SELECT = {
    "count": "SELECT count FROM counts WHERE tick >= ? AND tick < ? ORDER BY tick",
    "total": "SELECT total FROM totals WHERE number >= ? AND number < ? ORDER BY number",
}
"""What is published, by the name of its log."""

FIRST_LEVEL = 2
"""Part 0 of the table `counter` is the noisy counts, part 1 what was published last, part 2 + l is level l."""


class StreamFile:
    """Keeps a stream in one file. Whatever is in it was published, or is the counters' state, in one version.

    Tables: `stream` (one row: the public description, the number of ticks if there are counters, whether the noise
    was real), `counts` and `totals` (append-only: what was published), `counter` (the state, overwritten in place).
    """

    redelivers = True

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._real_path = path.resolve()  # wherever the process goes, and if the path is a link
        self._connection = connection
        self._blob: sqlite3.Blob | None = None
        self.closed = False
        self._check_whole()
        text, private = connection.execute("SELECT description, private FROM stream").fetchone()
        self.description: dict[str, Any] = json.loads(text)
        self.private = private == 1
        self.ticks = self._read_ticks()

    # ---- making and opening

    @classmethod
    def create(
        cls, path: Path, description: dict[str, Any], logs: tuple[str, ...], counter: CounterState | None
    ) -> None:
        """Make the file with no tick in it; it appears under its name once it is complete."""
        scratch = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            connection = connect(scratch)
            try:
                _lay_out(connection, description, logs, counter)
                scrub(connection, scratch)
            finally:
                connection.close()
            _put_in_place(scratch, path)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadFile(f"Could not create {path}: {reason}; nothing was left half-written.") from None
        finally:
            for ending in ("", "-wal", "-journal"):
                with suppress(OSError):
                    scratch.with_name(scratch.name + ending).unlink(missing_ok=True)

    @classmethod
    def open(cls, path: Path) -> StreamFile:
        """Open it for this process alone; what a crash left is settled and scrubbed first."""
        check_kind(path)
        try:
            connection = connect(path.resolve())
            _drop_second_name(path.resolve())
        except (sqlite3.Error, OSError) as error:
            raise BadFile(_unopened(path, error)) from None
        try:
            return cls(path, connection)
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            connection.close()
            raise BadFile(_damaged(path)) from None

    def mark_not_private(self) -> None:
        """Say for ever that some of its noise came from a test source."""
        try:
            self._connection.execute("UPDATE stream SET private = 0")
        except sqlite3.Error as error:
            raise BadFile(f"Could not write to {self._path}: {error}; make room, or repair the disk.") from None
        self.private = False

    # ---- what a stream asks of its keeper

    def commit(self, ticks: int, published: Published, counter: CounterState | None) -> None:
        """Commit the ticks and the state after them; then leave no trace of the state before them."""
        try:
            if counter is None and ticks == 1:
                self._connection.execute(INSERT["count"], (self.ticks, int(published["count"][0])))
            else:
                self._commit(ticks, published, counter)
            self.ticks += ticks
            if counter is not None:
                scrub(self._connection, self._real_path)
        except sqlite3.Error as error:
            raise BadFile(
                f"Could not write to {self._path}: {error}; it holds {self.ticks} ticks: make room, or repair the "
                "disk, and observe the next one again."
            ) from None

    def _commit(self, ticks: int, published: Published, counter: CounterState | None) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for name, entries in published.items():
            first = self.ticks // (1 if counter is None or name == "count" else counter.every)
            numbers = range(first, first + len(entries))
            self._connection.executemany(INSERT[name], zip(numbers, entries.tolist(), strict=True))
        if counter is not None:
            self._write_counter(counter)
            self._connection.execute("UPDATE stream SET ticks = ?", (self.ticks + ticks,))
        self._connection.execute("COMMIT")

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
                self.read_counter(counter)
        except sqlite3.Error as error:
            raise BadFile(f"{self._path} cannot be used at present: {error}; open it again later.") from None
        except (ValueError, TypeError, KeyError):
            raise BadFile(_damaged(self._path)) from None

    def read_counter(self, counter: CounterState) -> None:
        """Overwrite `counter` by the state in the file."""
        blobs = dict(self._connection.execute("SELECT part, noisy FROM counter").fetchall())
        for part, target in _parts(counter, counter.levels):
            target[:] = np.frombuffer(blobs[part], "<i8").reshape(target.shape)
        counter.ticks = self.ticks

    def close(self) -> None:
        """Write the log back, remove it, and let other processes in."""
        self.closed = True
        self._connection.close()

    # ---- inside

    def _write_counter(self, counter: CounterState) -> None:
        """In place, the parts that changed alone: no page is freed, so none keeps an old version."""
        for part, values in _parts(counter, counter.changed_levels(self.ticks)):
            # Known to `restore`: left open by an interruption, it would keep the file from being scrubbed.
            self._blob = self._connection.blobopen("counter", "noisy", part)
            self._blob.write(values.astype("<i8", copy=False).tobytes())
            self._blob.close()

    def _check_whole(self) -> None:
        """SQLite reads zeros for what a page that was cut short lacks."""
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        (size,) = self._connection.execute("PRAGMA page_size").fetchone()
        if self._real_path.stat().st_size < pages * size:
            raise ValueError("the last page is cut short")

    def _read_ticks(self) -> int:
        """The number of ticks; where each has an entry, all must be there: 0, 1, 2, … without a gap."""
        (ticks,) = self._connection.execute("SELECT ticks FROM stream").fetchone()
        if not self._has_table("counts"):
            return int(ticks)
        found, last = self._connection.execute("SELECT count(*), max(tick) FROM counts").fetchone()
        if (0 if last is None else last + 1) != found or (self._has_table("counter") and found != ticks):
            raise ValueError("ticks are missing")
        return int(found)

    def _has_table(self, name: str) -> bool:
        found = self._connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
        return found.fetchone() is not None


def _lay_out(
    connection: sqlite3.Connection, description: dict[str, Any], logs: tuple[str, ...], counter: CounterState | None
) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE stream (description TEXT, ticks INTEGER, private INTEGER)")
    connection.execute("INSERT INTO stream VALUES (?, 0, 1)", (json.dumps(description, sort_keys=True),))
    for name in logs:
        connection.execute(CREATE[name])
    if counter is not None:
        connection.execute("CREATE TABLE counter (part INTEGER PRIMARY KEY, noisy BLOB NOT NULL)")
        blobs = [(part, bytes(8 * len(values))) for part, values in _parts(counter, counter.levels)]
        connection.executemany("INSERT INTO counter VALUES (?, ?)", blobs)
    connection.execute("COMMIT")


def _parts(counter: CounterState, levels: int) -> list[tuple[int, Integers]]:
    """The rows of the table `counter`: the counts, what was published last, and the lowest `levels` levels."""
    lowest = [(FIRST_LEVEL + level, counter.above[level]) for level in range(levels)]
    return [(0, counter.count), (1, counter.latest), *lowest]


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


def _drop_second_name(path: Path) -> None:
    """A process killed while it made the file may have left it a second, hidden name: what is deleted must be gone."""
    if path.stat().st_nlink > 1:
        for other in path.parent.iterdir():
            if other.name.startswith(f".{path.name}.") and other.samefile(path):
                other.unlink()


def _damaged(path: Path) -> str:
    return f"{path} is a stream file that is damaged or cut short; restore it or begin anew."


def _unopened(path: Path, error: Exception) -> str:
    if "locked" in str(error) or "busy" in str(error):
        return f"{path} is in use, by another process or by this one; close it there first."
    return f"Could not open {path}: {error}; it may be damaged, cut short, or not writeable."
