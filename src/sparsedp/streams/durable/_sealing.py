"""One version of the counters' state: one process owns the file, one key opens the state, every page exists once.

Two versions of a noisy count differ by exactly what was counted between them, and a database holds the old and the new
for a while: in its write-ahead log, in freed pages, after a crash. So each version is encrypted under a fresh key. The
key has one place in the file, which SQLite never moves. It is overwritten there once a version is complete on disk:
that atomic write of one sector is the commit. Before it, the new version cannot be read; after it, no older one.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sparsedp.arrays import Ints
from sparsedp.errors import BadFile
from sparsedp.streams._counters import CounterState, forget_in_forks
from sparsedp.streams._store import Published

try:
    import fcntl
except ImportError:  # Windows, where SQLite's own locks last
    fcntl = None  # type: ignore[assignment]

# One process owns the file: an exclusive lock, which forked children do not inherit.


class ExclusiveLock:
    """Held on the file itself from before SQLite opens it until after it is closed.

    SQLite's own lock is not enough. On POSIX systems it is lost as soon as *any* handle on the file is closed in this
    process, for instance by a copy or a checksum. This lock belongs to its handle.
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


# Encrypted versions of the state, and the key of the newest.

LABEL = b"sparsedp: the key of this stream"
"""In front of the place of the key, so that it is found."""

PLACE_BYTES = 1088
"""The label and what lies behind it: enough for a record that begins with a sector of the disk, and stays within."""

_SECTOR = 512
_KEY_BYTES = 32
_SEARCHED = 1 << 20
_NONCE = bytes(12)  # no key is ever used twice


@dataclass(frozen=True)
class Version:
    """What is sealed: the state after `ticks` ticks, and what the last of them published, with the gap before them."""

    ticks: int
    counter: Ints
    first: int
    gap: int
    published: Published

    def without_state(self) -> Version:
        """What was published alone."""
        return replace(self, counter=np.empty(0, np.int64))

    def put_into(self, counter: CounterState) -> None:
        """Overwrite a state by this one."""
        parts = (counter.count, counter.latest, counter.above.reshape(-1))
        if sum(map(len, parts)) != len(self.counter):
            raise ValueError("the state has another size")
        start = 0
        for part in parts:
            part[:] = self.counter[start : start + len(part)]
            start += len(part)
        counter.ticks = self.ticks


def version_of(counter: CounterState, ticks: int, first: int, gap: int, published: Published) -> Version:
    """The version to seal."""
    state = np.concatenate((counter.count, counter.latest, counter.above.reshape(-1)))
    return Version(ticks, state, first, gap, published)


def seal(version: Version) -> tuple[bytes, bytes]:
    """A fresh key, and the version under it; the version's own copy of the state is erased."""
    counts, totals = (version.published.get(name, np.empty(0, np.int64)) for name in ("count", "total"))
    head = np.array([version.ticks, version.first, version.gap, len(version.counter), len(counts)], np.int64)
    plain = np.concatenate((head, version.counter, counts, totals)).astype("<i8").tobytes()
    version.counter.fill(0)  # the state itself is the only copy in memory
    key = os.urandom(_KEY_BYTES)
    return key, AESGCM(key).encrypt(_NONCE, plain, None)


def unseal(key: bytes, sealed: bytes) -> Version:
    """The version that was sealed under this key; `ValueError` if it was another, or was damaged."""
    try:
        numbers = np.frombuffer(AESGCM(key).decrypt(_NONCE, sealed, None), "<i8").astype(np.int64)
    except (InvalidTag, TypeError):
        raise ValueError("the state does not fit its key") from None
    ticks, first, gap, state, counts = numbers[:5].tolist()
    rest = numbers[5 + state :]
    return Version(ticks, numbers[5 : 5 + state], first, gap, {"count": rest[:counts], "total": rest[counts:]})


class KeyPlace:
    """Where the file keeps the key of the newest version, and its generation: 1, 2, 3, …; 0 before the first."""

    def __init__(self, lock: ExclusiveLock) -> None:
        self._lock = lock
        label = lock.read(0, _SEARCHED).find(LABEL)
        if label < 0:
            raise ValueError("the place of the key is missing")
        # A sector is written whole or not at all.
        self._start = -(-(label + len(LABEL)) // _SECTOR) * _SECTOR

    def read(self) -> tuple[int, bytes]:
        """The newest generation and its key."""
        record = self._lock.read(self._start, 8 + _KEY_BYTES + 8)
        if not any(record):
            return 0, b""
        if record[-8:] != sha256(record[:-8]).digest()[:8]:
            raise ValueError("the key is damaged")
        # Perhaps its writer died before it was on disk; what follows from it must not get there first.
        self._lock.write(self._start, record)
        return int.from_bytes(record[:8], "little"), record[8:-8]

    def overwrite(self, generation: int, key: bytes) -> None:
        """From here on this generation is the newest, and no other can be read. On disk when it returns."""
        record = generation.to_bytes(8, "little") + key
        self._lock.write(self._start, record + sha256(record).digest()[:8])


# Scrubbing: a checkpoint, after which the write-ahead log is overwritten by zeros.


def wal_of(path: Path) -> Path:
    """The write-ahead log beside a stream's file."""
    return path.with_name(path.name + "-wal")


def scrub(connection: sqlite3.Connection, path: Path) -> None:
    """Leave one version of every page: the newest, in the main file; no page image anywhere else.

    `path` is the file's own, no link to it: the write-ahead log lies beside the file. A checkpoint writes the log back
    into the main file; then the log is overwritten by zeros and truncated. After a crash this also removes what was
    written but not committed. It can be stopped anywhere and done again.
    """
    frames = _checkpoint(connection, "FULL")
    log = wal_of(path)
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
    """Write the log back into the main file; how many page images it holds."""
    busy, frames, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    if busy:
        raise sqlite3.OperationalError("the log could not be written back")
    return int(frames)
