"""Cells of groups whose sums alone are known: what a group may hide, needless halvings undone, and slopes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.errors.haar_details import LEAST_NOISE
from sparsedp.estimation.shrinkage.mixture_prior import (
    COLUMNS,
    GAUSSIAN_FROM,
    GRID,
    VAGUE_WEIGHTS,
    Evidence,
    count,
    fit,
    noise_nodes,
    removed_share,
    tables,
)
from sparsedp.jit import kernel
from sparsedp.laws import LayersLaw
from sparsedp.sensing.cell_order import z_order

# How much a group of cells may hide: a private tree left it whole, so it saw no more than its decay.

DECAY = 2.7
"""Of a tree that is not on record, in deviations of the noise that the budget of all layers together would put on one
sum: at the shares that `mechanisms/_adaptive_shares.py` gives them, 2.4 to 2.9 under Laplace noise and 2.2 to 3.7
under Gaussian."""


@dataclass(frozen=True)
class Hidden:
    """What groups of n cells may hide, by the `decay` of the tree that chose them."""

    n: int
    decay: float

    def difference(self, sizes: Ints | int) -> Floats:
        """Between its halves, from which on a group of so many cells would rather have been halved than not: one decay,
        and one for every halving above it.
        """
        halvings = np.log2(np.maximum(self.n / np.asarray(sizes, dtype=np.float64), 1.0))
        return np.asarray(self.decay * (1.0 + halvings))


def hidden_by(law: LayersLaw) -> float:
    """The decay that a tree beside such layers had, about."""
    return DECAY * noise_together(law)


def noise_together(law: LayersLaw) -> float:
    """The deviation of the noise that the budget of all layers together would put on one sum, if it were Laplace's."""
    return float(1.0 / sum(1.0 / max(layer.variance, LEAST_NOISE) ** 0.5 for layer in law.layers))


# Chosen groups halved for nothing are joined again: empirical Bayes on how each half differs from an even split.
#
# The private tree halves a group when it *may* not be flat. Once the groups' sums are measured, each halving says how
# far it was needed: the left part's sum against its share of the whole by size, in deviations of the noise. All
# halvings together teach a prior (zero, or Gaussian of some scale), and every difference is replaced by its posterior
# mean.

PRIOR_COUNT = 4.0
"""How many halvings the vague prior (even odds that a halving was needless) counts for."""


def shrink_groups(starts: Ints, sums: Floats, variances: Floats, n: int) -> Floats:
    """The sums of the groups, shrunk towards flat halves; the total is kept.

    `starts` are the leaves of a tree of aligned halves over n cells in a row; `sums` have independent errors.
    """
    if len(starts) < 3:
        return sums.copy()
    ends = np.append(starts[1:], n)
    seen = np.zeros((1, len(GRID) + 1))
    _halve(starts, ends, sums, variances, n, np.zeros((len(GRID), COLUMNS)), seen, np.empty(len(sums)))
    evidence = Evidence.of(*noise_nodes(GAUSSIAN_FROM))
    weights = fit(seen[0, :-1], evidence, VAGUE_WEIGHTS, PRIOR_COUNT * VAGUE_WEIGHTS, 0.0)
    (table,) = tables(evidence, weights[None])
    shrunk = np.empty(len(sums))
    _halve(starts, ends, sums, variances, n, table, np.zeros_like(seen), shrunk)
    return shrunk


