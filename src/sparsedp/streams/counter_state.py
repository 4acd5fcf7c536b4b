"""The state of k continual counters: one noisy count each, and the noises of the segments that are still open."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import PrivateSide
from sparsedp.jit import kernel
from sparsedp.streams.forks import forget_in_forks
from sparsedp.streams.segments import beginning_within

AddNoise = Callable[[Integers], None]
"""Adds independent noise of the counters' scale to every entry of an array, in place."""

_CHUNK = 1 << 18
"""Values handled at a time: what a call needs beside its results does not grow with the number of ticks."""


class CounterState:
    """Everything the counters remember after a tick, and nothing that they could forget (`counter.md`).

    The sums are published after every `every` ticks; segments are of such publications, and their noises are drawn
    when the first publication in them is made. `count`: the exact sum so far plus one noise drawn at the first tick.
    `above[l]`: the sum of the noises of the open segments of levels l, l + 1, …; zero where the segment of level l
    has ended. `latest`: what was published last. An open segment's noise is a difference of neighbouring rows of
    `above`; an ended one's is nowhere.
    """

    __slots__ = ("__weakref__", "above", "count", "every", "latest", "ticks")

    def __init__(self, counters: int, levels: int, every: int = 1) -> None:
        self.ticks = 0
        self.every = every
        self.count = np.zeros(counters, np.int64)
        self.above = np.zeros((levels, counters), np.int64)
        self.latest = np.zeros(counters, np.int64)
        forget_in_forks(self)

    @property
    def levels(self) -> int:
        """L: the number of segments that contain each tick."""
        return len(self.above)

    def advance(self, values: Integers, add_noise: AddNoise) -> Integers:
        """Count the rows of `values`, a tick each; the noisy sums that are due meanwhile. All modulo 2⁶⁴."""
        before = self.ticks // self.every
        due = (self.ticks + len(values)) // self.every - before
        results = np.empty((due, values.shape[1]), np.int64)
        step = max(1, _CHUNK // values.shape[1])
        for start in range(0, len(values), step):
            self._advance(values[start : start + step], add_noise, results[self.ticks // self.every - before :])
        return results

    def skip_to_last(self, values: Integers, add_noise: AddNoise) -> None:
        """The same, keeping the last noisy sums alone (`latest`)."""
        self._advance(values, add_noise, np.empty((0, values.shape[1]), np.int64))

    def _advance(self, values: Integers, add_noise: AddNoise, results: Integers) -> None:
        before, stop = self.ticks, self.ticks + len(values)
        begins = beginning_within(before // self.every, stop // self.every, self.levels)
        fresh = np.zeros((1 + begins, values.shape[1]), np.int64)
        try:
            add_noise(fresh if before == 0 else fresh[1:])
            self.ticks = -1  # so that an interruption from here on does not pass for a state between two ticks
            _run(before, self.every, values, fresh, self.count, self.above, self.latest, results)
            self.ticks = stop
        finally:
            fresh.fill(0)

    def begin_again(self) -> None:
        """The state before the first tick."""
        self.erase()
        self.ticks = 0

    def erase(self) -> None:
        """Overwrite everything; from here on it is no state between two ticks."""
        self.ticks = -1
        for part in (self.count, self.above, self.latest):
            part.fill(0)

    def forget_in_child(self) -> None:
        """A forked child keeps no second version."""
        self.erase()

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A counter's state cannot be copied or pickled: two versions of it would give counts away.")

    __copy__ = __deepcopy__ = __reduce__ = __getstate__ = _refuse_copy
    __reduce_ex__ = _refuse_copy


@kernel
def _run(
    tick: int,
    every: int,
    values: Integers,
    fresh: Integers,
    count: Integers,
    above: Integers,
    latest: Integers,
    results: Integers,
) -> None:
    """`fresh[0]` starts the counts; then come the noises of the beginning segments, in order, from level 0 up."""
    levels, counters = above.shape
    count += fresh[0]
    drawn = 1
    for i in range(len(values)):
        count += values[i]
        published, waiting = divmod(tick + i + 1, every)
        if waiting:
            continue
        begins = _trailing_levels(published - 1, levels)
        for level in range(begins - 1, -1, -1):
            for r in range(counters):
                higher = above[level + 1, r] if level + 1 < levels else 0
                above[level, r] = fresh[drawn + level, r] + higher
        drawn += begins
        for r in range(counters):
            latest[r] = count[r] + (above[0, r] if levels else 0)
        if len(results):
            results[published - 1 - tick // every] = latest
        above[: _trailing_levels(published, levels)] = 0


@kernel
def _trailing_levels(number: int, levels: int) -> int:
    found = 0
    while found < levels and number & ((1 << found) - 1) == 0:
        found += 1
    return found
