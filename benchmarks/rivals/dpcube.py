"""DPCube, from its paper (Xiao, Xiong, Fan, Goryczka and Li, Transactions on Data Privacy 2014), to be compared with.

Half of ε measures a coarse grid (of single cells, in the paper), whose counts are spread evenly. What comes out is cut
in two again and again, where that lowers the sum of squares within the parts by more than another part costs. The other
half measures the parts' sums, which are spread evenly.

**Do not publish with it**: noise in floating point has known holes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from sparsedp.arrays import Floats, Ints

WIDTH = 11
"""Cells of the grid's squares along each axis: as in the published comparison."""


@dataclass(frozen=True)
class DpCube:
    """As a contender of `studies.accuracy`."""

    name: str = "DPCube"

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """All cells, in the counts' shape; rows and tables of two axes."""
        table = counts if counts.ndim == 2 else counts[None]  # a row is a table of one
        return dpcube(table.astype(np.float64), float(epsilon) / 2.0, np.random.default_rng()).reshape(counts.shape)


def dpcube(table: Floats, epsilon: float, random: np.random.Generator) -> Floats:
    """Every cell of a table, with twice that ε."""
    grid = np.empty_like(table)
    for square in squares(table.shape):
        cells = table[square]
        grid[square] = (cells.sum() + random.laplace(scale=1.0 / epsilon)) / cells.size
    values = np.empty_like(table)
    for part in parts(grid, 1.0 / epsilon):
        cells = table[part]
        values[part] = (cells.sum() + random.laplace(scale=1.0 / epsilon)) / cells.size
    return values


Box = tuple[slice, slice]


def squares(shape: tuple[int, ...]) -> list[Box]:
    """Of the grid."""
    rows, columns = ([slice(first, min(first + WIDTH, side)) for first in range(0, side, WIDTH)] for side in shape)
    return list(product(rows, columns))


def parts(table: Floats, cost: float) -> list[Box]:
    """Boxes that are not cut further; each is cut across its longer side, where that helps most."""
    sums, of_squares = (np.pad(each.cumsum(0).cumsum(1), ((1, 0), (1, 0))) for each in (table, table**2))

    def within(top: Ints, left: Ints, bottom: Ints, right: Ints) -> Floats:
        """The sum of squares about the mean, of boxes."""
        total, square = (
            each[bottom, right] - each[top, right] - each[bottom, left] + each[top, left] for each in (sums, of_squares)
        )
        return np.asarray(square - total**2 / ((bottom - top) * (right - left)))

    waiting, found = [(0, 0, *table.shape)], []
    while waiting:
        box = np.array(waiting.pop())
        top, left, bottom, right = box
        axis = 0 if bottom - top > right - left else 1
        cuts = np.arange(box[axis] + 1, box[axis + 2])
        if len(cuts):
            lower, upper = np.tile(box, (len(cuts), 1)), np.tile(box, (len(cuts), 1))
            lower[:, axis + 2] = upper[:, axis] = cuts
            costs = within(*lower.T) + within(*upper.T)
            best = int(np.argmin(costs))
            if costs[best] + cost < within(*box):
                waiting += [tuple(lower[best]), tuple(upper[best])]
                continue
        found.append((slice(top, bottom), slice(left, right)))
    return found
