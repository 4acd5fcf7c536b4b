"""What an intruder sees of a continual counter, and how likely that is under each of two neighbouring streams.

The noises form a tree. The root is the noise of the count; below it, level l = L − 1 … 0, each segment of 2ˡ ticks
has one. What is published at a tick is the exact sum plus all noises on the way from the root to that tick's leaf.
The intruder knows every published sum and, from one look at the state, the count (so the root's noise, once the data
are supposed known) and the noises of the open segments. All the others are hidden, the leaves' apart: given those
above it, a leaf's noise is what is left of the published sum. So the likelihood is a sum over hidden noises that are
not leaves, done from the leaves up: the two halves of a segment are independent given what is above them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.streams import Stream
from sparsedp.streams._counters import CounterState

Segment = tuple[int, int]
"""(level, number): the ticks number·2ˡ … (number + 1)·2ˡ − 1. The root is (L, 0)."""

BEFORE = -1
"""The moment before the first tick, when there is nothing in the state."""

_CHUNK = 1 << 13


@dataclass(frozen=True)
class View:
    """All that is published (a row a tick), and one look at the state after tick `moment`, of many counters at once."""

    published: Ints
    levels: int
    moment: int
    count: Ints
    noises: Mapping[Segment, Ints]

    def known(self, sums: Ints) -> dict[Segment, Ints]:
        """Every noise that is known if the exact sums are these."""
        if self.moment == BEFORE:
            return dict(self.noises)
        return {(self.levels, 0): self.count - sums[self.moment], **self.noises}

    def columns(self, part: slice) -> View:
        """Of some of the counters alone."""
        noises = {segment: noise[part] for segment, noise in self.noises.items()}
        return View(self.published[:, part], self.levels, self.moment, self.count[part], noises)


@dataclass
class Record:
    """Everything there was to see of many counters, at all ticks; an intruder gets one `view` of it."""

    published: list[Ints] = field(default_factory=list)
    counts: list[Ints] = field(default_factory=list)
    above: list[Ints] = field(default_factory=list)

    def note(self, state: CounterState) -> None:
        """After a tick."""
        self.published.append(state.latest.copy())
        self.counts.append(state.count.copy())
        self.above.append(state.above.copy())

    @classmethod
    def of(cls, stream: Stream, values: Iterable[object]) -> Self:
        """Run a stream to the end."""
        record = cls()
        for value in values:
            stream.observe(value)
            assert stream._state is not None
            record.note(stream._state)
        return record

    @classmethod
    def beside(cls, records: list[Self]) -> Self:
        """Records of equally long streams, one beside the other."""
        whole = cls()
        for name in ("published", "counts", "above"):
            rows = zip(*(getattr(record, name) for record in records), strict=True)
            setattr(whole, name, [np.concatenate(row, axis=-1) for row in rows])
        return whole

    def view(self, moment: int, kept: Mapping[Segment, Ints] | None = None) -> View:
        """`kept`: noises of ended segments, if the counter is one that fails to forget them."""
        levels = len(self.above[0])
        noises = dict(kept or {})
        if moment != BEFORE:
            noises.update(_open_noises(moment, self.above[moment]))
        count = self.counts[max(moment, 0)] * (moment != BEFORE)
        return View(np.array(self.published), levels, moment, count, noises)


def _open_noises(tick: int, above: Ints) -> Iterator[tuple[Segment, Ints]]:
    """Of the segments that contain both this tick and the next: `above` holds their sums from the highest level on."""
    higher = np.zeros(above.shape[1], np.int64)
    for level in range(len(above) - 1, -1, -1):
        if tick >> level == (tick + 1) >> level:
            yield (level, tick >> level), above[level] - higher
            higher = above[level]
        else:
            assert not above[level].any(), "the noise of an ended segment is still in the state"


def log_likelihood_ratio(view: View, sums: Ints, other: Ints, scale: float, *, exact: bool = False) -> Floats:
    """ln P(view | other sums) − ln P(view | sums), for each counter; the sums have a row for each tick.

    `exact`: sum over all hidden noises that matter. Otherwise only over multiples of a third of the scale, up to 12
    scales: that is quick, and the score of an attack may be any function of the view.
    """
    reach = 12 * scale + (np.abs(view.published - sums).max() if exact else 0)
    step = 1 if exact else max(1, int(scale / 3))
    grid = step * np.arange(-int(reach / step), int(reach / step) + 1)
    parts = (slice(start, start + _CHUNK) for start in range(0, sums.shape[1], _CHUNK))
    with np.errstate(divide="ignore"):  # a view that is impossible has likelihood 0
        return np.concatenate(
            [
                np.log(_likelihood(view.columns(part), other[:, part], scale, grid))
                - np.log(_likelihood(view.columns(part), sums[:, part], scale, grid))
                for part in parts
            ]
        )


def _likelihood(view: View, sums: Ints, scale: float, grid: Ints) -> Floats:
    """P(view | sums) for each counter, up to a factor that does not depend on the sums."""
    known = view.known(sums)
    noise = view.published - sums
    jumps = _law(grid[:, None] - grid[None, :], scale)

    def of(level: int, number: int, above: Ints, hidden: bool) -> Floats:
        """P(what is known within a segment | the noises above it), its own noise summed over or known.

        `above`: the sum of the known noises of the segments around it. If one of those is `hidden`, the result has
        a row for every value in `grid` that the hidden ones may add up to.
        """
        own = known.get((level, number))
        below = above if own is None else above + own
        if number << level >= len(noise):
            return np.ones((1, len(above)))
        if level == 0:
            rest = (noise[number] - below)[None, :] - (grid[:, None] if hidden else 0)
            return _law(rest, scale) if own is None else (rest == 0) * _law(own, scale)
        if own is not None:
            return _law(own, scale) * halves(level, number, below, hidden)
        inside = halves(level, number, below, True)
        return jumps @ inside if hidden else _law(grid, scale)[None, :] @ inside

    def halves(level: int, number: int, above: Ints, hidden: bool) -> Floats:
        return of(level - 1, 2 * number, above, hidden) * of(level - 1, 2 * number + 1, above, hidden)

    whole = of(view.levels, 0, np.zeros(noise.shape[1], np.int64), False)
    return whole.reshape(-1)


def _law(noise: Ints, scale: float) -> Floats:
    """Discrete Laplace, up to its constant factor."""
    weights: Floats = np.exp(-np.abs(noise) / scale)
    return weights
