"""Cells within groups of a table whose sums alone are known: a slope along each axis where the groups on both sides
agree on one, else flat.

As in a row (`group_slopes.py`): the geometric mean of the two slopes that the means of the groups before and after
foretell, none if their signs differ. A group may have several on a side; their slopes count by how many cells they
touch it with. The sum of every group is kept, and no cell passes zero.
"""

from __future__ import annotations

from math import prod

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel
from sparsedp.sensing.cell_order import z_order

ALONE = -1
"""What a cell has instead of the number of its group, if it is the only one in it: such a cell has no slope."""


def sloped_boxes(sums: Floats, starts: Integers, sides: tuple[int, ...]) -> Floats:
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
        slopes = _slopes(of_cell, flat, highest - lowest + 1, stride, side)
        # All axes together may take no cell below zero.
        reach = np.maximum(np.maximum(middles - lowest, highest - middles), 0.5) * len(sides)
        steepest = np.abs(means[several]) / reach
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
            if group != ALONE:
                lowest[group] = min(lowest[group], place)
                highest[group] = max(highest[group], place)
                middles[group] += place
    return lowest, highest, middles / sizes


@kernel
def _slopes(of_cell: Integers, flat: Floats, widths: Integers, stride: int, side: int) -> Floats:
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
def _tilt(cells: Floats, of_cell: Integers, slopes: Floats, middles: Floats, stride: int, side: int) -> None:
    """Cells that rise along an axis, in place."""
    for line in range(len(cells) // stride):
        for i in range(line * stride, (line + 1) * stride):
            group = of_cell[i]
            if group != ALONE:
                cells[i] += slopes[group] * (line % side - middles[group])