@kernel
def _halve(
    starts: Ints,
    ends: Ints,
    sums: Floats,
    variances: Floats,
    n: int,
    table: Floats,
    seen: Floats,
    out: Floats,
) -> None:
    """From the root down, split each whole between its halves; count the magnitudes of the differences in `seen`."""
    size = 1
    while size < n:
        size *= 2
    # A stack of wholes: the groups first … last − 1, the size of the aligned run they fill, and their total.
    firsts, lasts = np.empty(len(starts) + 64, np.int64), np.empty(len(starts) + 64, np.int64)
    sizes, totals = np.empty(len(starts) + 64, np.int64), np.empty(len(starts) + 64)
    above = np.concatenate((np.zeros(1), np.cumsum(variances)))
    running = np.concatenate((np.zeros(1), np.cumsum(sums)))
    firsts[0], lasts[0], sizes[0], totals[0] = 0, len(starts), size, running[-1]
    depth = 1
    while depth > 0:
        depth -= 1
        first, last, size, total = firsts[depth], lasts[depth], sizes[depth], totals[depth]
        if last - first == 1:
            out[first] = total
            continue
        half = size // 2
        middle_cell = starts[first] // size * size + half
        cells = last - first == size
        middle = first + (half if cells else np.searchsorted(starts[first:last], middle_cell))
        if middle == last:  # the right half is beyond the last cell
            firsts[depth], lasts[depth], sizes[depth], totals[depth] = first, last, half, total
            depth += 1
            continue
        left_sum, right_sum = running[middle] - running[first], running[last] - running[middle]
        left_var, right_var = above[middle] - above[first], above[last] - above[middle]
        both = max(left_var + right_var, 1e-300)
        left = left_sum + left_var / both * (total - left_sum - right_sum)
        deviation = max(np.sqrt(left_var * right_var / both), 1e-150)
        even = total * (middle_cell - starts[first]) / (ends[last - 1] - starts[first])
        score = (left - even) / deviation
        count(score, seen, 0)
        left -= removed_share(table, score) * score * deviation
        firsts[depth], lasts[depth], sizes[depth], totals[depth] = middle, last, half, total - left
        firsts[depth + 1], lasts[depth + 1], sizes[depth + 1], totals[depth + 1] = first, middle, half, left
        depth += 2


# Cells within groups whose sums alone are known: a slope where the groups on both sides agree on one, else flat.
#
# The geometric mean of the two slopes that the means of the groups before and after foretell, none if their signs
# differ: limited slopes, as van Leer's (1979), by the mean that is nearly right where counts fall off by the same
# factor from one group to the next. A slope is also less than what the tree that made the groups would have found, or
# it would have halved them: stairs that rise by more stay stairs. So do a step, a peak and a trough, and a ramp becomes
# a ramp. The sum of every group is kept, and no cell passes the means of the groups beside it: none becomes negative if
# no group is.


def sloped_cells(sums: Floats, sizes: Ints, unseen: Floats) -> Floats:
    """Every cell of groups in a row. `unseen`: the difference of halves that each may hide (`groups.py`)."""
    means = sums / sizes
    # The halves of m cells that rise by s from one to the next differ by s·m²/4.
    steepest = 4.0 * unseen / sizes.astype(np.float64) ** 2
    slopes = np.clip(_slopes(means, sizes), -steepest, steepest)
    first = np.cumsum(sizes) - sizes
    middles = np.repeat(first + 0.5 * (sizes - 1), sizes)
    return np.asarray(np.repeat(means, sizes) + np.repeat(slopes, sizes) * (np.arange(len(middles)) - middles))


def _slopes(means: Floats, sizes: Ints) -> Floats:
    """By which the cells of each group rise. The first and the last have no group beyond: they go on as the next."""
    if len(means) < 3:
        return np.zeros(len(means))
    apart = np.abs(np.diff(means))
    between = np.diff(means) / (0.5 * (sizes[1:] + sizes[:-1]))
    before, after = np.append(between[1], between), np.append(between, between[-2])
    nearer = np.minimum(np.append(np.inf, apart), np.append(apart, np.inf))
    slopes = np.minimum(np.sqrt(np.abs(before)) * np.sqrt(np.abs(after)), nearer / (0.5 * np.maximum(sizes - 1, 1)))
    # Nothing holds the outer cells of the first and of the last group but that they should not pass zero.
    ends = [0, -1]
    slopes[ends] = np.minimum(slopes[ends], np.abs(means[ends]) / (0.5 * sizes[ends]))
    return np.asarray(np.where(np.sign(before) == np.sign(after), np.sign(before) * slopes, 0.0))


