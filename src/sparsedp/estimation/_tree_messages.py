"""A binary tree over groups, a prior on how a sum divides between two parts, and exact inference on it by messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc

from sparsedp.arrays import Floats, Ints
from sparsedp.jit import kernel

# A binary tree over groups of cells in a row, in which every group that was measured is one node.

NONE = -1


@dataclass(frozen=True)
class GroupTree:
    """Nodes, wholes before their parts: the leaves first … last − 1 of each, and its two parts, NONE for a leaf."""

    starts: Ints
    n: int
    first: Ints
    last: Ints
    left: Ints
    right: Ints

    @classmethod
    def over(cls, starts: Ints, n: int, coarser: list[Ints], *, halves: bool) -> GroupTree:
        """Over the leaves that begin at `starts`; wholes are parted between groups of the coarsest layer they have.

        `halves`: of several such places at the one that halves an aligned run of 2^k cells; else at the one that leaves
        as many leaves on both sides. A tree that looks for what stands out leaves chains of groups, each half as wide
        as the next: that a pile is in one end of it is one event so, and not one on each level.
        """
        depth = np.zeros(len(starts), np.int64)
        for place, layer in enumerate(coarser, start=1):
            depth[np.searchsorted(starts, layer)] = place
        return cls(starts, n, *_parted(starts, depth, halves))

    @cached_property
    def width_of_left(self) -> Floats:
        """The share of each whole's cells that its left part has; ½ for leaves."""
        ends = np.append(self.starts, self.n)
        whole, share = np.flatnonzero(self.left != NONE), np.full(len(self.first), 0.5)
        begin = self.starts[self.first[whole]]
        share[whole] = (ends[self.last[self.left[whole]]] - begin) / (ends[self.last[whole]] - begin)
        return share

    def nodes_of(self, starts: Ints, ends: Ints) -> Ints:
        """The nodes that are the groups of these first cells, and of these first cells beyond them."""
        bounds = np.append(self.starts, self.n)
        keys = self.first * len(bounds) + self.last
        order = np.argsort(keys)
        wanted = np.searchsorted(bounds, starts) * len(bounds) + np.searchsorted(bounds, ends)
        found: Ints = order[np.searchsorted(keys, wanted, sorter=order)]
        return found


