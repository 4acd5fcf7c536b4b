"""Cells within groups of a table whose sums alone are known: a slope along each axis where the groups on both sides
agree on one, else flat.

As in a row (`group_slopes.py`): of the two slopes that the means of the groups before and after foretell, the lesser,
none if their signs differ. A group may have several on a side; along its edge their slopes count by how many cells they
touch it with. The sum of every group is kept, and no cell passes zero.
"""

from __future__ import annotations

from math import prod

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.sensing.cell_order import z_order


def sloped_boxes(sums: Floats, starts: Integers, sides: tuple[int, ...]) -> Floats:
    """Every cell, along the row that `z_order` lays a table of these sides in, of groups that begin at `starts`."""
    n, curve = prod(sides), z_order(sides)
    sizes = np.diff(starts, append=n)
    means = sums / sizes
    of_cell = np.repeat(np.arange(len(starts)), sizes)
    table = np.empty(n, np.int64)
    table[curve] = of_cell
    table = table.reshape(sides)
    cells = np.repeat(means, sizes)
    for axis, place in enumerate(np.unravel_index(curve, sides)):
        lowest, highest = np.minimum.reduceat(place, starts), np.maximum.reduceat(place, starts)
        middles = np.add.reduceat(place, starts) / sizes
        before, after = np.swapaxes(table, 0, axis)[:-1].reshape(-1), np.swapaxes(table, 0, axis)[1:].reshape(-1)
        slopes = _slopes(means, highest - lowest + 1, before, after)
        # All axes together may take no cell below zero.
        reach = np.maximum(np.maximum(middles - lowest, highest - middles), 0.5) * len(sides)
        slopes = np.clip(slopes, -np.abs(means) / reach, np.abs(means) / reach)
        cells += slopes[of_cell] * (place - middles[of_cell])
    return cells


def _slopes(means: Floats, widths: Integers, before: Integers, after: Integers) -> Floats:
    """By which each group rises along an axis; `before` and `after`: the groups of all cells side by side along it."""
    apart = before != after
    before, after = before[apart], after[apart]
    rises = (means[after] - means[before]) / (0.5 * (widths[after] + widths[before]))
    groups = len(means)
    ahead, behind = (
        np.bincount(side, rises, groups) / np.maximum(np.bincount(side, minlength=groups), 1)
        for side in (before, after)
    )
    least = np.minimum(np.abs(ahead), np.abs(behind))
    return np.asarray(np.where(ahead * behind > 0.0, np.sign(ahead) * least, 0.0))
