"""What the law of the noise says of a linear query, whatever the counts are: the theorem and its proof are in
guaranteed.md.

A combination of noisy sums whose exact sums make up the query is off by the same combination of noise, whose law is
known. Where no combination makes it up, because cells were measured in groups only, two do that bound it: no count is
negative. Each way to measure says here which combinations it takes; the weights never depend on the noise that they
weigh, but for the layers that were measured first (guaranteed.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf

import numpy as np

from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.estimation.bounds import Bound, Bounds, MeasuredSums
from sparsedp.estimation.guaranteed_marginals import LatticeSums
from sparsedp.estimation.inverses import scales_of_rows
from sparsedp.estimation.least_squares import LEAST
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.laws import ContinualCounterLaw, IndependentLaw, LayersLaw, NoiseLaw, TicksAndTotalsLaw
from sparsedp.sensing.base import Direct, Sensing
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.integer_haar import IntegerHaar, IntegerHaarTable
from sparsedp.sensing.marginals import Marginals
from sparsedp.sensing.running_totals import RunningTotals, TicksAndTotals
from sparsedp.sensing.tree import Tree

SAME = 1e-9
"""Weights that differ by less, in parts of the largest one, are one."""

MOST_OF_PADDING = 200
"""Of conjugate gradients."""

WIDE = 16
"""Blocks of so many cells say nothing of a single one that is worth having: then its own noisy sum is taken alone."""


def measured_sums(
    sensing: Sensing, values: Ints, law: NoiseLaw, cells: Floats, *, nonnegative: bool = True
) -> MeasuredSums | None:
    """What was measured, to be combined; None of random projections, of which no few make up a sum of cells.

    `cells`: as published. `nonnegative`: whether counts are known to be; else what was not measured can be anything.
    """
    both = np.stack([values.astype(np.float64), sensing.forward(cells)])
    if isinstance(sensing, GroupSums) and isinstance(law, LayersLaw):
        return NestedSums(sensing, both, law, nonnegative=nonnegative)
    if isinstance(sensing, Marginals) and isinstance(law, LayersLaw):
        return LatticeSums(sensing, both, law)
    if isinstance(law, TicksAndTotalsLaw) and isinstance(sensing, TicksAndTotals):
        return TotalsBesideTicks(sensing, both, law)
    if isinstance(law, ContinualCounterLaw):
        if isinstance(sensing, RunningTotals):
            return Totals(both, law)
        return Counters(both, law) if isinstance(sensing, Direct) else None
    if isinstance(law, LayersLaw | TicksAndTotalsLaw):
        return None
    if isinstance(sensing, Direct):
        return NestedSums(GroupSums(sensing.n, [1]), both, LayersLaw((law,)), nonnegative=nonnegative)
    if isinstance(sensing, Tree):
        levels = np.split(both, sensing.level_starts[1:], axis=1)[::-1]
        sizes = [min(sensing.branching**depth, sensing.n) for depth in range(sensing.levels)]
        layers, laws = GroupSums(sensing.n, sizes), LayersLaw((law,) * sensing.levels)
        return NestedSums(layers, np.concatenate(levels, axis=1), laws, nonnegative=nonnegative)
    if isinstance(sensing, IntegerHaar | IntegerHaarTable):
        return HaarSums(sensing, both, law)
    return None


def _bound(both: Floats, weights: Floats, noise: NoiseSum) -> Bound:
    """A combination of noisy sums."""
    return Bound(float(both[0] @ weights), noise)


class NestedSums:
    """Layers of groups, each made of whole groups of the finer one: least squares over the tree of groups.

    Where the finest groups are parts of blocks, which parts was decided by the blocks' own noisy sums. A block would
    weigh more if its noise had made it large: so there one weight serves all blocks, and all parts.
    """

    def __init__(self, sensing: GroupSums, both: Floats, law: LayersLaw, *, nonnegative: bool) -> None:
        """`both`: the noisy sums, and those of the published cells."""
        self._sensing, self._laws, self._nonnegative, self._both = sensing, law.layers, nonnegative, both
        self._sums = sensing.split(both[0])
        self._noise = [max(each.variance, LEAST) for each in law.layers]
        starts = sensing.starts
        self._sizes = [np.diff(first, append=sensing.n) for first in starts]
        self._first = [np.searchsorted(finer, coarser) for finer, coarser in pairwise(starts)]
        self._parts = [np.diff(first, append=len(finer)) for first, finer in zip(self._first, starts, strict=False)]

    @property
    def _alone(self) -> bool:
        """Whether a single cell is known by the finest layer alone."""
        return len(self._sizes) > 1 and int(self._sizes[1].min()) >= WIDE

    def cell_ends(self, level: float) -> tuple[Floats, Floats] | None:
        """The ends of the intervals of all cells, in the order of the table; None where they are not so simple."""
        if not (self._alone or len(self._sizes) == 1):
            return None
        alone, sums = self._sizes[0] == 1, self._sums[0]
        reach = self._laws[0].quantile((1 + level) / 2)
        low = np.where(alone, sums - reach, -reach if self._nonnegative else -inf)
        high = sums + reach if self._nonnegative else np.where(alone, sums + reach, inf)
        return self._of_cells(low), self._of_cells(np.maximum(low, high))

    def plausible_cell_ends(self, cells: Floats, level: float) -> tuple[Floats, Floats] | None:
        """The same of what was measured, the mean of each cell's group, if the published cells are right beside."""
        if not (self._alone or len(self._sizes) == 1):
            return None
        beyond = (self._both[0] - self._both[1])[: len(self._sums[0])] / self._sizes[0]
        reach = self._laws[0].quantile((1 + level) / 2) / self._sizes[0] if level > 0 else np.inf * beyond
        return cells + self._of_cells(beyond - reach), cells + self._of_cells(beyond + reach)

    def _of_cells(self, of_groups: Floats) -> Floats:
        return self._sensing.out_of_row(np.repeat(of_groups, self._sizes[0]))

    def cell_variances(self) -> Floats:
        """Of the noise in the least-squares estimates of all cells, where they were measured."""
        variances, spreads = self._passed_up()[:2]
        left = variances[-1]
        for variance, spread, parts in zip(variances[-2::-1], spreads[::-1], self._parts[::-1], strict=True):
            share = variance / np.repeat(spread, parts)
            left = variance * (1.0 - share) + share**2 * np.repeat(left, parts)
        return self._of_cells(left)

    def _passed_up(self) -> tuple[list[Floats], list[Floats], list[Floats]]:
        """On the way up: the variance of each group's sum by its own value and the finer ones; for the coarser layers,
        that of its parts together, and the weight of its own value beside them.
        """
        variances = [np.full(len(self._sums[0]), self._noise[0])]
        spreads, own = [], []
        for first, noise in zip(self._first, self._noise[1:], strict=True):
            spread = np.add.reduceat(variances[-1], first)
            own.append(spread / (spread + noise))
            spreads.append(spread)
            variances.append(spread * (1.0 - own[-1]))
        return variances, spreads, own

    def bounds(self, weights: Floats) -> Bounds:
        """Of the query's part that is even over each of the finest groups; and of the rest by its extremes there."""
        sensing = self._sensing
        row = np.asarray(sensing.in_a_row(np.ascontiguousarray(weights, np.float64).reshape(-1)))
        starts = sensing.starts[0]
        means = row if len(starts) == sensing.n else np.add.reduceat(row, starts) / self._sizes[0]
        if self._alone and np.count_nonzero(row) == 1:
            combined = [means, *(np.zeros(len(sums)) for sums in self._sums[1:])]
        else:
            combined = self._one_weight(means) if sensing.in_parts_of_blocks else self._least_squares(means)
        if len(starts) == sensing.n:
            return Bounds.exactly(self._bound(combined))
        least, most = np.minimum.reduceat(row, starts), np.maximum.reduceat(row, starts)
        if float((most - least).max()) <= SAME * float(np.abs(row).max(initial=0.0)):
            return Bounds.exactly(self._bound(combined))
        if not self._nonnegative:
            return Bounds((), ())
        below, above = ([combined[0] + (end - means), *combined[1:]] for end in (least, most))
        return Bounds((self._bound(below),), (self._bound(above),))

    def _bound(self, combined: Sequence[Floats]) -> Bound:
        return _bound(self._both, np.concatenate(combined), NoiseSum.of(*zip(self._laws, combined, strict=True)))

    def _least_squares(self, means: Floats) -> list[Floats]:
        """The weights of all noisy sums in the generalised least-squares estimate of Σ means·sums of the finest groups.

        That estimate is one pass up the tree and one down (`least_squares.py: fuse`); its weights come out of the same
        passes turned around.
        """
        variances, spreads, own = self._passed_up()
        combined, wanted = [], means
        for variance, spread, first, parts in zip(variances, spreads, self._first, self._parts, strict=False):
            moved = variance * wanted / np.repeat(spread, parts)
            above = np.add.reduceat(variance * wanted, first) / spread
            combined.append(wanted - np.repeat(np.add.reduceat(moved, first), parts))
            wanted = above
        combined.append(wanted)
        for layer in range(len(combined) - 1, 0, -1):
            below = (1.0 - own[layer - 1]) * combined[layer]
            combined[layer] = own[layer - 1] * combined[layer]
            combined[layer - 1] = combined[layer - 1] + np.repeat(below, self._parts[layer - 1])
        return combined

    def _one_weight(self, means: Floats) -> list[Floats]:
        """The same with weights that are alike for all groups of a layer.

        The query is its means over the coarsest groups, and what the means over each finer layer's groups add to that.
        Each of these components is in the sums of its layer and of all finer ones. They share it in parts that add up
        to 1, those of the least variance: a linear system of a few unknowns.
        """
        layers = len(self._sums)
        smoothed = [means]
        for finer, first, sizes in zip(self._sizes, self._first, self._sizes[1:], strict=False):
            smoothed.append(np.add.reduceat(smoothed[-1] * finer, first) / sizes)
        components = [
            fine - np.repeat(coarse, parts)
            for fine, coarse, parts in zip(smoothed, smoothed[1:], self._parts, strict=False)
        ]
        components.append(smoothed[-1])
        seen = [[component] for component in components]
        for layer, component in enumerate(components):
            spread = component
            for below in range(layer - 1, -1, -1):
                spread = np.repeat(spread, self._parts[below])
                seen[below].append(spread)
        places = [(layer, component) for layer in range(layers) for component in range(layer, layers)]
        system = np.zeros((len(places) + layers,) * 2)
        for layer, each in enumerate(seen):
            stacked = np.stack(each)
            here = [number for number, place in enumerate(places) if place[0] == layer]
            system[np.ix_(here, here)] = self._noise[layer] * (stacked @ stacked.T)
        system /= max(float(np.abs(system).max()), LEAST)
        for number, (_, whole) in enumerate(places):
            system[number, len(places) + whole] = system[len(places) + whole, number] = 1.0
        right = np.concatenate([np.zeros(len(places)), np.ones(layers)])
        shares = np.linalg.lstsq(system, right)[0][: len(places)]
        # What rounding left is for the finest layer: the parts of a component add up to 1.
        for whole in range(layers):
            of_it = [number for number, place in enumerate(places) if place[1] == whole]
            shares[of_it[0]] += 1.0 - shares[of_it].sum()
        combined = [np.zeros(len(sums)) for sums in self._sums]
        for share, (layer, whole) in zip(shares, places, strict=True):
            combined[layer] += share * seen[layer][whole - layer]
        return combined


