"""The counters' state on disk: sealed, every version under a key of its own, of which the file holds only the newest.

Two versions of a noisy count differ by exactly what was counted between them, and a file that is changed safely holds
the old and the new for a while: in its log, in freed pages, after a crash. So each version is encrypted under a fresh
key. The key has one place in the file, outside SQLite's bookkeeping, and is overwritten there when a version is
complete on disk: that one small write is the commit. Before it, the new version cannot be read; after it, no older one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sparsedp.arrays import Integers
from sparsedp.streams.counter_state import CounterState
from sparsedp.streams.durable.ownership import OwnerLock
from sparsedp.streams.keeping import Published

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
    counter: Integers
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

    def __init__(self, lock: OwnerLock) -> None:
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
