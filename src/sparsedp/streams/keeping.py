"""Where a stream keeps what it may keep: in memory, or (see `durable/`) in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.streams.counter_state import CounterState

Published = Mapping[str, Integers]
"""What is published and kept for ever, by the name of its log: "count" for ticks, "total" for running totals."""


class Keeper(Protocol):
    """Keeps logs of what was published, append-only, and the counters' state if there are counters.

    `commit` is all or nothing: once it returns, the ticks are kept; if it raises, none of them is, and the stream
    takes the counters' state back with `restore`.
    """

    @property
    def ticks(self) -> int:
        """How many ticks have been kept."""

    @property
    def closed(self) -> bool:
        """Whether it can keep no more."""

    @property
    def redelivers(self) -> bool:
        """Whether a tick that was kept before may come again, as it does when its sender did not hear back."""

    def commit(self, ticks: int, published: Published, counter: CounterState | None) -> None:
        """Keep the next `ticks` ticks with what was published in them, and the counters' state after them."""

    def log(self, name: str, first: int, stop: int) -> Integers:
        """Entries first … stop − 1 of a log."""

    def restore(self, counter: CounterState | None) -> None:
        """Forget a commit that failed, and overwrite `counter` by the state that was kept last."""

    def close(self) -> None:
        """Let go of files."""


class InMemory:
    """Keeps everything in this process; it is gone when the process ends."""

    closed = False
    redelivers = False

    def __init__(self) -> None:
        self._logs: dict[str, _GrowingLog] = {}
        self.ticks = 0

    def commit(self, ticks: int, published: Published, counter: CounterState | None) -> None:
        """Append to the logs."""
        for name, entries in published.items():
            self._logs.setdefault(name, _GrowingLog()).append(entries)
        self.ticks += ticks

    def log(self, name: str, first: int, stop: int) -> Integers:
        """A copy of the entries."""
        return self._logs[name].entries[first:stop].copy() if name in self._logs else np.empty(0, np.int64)

    def restore(self, counter: CounterState | None) -> None:
        """Nothing to do: `commit` does not fail."""

    def close(self) -> None:
        """Nothing to let go of."""


class _GrowingLog:
    """Integers with room for more, which grows by half: a million single appends cost no more than one of a million."""

    def __init__(self) -> None:
        self._room = np.empty(64, np.int64)
        self._used = 0

    @property
    def entries(self) -> Integers:
        return self._room[: self._used]

    def append(self, entries: Integers) -> None:
        needed = self._used + len(entries)
        if needed > len(self._room):
            room = np.empty(max(needed, len(self._room) * 3 // 2), np.int64)
            room[: self._used] = self.entries
            self._room = room
        self._room[self._used : needed] = entries
        self._used = needed