# Cells within groups of a table whose sums alone are known: a slope along each axis where the groups on both sides
# agree on one, else flat.
#
# As in a row (`groups.py`): the geometric mean of the two slopes that the means of the groups before and after
# foretell, none if their signs differ. A group may have several on a side; their slopes count by how many cells they
# touch it with. The sum of every group is kept, and no cell passes zero.

ALONE = -1
"""What a cell has instead of the number of its group, if it is the only one in it: such a cell has no slope."""


def sloped_boxes(sums: Floats, starts: Ints, sides: tuple[int, ...]) -> Floats:
    """Every cell, along the row that `z_order` lays a table of these sides in, of groups that begin at `starts`."""
    n, curve = prod(sides), z_order(sides)
    sizes = np.diff(starts, append=n)
    means = sums / sizes
    flat = np.empty(n)
    flat[curve] = np.repeat(means, sizes)
    several = sizes > 1
    of_cell = np.empty(n, np.int64)
    of_cell[curve] = np.repeat(np.where(several, np.cumsum(several) - 1, ALONE), sizes)
    cells, stride = flat.copy(), n
    for side in sides:
        stride //= side
        lowest, highest, middles = _extents(of_cell, sizes[several], stride, side)
        slopes = _box_slopes(of_cell, flat, highest - lowest + 1, stride, side)
        # All axes together may take no cell below zero.
        reach = np.maximum(np.maximum(middles - lowest, highest - middles), 0.5) * len(sides)
        steepest = np.abs(means[several]) / reach
        _tilt(cells, of_cell, np.clip(slopes, -steepest, steepest), middles, stride, side)
    return np.asarray(cells[curve])


@kernel
def _extents(of_cell: Ints, sizes: Ints, stride: int, side: int) -> tuple[Ints, Ints, Floats]:
    """The first and the last place of each group's cells along an axis, and their mean."""
    groups = len(sizes)
    lowest, highest, middles = np.full(groups, side, np.int64), np.zeros(groups, np.int64), np.zeros(groups)
    for line in range(len(of_cell) // stride):
        place = line % side
        for i in range(line * stride, (line + 1) * stride):
            group = of_cell[i]
            if group != ALONE:
                lowest[group] = min(lowest[group], place)
                highest[group] = max(highest[group], place)
                middles[group] += place
    return lowest, highest, middles / sizes


@kernel
def _box_slopes(of_cell: Ints, flat: Floats, widths: Ints, stride: int, side: int) -> Floats:
    """By which each group rises from one cell to the next along an axis; not at all, if it has no next one. `flat`: the
    mean of the group of each cell.
    """
    groups = len(widths)
    rises, touching = np.zeros((2, groups)), np.zeros((2, groups), np.int64)
    for line in range(len(of_cell) // stride):
        if line % side == side - 1:
            continue
        for i in range(line * stride, (line + 1) * stride):
            before, after = of_cell[i], of_cell[i + stride]
            if before != after:
                width_before = widths[before] if before != ALONE else 1
                width_after = widths[after] if after != ALONE else 1
                rise = (flat[i + stride] - flat[i]) / (0.5 * (width_after + width_before))
                if width_before > 1:
                    rises[0, before] += rise
                    touching[0, before] += 1
                if width_after > 1:
                    rises[1, after] += rise
                    touching[1, after] += 1
    slopes = np.zeros(groups)
    for group in range(groups):
        if touching[0, group] and touching[1, group]:
            ahead, behind = rises[0, group] / touching[0, group], rises[1, group] / touching[1, group]
            if ahead * behind > 0.0:
                slopes[group] = np.sign(ahead) * np.sqrt(ahead * behind)
    return slopes


@kernel
def _tilt(cells: Floats, of_cell: Ints, slopes: Floats, middles: Floats, stride: int, side: int) -> None:
    """Cells that rise along an axis, in place."""
    for line in range(len(cells) // stride):
        for i in range(line * stride, (line + 1) * stride):
            group = of_cell[i]
            if group != ALONE:
                cells[i] += slopes[group] * (line % side - middles[group])
