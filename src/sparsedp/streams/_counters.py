"""Continual counters: noisy running sums of k streams at once, their state, and how much noise they get.

The proof, and what an intruder may see of the state, is `counter.md`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, Protocol
from weakref import WeakSet

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.errors import PrivateSide
from sparsedp.jit import kernel
from sparsedp.laws import ContinualCounterLaw, DiscreteLaplaceLaw
from sparsedp.mechanisms.terms import Terms

# Dyadic segments. Level l cuts the publications 0, 1, 2, … of a counter into segments of 2ˡ, l = 0 … L − 1, so each
# publication lies in exactly one segment of every level. When a segment of level l begins, so do those of all levels
# below; when it ends, they end with it.


def levels_for(horizon: int, every: int = 1) -> int:
    """L = ⌈log₂ P⌉ for the P = ⌈T/e⌉ publications in a horizon of T ticks, one after every e ticks.

    At least 1 where e > 1: an intruder may see the count between two publications, so each needs a fresh noise.
    """
    publications = -(-horizon // every)
    return max((publications - 1).bit_length(), int(every > 1))


def beginning_within(first: int, stop: int, levels: int) -> int:
    """How many segments begin at publications first … stop − 1, all levels together: less than 2·(stop − first) + L."""
    return sum(-(-stop // 2**level) - -(-first // 2**level) for level in range(levels))


# What a forked child must forget: a copy of a counter's state would be a second version of it.


class Forgetful(Protocol):
    """Holds what must not live on in a forked child."""

    def forget_in_child(self) -> None:
        """Called in the child, first of all."""


# The one thing here that a module keeps: Python calls what is registered for forks for ever, so one call serves all.
_HELD: WeakSet[Forgetful] = WeakSet()


def forget_in_forks(holder: Forgetful) -> None:
    """From now on, and for as long as it lives, `holder` forgets in every forked child."""
    _HELD.add(holder)


def _forget_all() -> None:
    for holder in list(_HELD):
        holder.forget_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


# The state: one noisy count for each counter, and the noises of the segments that are still open.

AddNoise = Callable[[Ints], None]
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

    def advance(self, values: Ints, add_noise: AddNoise) -> Ints:
        """Count the rows of `values`, a tick each; the noisy sums that are due meanwhile. All modulo 2⁶⁴."""
        before = self.ticks // self.every
        due = (self.ticks + len(values)) // self.every - before
        results = np.empty((due, values.shape[1]), np.int64)
        step = max(1, _CHUNK // values.shape[1])
        for start in range(0, len(values), step):
            self._advance(values[start : start + step], add_noise, results[self.ticks // self.every - before :])
        return results

    def skip_to_last(self, values: Ints, add_noise: AddNoise) -> None:
        """The same, keeping the last noisy sums alone (`latest`)."""
        self._advance(values, add_noise, np.empty((0, values.shape[1]), np.int64))

    def _advance(self, values: Ints, add_noise: AddNoise, results: Ints) -> None:
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

    def reset(self) -> None:
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
    values: Ints,
    fresh: Ints,
    count: Ints,
    above: Ints,
    latest: Ints,
    results: Ints,
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


# Calibration: exact scales, refused before anything is spent where they leave 64 bits.


def tick_law(terms: Terms, share: Fraction = Fraction(1)) -> DiscreteLaplaceLaw:
    """Scale c/ε′ on every tick, where ε′ is `share` of ε: each unit of a person's change meets one noise."""
    terms.check_scale(1, share)
    return DiscreteLaplaceLaw(_effective(terms, Fraction(terms.neighbours.distance) / (terms.epsilon * share)))


def counter_law(terms: Terms, levels: int, share: Fraction = Fraction(1), column: int = 1) -> ContinualCounterLaw:
    """Scale (1 + L)·‖φ‖₁·c/ε′ on every term: a unit change at one tick moves all the counters by ‖φ‖₁ together,
    and each of them is made up for by at most 1 + L noises (`counter.md`). `column` is ‖φ‖₁: k for k rows of ±1."""
    terms.check_scale((1 + levels) * column, share)
    sensitivity = Fraction(terms.neighbours.distance * column * (1 + levels))
    return ContinualCounterLaw(_effective(terms, sensitivity / (terms.epsilon * share)), levels)


def ticks_between_totals(horizon: int, share: Fraction) -> int:
    """How many ticks to leave between two running totals: a function of public numbers alone.

    Rarer totals have fewer segments, so less noise each; between them the noise of the ticks adds up. The rule takes
    the largest power of two whose ticks' noise is at most twice that of one of the counter's terms: a compromise
    between sums over everything, which want rarer totals, and sums over few blocks.
    """
    every = 1
    while 2 * every <= horizon:
        levels = levels_for(horizon, 2 * every)
        if 2 * every * share**2 > 4 * ((1 + levels) * (1 - share)) ** 2:
            break
        every *= 2
    return every


def noise_adder(terms: Terms, scale: Fraction) -> AddNoise:
    """Draws what the calibration says, from the source the caller chose."""
    sampler, source = terms.sampler, terms.source

    def add_noise(values: Ints) -> None:
        sampler.add_noise(values, scale, source)

    return add_noise


def _effective(terms: Terms, scale: Fraction) -> Fraction:
    return terms.sampler.effective_scale(scale)


# Counters at work: their state, their noise, and the law of what they publish.


@dataclass(frozen=True, eq=False)
class Counters:
    """The state and the noise that goes into it. PRIVATE: whoever sees the state twice knows what was counted."""

    state: CounterState
    law: ContinualCounterLaw
    add_noise: AddNoise

    def advance(self, values: Ints) -> Ints:
        """Count the rows of `values`, a tick each; the noisy sums that are due meanwhile."""
        return self.state.advance(values, self.add_noise)

    def skip_to_last(self, values: Ints) -> None:
        """The same, keeping the last noisy sums alone."""
        self.state.skip_to_last(values, self.add_noise)


def counters_for(
    terms: Terms,
    horizon: int,
    *,
    counters: int = 1,
    every: int = 1,
    share: Fraction = Fraction(1),
    column: int = 1,
) -> Counters:
    """`counters` sums, published after every `every` of `horizon` ticks, calibrated to `share` of ε.

    `column` is how far a unit change at one tick moves all the counters together.
    """
    levels = levels_for(horizon, every)
    law = counter_law(terms, levels, share, column)
    return Counters(CounterState(counters, levels, every), law, noise_adder(terms, law.scale))