@kernel
def _parted(starts: Ints, depth: Ints, halves: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """`depth`: the coarsest layer of which a group begins where that leaf does."""
    nodes = 2 * len(starts) - 1
    first, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    left, right = np.full(nodes, NONE), np.full(nodes, NONE)
    last[0] = len(starts)
    known = 1
    for node in range(nodes):
        begin, end = first[node], last[node]
        if end - begin == 1:
            continue
        middle, coarsest, best = begin, NONE, np.int64(NONE)
        for leaf in range(begin + 1, end):
            # The lowest bit of a cell's number says how long an aligned run it halves.
            score = starts[leaf] & -starts[leaf] if halves else end - begin - abs(2 * leaf - begin - end)
            if depth[leaf] > coarsest or (depth[leaf] == coarsest and score > best):
                middle, coarsest, best = leaf, depth[leaf], score
        left[node], right[node] = known, known + 1
        first[known], last[known], first[known + 1], last[known + 1] = begin, middle, middle, end
        known += 2
    return first, last, left, right


# How a sum of counts may divide between two parts of a whole: a mixture of even, uneven, and nearly all in one.
#
# In terms of the share u of the left part if both parts were equally wide: u = ½ exactly, or symmetric Beta laws, from
# narrow ones about ½ to those with all their weight near 0 and 1. Of parts of other widths, the odds of the share are
# those of u times the odds of the widths. All is tabulated: laws are told by their distribution functions on a grid
# that is fine near 0.

BETA_EXPONENTS = (30.0, 4.0, 1.0, 0.2, 0.02)
"""Of the Beta laws, a share to the left being as likely as to the right; beside them ½ exactly, which comes first."""

LAWS = 1 + len(BETA_EXPONENTS)

STEPS = 1024
"""Of the grid, from 0 to ½."""

_HALF = 0.5**0.25

SHARES: Floats = (np.linspace(0.0, _HALF, STEPS + 1)) ** 4
"""The grid: even steps in the fourth root."""

DISTRIBUTIONS: Floats = np.stack([np.zeros(STEPS + 1)] + [betainc(a, a, SHARES) for a in BETA_EXPONENTS])
"""Of each law up to each point of the grid; zeros for ½ exactly, which is no density. They are symmetric."""


@kernel
def as_if_equally_wide(share: float, width: float) -> float:
    """The share u that makes a part of this share of the width have that `share` of the sum."""
    if share <= 0.0:
        return 0.0
    if share >= 1.0:
        return 1.0
    odds = share * (1.0 - width)
    return odds / (odds + width * (1.0 - share))


@kernel
def place_of(share: float) -> tuple[int, float]:
    """Where on the grid a share up to ½ is, the last point if it is more: the point before, and how far to the next."""
    place = np.sqrt(np.sqrt(min(share, 0.5))) * (STEPS / _HALF)
    before = min(int(place), STEPS - 1)
    return before, place - before


@kernel
def chance_up_to(distribution: Floats, share: float) -> float:
    """The value of a tabulated distribution at a share; up to ½, if that is more."""
    before, beyond = place_of(share)
    return float(distribution[before] + beyond * (distribution[before + 1] - distribution[before]))


# Exact inference on a tree of sums, up to a grid for each: one pass up and one down.
#
# Every node has an even grid of values; a function on it is taken to be linear between its points. `below[v]` is, up to
# a factor, the likelihood of all that was measured in the node's leaves and wholes given its value v; `above[v]` the
# chance of v given all that was measured elsewhere.
#
# How a whole divides is summed over the grid of the lesser part (by its width): where it has next to nothing, that grid
# has a point at zero, while the whole less a point of the other's is nowhere near it.

BESIDE = 1e-6
"""In steps of a grid: values so far beside it are on it."""

LEAST_CHANCE = 1e-200
"""Of all that a node may have: where it is less, what was measured contradicts itself, and nothing is learnt of it."""


@kernel
def value_at(row: Floats, place: float) -> float:
    """At a place on the grid of `row`, counted in its steps; zero beside it."""
    if place < -BESIDE or place > len(row) - 1 + BESIDE:
        return 0.0
    before = min(int(place), len(row) - 2)
    return float(row[before] + (place - before) * (row[before + 1] - row[before]))


@kernel
def add_at(row: Floats, place: float, weight: float) -> None:
    """The transpose of `value_at`."""
    if place < -BESIDE or place > len(row) - 1 + BESIDE:
        return
    before = min(int(place), len(row) - 2)
    beyond = place - before
    row[before] += weight * (1.0 - beyond)
    row[before + 1] += weight * beyond


@kernel
def _scale(row: Floats) -> None:
    """So that its largest value is 1; where all are zero, all become 1: what was measured contradicts itself."""
    largest = row.max()
    if largest > 0.0:
        row /= largest
    else:
        row[:] = 1.0


@kernel
def _on_both_grids(total: float, low: Floats, step: Floats, part: int, rest: int, size: int) -> tuple[int, int]:
    """The first and the last point of a part's grid for which `total` less it is on that of the rest."""
    highest = (total - low[rest] - low[part]) / step[part]
    lowest = highest - (size - 1) * step[rest] / step[part]
    return int(max(0.0, np.ceil(lowest - BESIDE))), int(min(size - 1.0, np.floor(highest + BESIDE)))


@kernel
def _divided(
    total: float, width: float, mixture: Floats, low: Floats, step: Floats, below: Floats, part: int, rest: int
) -> float:
    """The likelihood of what was measured below, summed over all that a part may have that is less, by its width."""
    first, last = _on_both_grids(total, low, step, part, rest, below.shape[1])
    chance, up_to = (
        0.0,
        chance_up_to(mixture, as_if_equally_wide((low[part] + (first - 0.5) * step[part]) / total, width)),
    )
    for i in range(first, last + 1):
        value = low[part] + i * step[part]
        share = as_if_equally_wide((value + 0.5 * step[part]) / total, width)
        before, up_to = up_to, chance_up_to(mixture, share)
        chance += (up_to - before) * below[part, i] * value_at(below[rest], (total - value - low[rest]) / step[rest])
        if share >= 0.5:
            break
    return chance


@kernel
def pass_up(
    left: Ints,
    right: Ints,
    widths: Floats,
    weights: Floats,
    mixture: Floats,
    low: Floats,
    step: Floats,
    seen: Floats,
    below: Floats,
) -> None:
    """Fill `below`, leaves first. `seen`: the likelihood of what was measured of the node itself, a row a node."""
    nodes, size = seen.shape
    for node in range(nodes - 1, -1, -1):
        a, b = left[node], right[node]
        if a == NONE:
            below[node] = seen[node]
            _scale(below[node])
            continue
        width, even = widths[node], weights[0]
        for point in range(size):
            total = low[node] + point * step[node]
            if seen[node, point] <= 0.0:
                below[node, point] = 0.0
                continue
            if total <= 0.0:
                both = value_at(below[a], -low[a] / step[a]) * value_at(below[b], -low[b] / step[b])
                below[node, point] = both * seen[node, point]
                continue
            both = even * value_at(below[a], (width * total - low[a]) / step[a])
            both *= value_at(below[b], ((1.0 - width) * total - low[b]) / step[b])
            both += _divided(total, width, mixture, low, step, below, a, b)
            both += _divided(total, 1.0 - width, mixture, low, step, below, b, a)
            below[node, point] = both * seen[node, point]
        _scale(below[node])


@kernel
def pass_down(
    left: Ints,
    right: Ints,
    widths: Floats,
    weights: Floats,
    mixture: Floats,
    distributions: Floats,
    low: Floats,
    step: Floats,
    seen: Floats,
    below: Floats,
    means: Floats,
    variances: Floats,
    explained: Floats,
) -> None:
    """The posterior mean and variance of every node, left as they are where what was measured contradicts itself; and
    how many wholes each law explains.
    """
    nodes, size = seen.shape
    above = np.zeros((nodes, size))
    above[0] = 1.0
    above[0, 0] = above[0, size - 1] = 0.5  # a sum over an even grid is the integral if its ends count half
    onto, by_law = np.zeros(STEPS + 1), np.zeros(LAWS)
    for node in range(nodes):
        _scale(above[node])
        chance, mean, square = 0.0, 0.0, 0.0
        for point in range(size):
            here = above[node, point] * below[node, point]
            chance += here
            mean += here * point
            square += here * point**2
        if chance > LEAST_CHANCE:
            means[node] = low[node] + mean / chance * step[node]
            # Between two points nothing is known: 1/12.
            variances[node] = (max(square / chance - (mean / chance) ** 2, 0.0) + 1.0 / 12.0) * step[node] ** 2
        a, b = left[node], right[node]
        if a == NONE:
            continue
        width, even = widths[node], weights[0]
        onto[:], by_law[:] = 0.0, 0.0
        for point in range(size):
            given = above[node, point] * seen[node, point]
            if given <= 0.0:
                continue
            total = low[node] + point * step[node]
            if total <= 0.0:
                at_a, at_b = -low[a] / step[a], -low[b] / step[b]
                add_at(above[a], at_a, given * value_at(below[b], at_b))
                add_at(above[b], at_b, given * value_at(below[a], at_a))
                continue
            at_a, at_b = (width * total - low[a]) / step[a], ((1.0 - width) * total - low[b]) / step[b]
            in_a, in_b = value_at(below[a], at_a), value_at(below[b], at_b)
            add_at(above[a], at_a, given * even * in_b)
            add_at(above[b], at_b, given * even * in_a)
            by_law[0] += given * even * in_a * in_b
            _divide(given, total, width, mixture, low, step, below, above, onto, a, b)
            _divide(given, total, 1.0 - width, mixture, low, step, below, above, onto, b, a)
        for law in range(1, LAWS):
            by_law[law] = weights[law] * max(np.dot(distributions[law], onto), 0.0)
        if by_law.sum() > 0.0:
            explained += by_law / by_law.sum()


@kernel
def _divide(
    given: float,
    total: float,
    width: float,
    mixture: Floats,
    low: Floats,
    step: Floats,
    below: Floats,
    above: Floats,
    onto: Floats,
    part: int,
    rest: int,
) -> None:
    """The transpose of `_divided`: what a value of the whole, with the chance `given`, says of both parts.

    Each law explains Σ joint·(its chance from one bound to the next): what is times its chance up to a bound is
    gathered on the grid on which laws are tabulated.
    """
    first, last = _on_both_grids(total, low, step, part, rest, below.shape[1])
    share = as_if_equally_wide((low[part] + (first - 0.5) * step[part]) / total, width)
    up_to, joint = chance_up_to(mixture, share), 0.0
    for i in range(first, last + 1):
        value = low[part] + i * step[part]
        at_rest = (total - value - low[rest]) / step[rest]
        in_rest = value_at(below[rest], at_rest)
        before_joint, joint = joint, given * below[part, i] * in_rest
        _gather(onto, share, before_joint - joint)
        share = as_if_equally_wide((value + 0.5 * step[part]) / total, width)
        before, up_to = up_to, chance_up_to(mixture, share)
        here = given * (up_to - before)
        above[part, i] += here * in_rest
        add_at(above[rest], at_rest, here * below[part, i])
        if share >= 0.5:
            break
    _gather(onto, share, joint)


@kernel
def _gather(onto: Floats, share: float, weight: float) -> None:
    """Add so much of a distribution's value up to this share: the transpose of `chance_up_to`."""
    before, beyond = place_of(share)
    onto[before] += weight * (1.0 - beyond)
    onto[before + 1] += weight * beyond
