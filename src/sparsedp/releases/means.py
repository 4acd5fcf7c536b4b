"""Sums beside the counts of the same records: made consistent, and divided (`means.md`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes.domain import Quantity
from sparsedp.errors import InvalidInput
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.files.columns_file import Contents
from sparsedp.releases.queries import CellAnswer, words_in
from sparsedp.releases.sums import Sums
from sparsedp.releases.uncertainty import GUARANTEED, LIKELY, Interval, bounds_of, checked_kind, checked_level
from sparsedp.validate import Number

if TYPE_CHECKING:
    import pyarrow as pa

    from sparsedp.axes.domain import Domain
    from sparsedp.releases.release import Release


# Totals that fit their counts.


def totals_that_fit(totals: Floats, counts: Release, quantity: Quantity) -> Floats:
    """Totals in whole steps, none of which is more, or less, than so many records can have within the clamp."""
    if quantity.clamp is None or counts.values.size != totals.size:
        raise InvalidInput("counts", "not of the records that were summed", "give those measured beside the sums")
    low, high = (float(bound / quantity.resolution) * counts.values for bound in quantity.clamp)
    return within(totals.reshape(counts.shape), low, high).reshape(totals.shape)


def within(totals: Floats, low: Floats, high: Floats) -> Floats:
    """Totals between `low` and `high` cell by cell, whose sums over blocks stay what they are wherever they can.

    Bounds of cells add up to bounds of blocks. From the sum of all downwards, the two halves of a block share what the
    block may keep: each gives way by half, unless a bound stops it. Halves are taken along the first axis before the
    second, so that sums over whole axes come before the cells.
    """
    levels, axes = [[totals, np.minimum(low, high), np.maximum(low, high)]], []
    for axis in reversed(range(totals.ndim)):
        while levels[-1][0].shape[axis] > 1:
            levels.append([_even(part, axis) + _odd(part, axis) for part in levels[-1]])
            axes.append(axis)
    kept = np.clip(*levels[-1])
    for level, axis in zip(reversed(levels[:-1]), reversed(axes), strict=True):
        length = level[0].shape[axis]
        first, below, above = (_even(part, axis) for part in level)
        second, floor, ceiling = (_odd(part, axis) for part in level)
        half = first + (kept - (first + second)) / 2
        left = np.clip(half, np.maximum(below, kept - ceiling), np.minimum(above, kept - floor))
        kept = np.stack([left, kept - left], axis=axis + 1).reshape(
            *left.shape[:axis], 2 * left.shape[axis], *left.shape[axis + 1 :]
        )
        kept = kept.take(np.arange(length), axis=axis)
    return np.asarray(np.clip(kept, *levels[0][1:]))


def _even(table: Floats, axis: int) -> Floats:
    return table[(slice(None),) * axis + (slice(0, None, 2),)]


def _odd(table: Floats, axis: int) -> Floats:
    """The second of each pair; zeros where the last has none."""
    found = table[(slice(None),) * axis + (slice(1, None, 2),)]
    if table.shape[axis] % 2 == 0:
        return found
    return np.concatenate([found, np.zeros_like(table.take([0], axis=axis))], axis=axis)


# Means: a total over its count, whose noises are independent.

_LEVEL = 0.95

_MOST_GROUPS = 2**12
"""Each has to be asked for by itself."""

_PARTS = 10**6
"""The ends of a mean are found to so many parts of the clamp."""


def mean_by(release: Release, by: str | Sequence[str], level: Number, kind: str = LIKELY) -> list[CellAnswer]:
    """The mean of the value in every group of cells that `by` names, in the order of the cells."""
    wanted, kind, (sums, domain) = checked_level(level), checked_kind(kind), groups_named(release, by)
    totals = sums.of(release.values)
    counts = sums.of(_counts_of(release).values)
    found = []
    for place in np.ndindex(*sums.lengths):
        asked = np.zeros(sums.lengths)
        asked[place] = 1.0
        group = _Group(release, sums.spread(asked), float(totals[place]), float(counts[place]))
        found.append(CellAnswer(words_in(domain, place), group.mean(wanted, kind)))
    return found


def table_of(release: Release, by: Sequence[str]) -> pa.Table:
    """The same for SQL: where each group is, its mean, and between what the true one lies in 95 %."""
    import pyarrow as pa

    _, domain = groups_named(release, by)
    intervals = [each.interval for each in mean_by(release, by, _LEVEL)]
    places = Contents("means", {name.replace(".", "_"): column for name, column in domain.columns().items()}, {})
    table = places.table()
    for name in ("mean", "low", "high"):
        if name in table.column_names:
            raise InvalidInput("means", f"asked for by an axis named {name!r}", "ask `release.mean(by=…)` instead")
        ends = [getattr(each, "estimate" if name == "mean" else name) for each in intervals]
        table = table.append_column(name, pa.array(ends, pa.float64(), from_pandas=True))
    return table


def mean(release: Release, level: Number, kind: str = LIKELY) -> Interval:
    """The mean of the value over all that was counted."""
    total, count = float(release.values.sum()), float(_counts_of(release).values.sum())
    return _Group(release, np.ones(release.shape), total, count).mean(checked_level(level), checked_kind(kind))


def caveat(release: Release) -> str:
    """The sentence to print beside such means."""
    low, high = _clamp_of(release)
    return (
        f"A mean is that of the records that were counted, their values clamped to {low:,.6g} to {high:,.6g}. Its "
        "range is about noise, and says nothing of what clamping changed."
    )


def groups_named(release: Release, by: object) -> tuple[Sums, Domain]:
    """The groups of cells that axes and coarsenings make, and the domain that they have."""
    _counts_of(release)
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InvalidInput("by", f"of type {type(by).__name__}", 'name an axis, by="ward", or several in a list')
    if release.domain is None:
        raise InvalidInput("by", "given to a release without axes", "leave it out, for the mean of all")
    if not names:
        raise InvalidInput("by", "empty", f"name one of {', '.join(release.domain.names)}")
    sums, domain = Sums.named(release.domain, tuple(names))
    if domain.size > _MOST_GROUPS:
        raise InvalidInput("by", f"{domain.size:,} groups", f"name coarser ones: at most {_MOST_GROUPS:,} in all")
    return sums, domain


def _counts_of(release: Release) -> Release:
    if release.counts is None:
        what = "of counts alone" if release.quantity.value is None else "of sums alone"
        remedy = 'a mean takes both: publish with value="amount" and with_counts=True (--with-counts)'
        raise InvalidInput("release", f"one {what}", remedy)
    return release.counts


def _clamp_of(release: Release) -> tuple[float, float]:
    assert release.quantity.clamp is not None  # noqa: S101  # sums with counts beside them have one
    return float(release.quantity.clamp[0]), float(release.quantity.clamp[1])


_Reach = Callable[[float], float]
"""By how much, at least, the range of Σ (value − mean) reaches beyond 0 on either side; below zero, it does not."""


@dataclass(frozen=True)
class _Group:
    """Cells that are summed, with what is published of them."""

    release: Release
    weights: Floats
    total: float
    count: float

    def mean(self, level: float, kind: str) -> Interval:
        """The published total over the published count, and all means that the errors of both leave plausible.

        A mean is left where 0 may be the sum of value − mean over the records. It is within the clamp in any case; and
        where that holds of all of it, nothing is known. What is guaranteed is around the estimate without bias.
        """
        low, high = _clamp_of(self.release)
        estimate = min(max(self.total / self.count, low), high) if self.count > 0 else nan
        reach, unbiased = self._guaranteed(level) if kind == GUARANTEED else (self._of_both(level, kind), estimate)
        nearest = min(max(unbiased, low), high)
        start = next((each for each in (nearest, estimate, low, high) if reach(each) >= 0), None)
        ends = (nearest, nearest) if start is None else (_end(reach, start, low), _end(reach, start, high))
        if kind == GUARANTEED:
            estimate = min(max(nearest, ends[0]), ends[1])
        if isnan(ends[0]):  # of nothing, and all of it implausible
            return Interval(low, high, nan, level, kind)
        return Interval(ends[0], ends[1], estimate, level, kind)

    def _of_both(self, level: float, kind: str) -> _Reach:
        """Of the ranges of both: as errors are independent, the squares of their reaches add up."""
        sums = self.release.interval(self.weights, level, kind)
        counts = _counts_of(self.release).interval(self.weights, level, kind)

        def reach(mean: float) -> float:
            below, above = (counts.high - self.count, self.count - counts.low)[:: 1 if mean >= 0 else -1]
            apart = self.total - mean * self.count
            over, under = hypot(sums.high - self.total, mean * above), hypot(self.total - sums.low, mean * below)
            return min(over + apart, under - apart)

        return reach

    def _guaranteed(self, level: float) -> tuple[_Reach, float]:
        """By the noise alone, and the mean without bias. Where all was measured, by the exact law of Σ (value − mean),
        which is a combination of both tables' noise; else each range holds by half of what may fail.
        """
        of_counts = _counts_of(self.release)
        sums = bounds_of(self.release.known_errors, self.weights, self.total)
        counts = bounds_of(of_counts.known_errors, self.weights, self.count)
        if sums is None or counts is None:
            remedy = (
                "ask for kind='expected' if there is one: a file without its synopsis does not say what was measured"
            )
            raise InvalidInput("kind", "'guaranteed'", remedy)
        total, count = sums.exact, counts.exact
        if total is not None and count is not None:
            of_total, of_count, share = total.noise.merged, count.noise.merged, (1 + level) / 2

            def exactly(mean: float) -> float:
                noise = NoiseSum((*of_total.terms, *of_count.times(mean).terms))
                return noise.quantile(share) - abs(total.value - mean * count.value)

            return exactly, total.value / count.value if count.value > 0 else nan
        half = (1 + level) / 2
        (low, high), (fewest, most) = sums.interval(half), counts.interval(half)
        few, many = max(fewest, 0.0), max(most, 0.0)

        def reach(mean: float) -> float:
            least, largest = sorted((mean * few, mean * many))
            return min(high - least, largest - low)

        return reach, self.total / self.count if self.count > 0 else nan


def _end(reach: _Reach, start: float, bound: float) -> float:
    """The last plausible mean from `start` on the way to the bound."""
    if start == bound or reach(bound) >= 0:
        return bound
    from scipy.optimize import brentq

    return float(brentq(reach, start, bound, xtol=abs(bound - start) / _PARTS + 1e-300))