class HaarSums:
    """Sums and differences of halves: as many as there are cells, orthogonal to one another.

    Cells that were added to make the lengths powers of two are zero: their weights are those of the least variance.
    """

    def __init__(self, sensing: IntegerHaar | IntegerHaarTable, both: Floats, law: IndependentLaw) -> None:
        self._both, self._law = both, law
        self._shape = (sensing.n,) if isinstance(sensing, IntegerHaar) else sensing.shape
        padded = (sensing.padded_size,) if isinstance(sensing, IntegerHaar) else sensing.padded_shape
        self._whole = IntegerHaarTable(padded, (True,) if isinstance(sensing, IntegerHaar) else sensing.ordered)
        self._squares = scales_of_rows(sensing) ** 2

    def bounds(self, weights: Floats) -> Bounds:
        """The query's own coefficients, each over the square of its row."""
        row, real = np.zeros(self._whole.shape), np.zeros(self._whole.shape, np.bool_)
        inside = tuple(map(slice, self._shape))
        row[inside], real[inside] = np.asarray(weights, np.float64).reshape(self._shape), True
        combined = self._whole.forward(self._with_least_noise(row.reshape(-1), real.reshape(-1))) / self._squares
        return Bounds.exactly(_bound(self._both, combined, NoiseSum.of((self._law, combined))))

    def cell_variances(self) -> Floats:
        """Of the noise in every cell; a little more than it is where cells were added."""
        variance = self._law.variance
        for length, size, ordered in zip(self._shape, self._whole.shape, self._whole.ordered, strict=True):
            if ordered and length > 0:
                variance *= (1.0 + (size**2 - 1) / 3.0) / size**2
        return np.full(self._shape, variance)

    def _with_least_noise(self, row: Floats, real: Mask) -> Floats:
        """By conjugate gradients over the added cells; the system has as many different eigenvalues as levels."""

        def slope(cells: Floats) -> Floats:
            return np.where(real, 0.0, self._whole.adjoint(self._whole.forward(cells) / self._squares**2))

        residual = -slope(row)
        direction, size = residual, float(residual @ residual)
        least = SAME**2 * size
        for _ in range(0 if real.all() else MOST_OF_PADDING):
            if size <= least:
                break
            image = slope(direction)
            length = size / float(direction @ image)
            row, residual = row + length * direction, residual - length * image
            last, size = size, float(residual @ residual)
            direction = residual + size / last * direction
        return row


