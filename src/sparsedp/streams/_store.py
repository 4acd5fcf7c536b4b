"""Where a stream stores what it may store, in memory or (see `durable/`) in a file; and which ticks are new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.streams._counters import CounterState

Published = Mapping[str, Ints]
"""What is published and stored for good, by the name of its log: "count" for ticks, "total" for running totals."""


class Store(Protocol):
    """Append-only logs of what was published, and the counters' state if there are counters.

    `commit` is atomic: once it returns, the ticks are stored. If it raises, the stream calls `restore`, and `ticks`
    then says how many are stored.
    """

    @property
    def ticks(self) -> int:
        """How many ticks are stored."""

    @property
    def closed(self) -> bool:
        """Whether it takes no more ticks."""

    @property
    def redelivers(self) -> bool:
        """Whether a stored tick may be delivered again, as it is when its sender got no acknowledgement."""

    def commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        """Store the next `ticks` ticks: what was published in them, and the counters' state after them.

        The caller left out the first `gap` of them, which were filled with zeros.
        """

    def filled(self, first: int, stop: int) -> bool:
        """Whether any of the ticks first … stop − 1 was filled with zero."""

    def log(self, name: str, first: int, stop: int) -> Ints:
        """Entries first … stop − 1 of a log."""

    def restore(self, counter: CounterState | None) -> None:
        """Roll back a commit that failed, and overwrite `counter` by the state that was stored last."""

    def close(self) -> None:
        """Take no more ticks; release files."""


class MemoryStore:
    """Stores everything in this process; it is gone when the process ends."""

    redelivers = False

    def __init__(self) -> None:
        self.closed = False
        self._logs: dict[str, _Log] = {}
        # One value, so that an interruption comes before or after a commit, never within it.
        self._stored: tuple[int, dict[str, int]] = (0, {})

    @property
    def ticks(self) -> int:
        """How many ticks are stored."""
        return self._stored[0]

    def commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        """Write behind the end of the logs; setting the new lengths is the commit."""
        before, lengths = self._stored
        after = dict(lengths)
        for name, entries in published.items():
            start = lengths.get(name, 0)
            self._logs.setdefault(name, _Log()).write(start, entries)
            after[name] = start + len(entries)
        self._stored = (before + ticks, after)

    def filled(self, first: int, stop: int) -> bool:
        """Never: nothing is delivered again here."""
        return False

    def log(self, name: str, first: int, stop: int) -> Ints:
        """A copy of the entries."""
        return self._logs[name].read(first, stop) if name in self._logs else np.empty(0, np.int64)

    def restore(self, counter: CounterState | None) -> None:
        """Overwrite what an interrupted commit wrote. There is no older version of the counters' state here."""
        for name, log in self._logs.items():
            log.forget_from(self._stored[1].get(name, 0))

    def close(self) -> None:
        """Take no more ticks."""
        self.closed = True


class _Log:
    """Integers with room for more, which grows by half: a million single writes cost no more than one of a million.

    The room is zeros, never memory as it was found: that could hold anything.
    """

    def __init__(self) -> None:
        self._room = np.zeros(64, np.int64)

    def write(self, start: int, entries: Ints) -> None:
        stop = start + len(entries)
        if stop > len(self._room):
            room = np.zeros(max(stop, len(self._room) * 3 // 2), np.int64)
            room[:start] = self._room[:start]
            self._room = room
        self._room[start:stop] = entries

    def read(self, first: int, stop: int) -> Ints:
        return self._room[first:stop].copy()

    def forget_from(self, start: int) -> None:
        self._room[start:] = 0


# Which of the ticks that arrive are new, which are delivered again, and how many were left out between.


@dataclass(frozen=True)
class Arrivals:
    """`known` ticks from `first` on are delivered again; then come the `new` values, which begin with `gap` zeros."""

    first: int
    known: int
    gap: int
    new: Ints


def arrivals(values: Ints, first: int | None, store: Store, time: Schedule, *, fill: int) -> Arrivals:
    """Sort out values for ticks first, first + 1, …; without `first`, for the next.

    At most `fill` are left out: a longer gap is taken for a mistake in the time, for it is filled for good.
    """
    ticks = store.ticks
    if first is None or first == ticks:
        return Arrivals(ticks, 0, 0, values)
    if first < ticks:
        known = min(len(values), ticks - first)
        if not store.redelivers:
            given = f"tick {time.shown(first)}, which is in the past"
            raise InvalidInput("at", given, f"the next is {time.shown(ticks)}; what was published cannot be changed")
        if store.filled(first, first + known):
            given = f"tick {time.shown(first)}, which was missing when a later tick came and was published as zero"
            raise InvalidInput("at", given, "it is too late for its count; observe every tick in its turn")
        return Arrivals(first, known, 0, values[known:])
    gap = first - ticks
    if gap > fill:
        given = f"tick {time.shown(first)}, before which {f'{gap:,} ticks are' if gap > 1 else '1 tick is'} missing"
        remedy = f"check it, or say fill={gap} if nothing happened then: it is published as 0, for good"
        raise InvalidInput("at", given, remedy)
    return Arrivals(first, 0, gap, np.concatenate((np.zeros((gap, *values.shape[1:]), np.int64), values)))


def first_of(values: Any, at: Any, time: Schedule) -> Any:
    """Where a batch begins: at `at`, or where the times in the index of a pandas Series say."""
    index = getattr(values, "index", None)
    if time.start is None or getattr(getattr(index, "dtype", None), "kind", "") != "M":
        return at
    ticks = time.ticks_of("values", np.asarray(index))
    if (np.diff(ticks) != 1).any():
        given = "a series whose times are not one tick after another"
        raise InvalidInput("values", given, "reindex it to every tick first, with 0 for those without events")
    if len(ticks) and at is not None and time.tick_of("at", at) != ticks[0]:
        given = f"not where the series begins, {time.shown(int(ticks[0]))}"
        raise InvalidInput("at", given, "leave it out: the series says when its counts are")
    return int(ticks[0]) if len(ticks) else at
