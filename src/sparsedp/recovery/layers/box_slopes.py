"""Cells within groups of a table whose sums alone are known: a slope along each axis where the groups on both sides
agree on one, else flat.

As in a row (`group_slopes.py`): of the two slopes that the means of the groups before and after foretell, the lesser,
none if their signs differ. A group may have several on a side; their slopes count by how many cells they touch it with.
The sum of every group is kept, and no cell passes zero.
"""

from __future__ import annotations

from math import prod

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel
from sparsedp.sensing.cell_order import z_order


def sloped_boxes(sums: Floats, starts: Integers, sides: tuple[int, ...]) -> Floats:
    """Every cell, along the row that `z_order` lays a table of these sides in, of groups that begin at `starts`."""
    n, curve = prod(sides), z_order(sides)
    sizes = np.diff(starts, append=n)
    means = sums / sizes
    of_cell = np.empty(n, np.int64)
    of_cell[curve] = np.repeat(np.arange(len(starts)), sizes)
    cells = means[of_cell]
    stride = n
    for side in sides:
        stride //= side
        lowest, highest, middles = _extents(of_cell, sizes, stride, side)
        slopes = _slopes(of_cell, means, highest - lowest + 1, stride, side)
        # All axes together may take no cell below zero.
        reach = np.maximum(np.maximum(middles - lowest, highest - middles), 0.5) * len(sides)
        steepest = np.abs(means) / reach
        _tilt(cells, of_cell, np.clip(slopes, -steepest, steepest), middles, stride, side)
    return np.asarray(cells[curve])


@kernel
def _extents(of_cell: Integers, sizes: Integers, stride: int, side: int) -> tuple[Integers, Integers, Floats]:
    """The first and the last place of each group's cells along an axis, and their mean."""
    groups = len(sizes)
    lowest, highest, middles = np.full(groups, side, np.int64), np.zeros(groups, np.int64), np.zeros(groups)
    for line in range(len(of_cell) // stride):
        place = line % side
        for i in range(line * stride, (line + 1) * stride):
            group = of_cell[i]
            lowest[group] = min(lowest[group], place)
            highest[group] = max(highest[group], place)
            middles[group] += place
    return lowest, highest, middles / sizes


@kernel
def _slopes(of_cell: Integers, means: Floats, widths: Integers, stride: int, side: int) -> Floats:
    """By which each group rises from one cell to the next along an axis; not at all, if it has no next one."""
    groups = len(means)
    rises, touching = np.zeros((2, groups)), np.zeros((2, groups), np.int64)
    for line in range(len(of_cell) // stride):
        if line % side == side - 1:
            continue
        for i in range(line * stride, (line + 1) * stride):
            before, after = of_cell[i], of_cell[i + stride]
            if before != after:
                rise = (means[after] - means[before]) / (0.5 * (widths[after] + widths[before]))
                if widths[before] > 1:
                    rises[0, before] += rise
                    touching[0, before] += 1
                if widths[after] > 1:
                    rises[1, after] += rise
                    touching[1, after] += 1
    slopes = np.zeros(groups)
    for group in range(groups):
        if touching[0, group] and touching[1, group]:
            ahead, behind = rises[0, group] / touching[0, group], rises[1, group] / touching[1, group]
            if ahead * behind > 0.0:
                slopes[group] = np.sign(ahead) * min(abs(ahead), abs(behind))
    return slopes


@kernel
def _tilt(cells: Floats, of_cell: Integers, slopes: Floats, middles: Floats, stride: int, side: int) -> None:
    """Cells that rise along an axis, in place."""
    for line in range(len(cells) // stride):
        for i in range(line * stride, (line + 1) * stride):
            group = of_cell[i]
            cells[i] += slopes[group] * (line % side - middles[group])