class Counters:
    """Several counters at one moment: each has 1 + L terms of noise of its own."""

    def __init__(self, both: Floats, law: ContinualCounterLaw) -> None:
        self._both, self._law = both, law

    def bounds(self, weights: Floats) -> Bounds:
        """The counters themselves."""
        row = np.ascontiguousarray(weights, np.float64).reshape(-1)
        noise = NoiseSum(((self._law.term, row, np.full(row.size, 1.0 + self._law.levels)),))
        return Bounds.exactly(_bound(self._both, row, noise))


class Totals:
    """Running totals of a continual counter: of the ticks, every total and the one before it."""

    def __init__(self, both: Floats, law: ContinualCounterLaw) -> None:
        self._both, self._law = both, law

    def bounds(self, weights: Floats) -> Bounds:
        """Totals that cancel where neighbouring ticks have one weight."""
        combined = differences(np.ascontiguousarray(weights, np.float64).reshape(-1))
        return Bounds.exactly(_bound(self._both, combined, NoiseSum.of(*of_segments(combined, self._law))))


class TotalsBesideTicks:
    """Noisy ticks, and a counter's totals of every so many of them: the query's two estimates, weighed."""

    def __init__(self, sensing: TicksAndTotals, both: Floats, law: TicksAndTotalsLaw) -> None:
        self._every, self._law, self._whole = sensing.every, law, sensing.totals * sensing.every
        self._both = both

    def bounds(self, weights: Floats) -> Bounds:
        """What the means between two totals make up is shared between totals and ticks; the rest is the ticks'."""
        row, law = np.ascontiguousarray(weights, np.float64).reshape(-1), self._law
        means = row[: self._whole].reshape(-1, self._every).mean(axis=1)
        even = np.append(np.repeat(means, self._every), np.zeros(len(row) - self._whole))
        noise = NoiseSum.of(*of_segments(differences(means), law.totals))
        of_ticks = law.ticks.variance
        share = of_ticks * float(row @ even) / max(of_ticks * float(even @ even) + noise.variance, LEAST)
        of_totals, rest = share * differences(means), row - share * even
        weighed = NoiseSum.of((law.ticks, rest), *of_segments(of_totals, law.totals))
        return Bounds.exactly(_bound(self._both, np.concatenate([rest, of_totals]), weighed))


def differences(weights: Floats) -> Floats:
    """The weights of running totals that give ticks these weights."""
    return -np.diff(weights, append=0.0) if len(weights) else weights


def of_segments(combined: Floats, law: ContinualCounterLaw) -> list[tuple[IndependentLaw, Floats]]:
    """The weights that a counter's terms have in a combination of its totals: one for ever, and one a segment."""
    if not len(combined):
        return []
    terms, sums = [np.array([combined.sum()])], combined
    for _ in range(law.levels):
        terms.append(sums)
        sums = np.add.reduceat(sums, np.arange(0, len(sums), 2))
    return [(law.term, np.concatenate(terms))]
