"""Where a stream stores what it may store: in memory, or (see `durable/`) in a file; and which ticks are new to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.streams._counters import CounterState

Published = Mapping[str, Integers]
"""What is published and kept for ever, by the name of its log: "count" for ticks, "total" for running totals."""


class Keeper(Protocol):
    """Keeps logs of what was published, append-only, and the counters' state if there are counters.

    `commit` is all or nothing: once it returns, the ticks are kept; if it raises, the stream calls `restore`, and
    what `ticks` says then is what was kept.
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

    def commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        """Keep the next `ticks` ticks with what was published in them, and the counters' state after them.

        The first `gap` of them were left out by the caller and filled with zeros.
        """

    def filled(self, first: int, stop: int) -> bool:
        """Whether any of the ticks first … stop − 1 was filled with zero."""

    def log(self, name: str, first: int, stop: int) -> Integers:
        """Entries first … stop − 1 of a log."""

    def restore(self, counter: CounterState | None) -> None:
        """Forget a commit that failed, and overwrite `counter` by the state that was kept last."""

    def close(self) -> None:
        """Keep no more; let go of files."""


class InMemory:
    """Keeps everything in this process; it is gone when the process ends."""

    redelivers = False

    def __init__(self) -> None:
        self.closed = False
        self._logs: dict[str, _Log] = {}
        # One value, so that an interruption falls before or after a commit, never into it.
        self._kept: tuple[int, dict[str, int]] = (0, {})

    @property
    def ticks(self) -> int:
        """How many ticks have been kept."""
        return self._kept[0]

    def commit(self, ticks: int, published: Published, counter: CounterState | None, gap: int) -> None:
        """Write behind what is kept; it counts from the moment that the new lengths are set."""
        before, lengths = self._kept
        after = dict(lengths)
        for name, entries in published.items():
            start = lengths.get(name, 0)
            self._logs.setdefault(name, _Log()).write(start, entries)
            after[name] = start + len(entries)
        self._kept = (before + ticks, after)

    def filled(self, first: int, stop: int) -> bool:
        """Not asked for: what is in the past does not come again here."""
        return False

    def log(self, name: str, first: int, stop: int) -> Integers:
        """A copy of the entries."""
        return self._logs[name].read(first, stop) if name in self._logs else np.empty(0, np.int64)

    def restore(self, counter: CounterState | None) -> None:
        """Overwrite what a commit that was interrupted wrote. The counters' state has no older version here."""
        for name, log in self._logs.items():
            log.forget_from(self._kept[1].get(name, 0))

    def close(self) -> None:
        """Keep no more."""
        self.closed = True


class _Log:
    """Integers with room for more, which grows by half: a million single writes cost no more than one of a million.

    The room is zeros, never memory as it was found: that could hold anything.
    """

    def __init__(self) -> None:
        self._room = np.zeros(64, np.int64)

    def write(self, start: int, entries: Integers) -> None:
        stop = start + len(entries)
        if stop > len(self._room):
            room = np.zeros(max(stop, len(self._room) * 3 // 2), np.int64)
            room[:start] = self._room[:start]
            self._room = room
        self._room[start:stop] = entries

    def read(self, first: int, stop: int) -> Integers:
        return self._room[first:stop].copy()

    def forget_from(self, start: int) -> None:
        self._room[start:] = 0


# Which of the ticks that arrive are new, which were there before, and how many were left out between.

USUAL_GAP = 100
"""A longer gap is taken for a mistake in the time unless the caller says that it is none: it is filled for good."""


@dataclass(frozen=True)
class Arrivals:
    """`known` ticks from `first` on were there before; then come the `new` values, of which `gap` zeros fill a gap."""

    first: int
    known: int
    gap: int
    new: Integers


def arrivals(values: Integers, first: int | None, kept: Keeper, time: Schedule, *, fill: int) -> Arrivals:
    """Sort out values for ticks first, first + 1, …; without `first`, for the next. At most `fill` are left out."""
    ticks = kept.ticks
    if first is None or first == ticks:
        return Arrivals(ticks, 0, 0, values)
    if first < ticks:
        known = min(len(values), ticks - first)
        if not kept.redelivers:
            given = f"tick {time.shown(first)}, which is in the past"
            raise InvalidInput("at", given, f"the next is {time.shown(ticks)}; what was published cannot be changed")
        if kept.filled(first, first + known):
            given = f"tick {time.shown(first)}, which was missing when a later tick came and was published as zero"
            raise InvalidInput("at", given, "it is too late for its count; observe every tick in its turn")
        return Arrivals(first, known, 0, values[known:])
    gap = first - ticks
    if gap > fill:
        given = f"tick {time.shown(first)}, {gap} ticks after the next one"
        remedy = f"check it, or say fill={gap} if nothing happened in between: that is published as zeros, for good"
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
