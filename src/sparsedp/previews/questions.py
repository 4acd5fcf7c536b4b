"""What a preview asks of every made-up release: its cells, boxes of a tenth of them, and the total."""

from __future__ import annotations

from math import prod

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.axes import Axis
from sparsedp.axes.base import Cells
from sparsedp.domain import Domain

ASKED = ("cell", "box", "total")
DRAWS_IN_A_RUN = (1000, 5, 1)
"""Roughly how many independent errors one release shows of each: boxes overlap and share noise."""
BOXES = 100
TENTH = 0.1


class Questions:
    """Every cell, a hundred boxes and the total of one domain. The boxes are the same each time.

    A box is a run of cells on every ordered axis and some labels of every other one, about a tenth of all cells.
    """

    def __init__(self, domain: Domain) -> None:
        generator = np.random.default_rng(0)
        sides = box_sides(domain.shape)
        self._boxes = [
            [_part(axis, side, generator) for axis, side in zip(domain.axes, sides, strict=True)] for _ in range(BOXES)
        ]

    def squared_errors(self, counts: Integers, values: Floats) -> Floats:
        """The mean squared error of a cell, of a box, and that of the total."""
        off = values - counts
        boxes = np.array([_sum(off, box) for box in self._boxes])
        return np.array([np.mean(off**2), np.mean(boxes**2), off.sum() ** 2])


def cells_asked_for(domain: Domain) -> tuple[int, int, int]:
    """How many cells each question sums."""
    return 1, prod(box_sides(domain.shape)), domain.size


def box_sides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The sides of a box of about a tenth of the cells, its proportions those of the table.

    Short axes round a lot, so the longer ones, which come last, make up for it.
    """
    sides = [1] * len(shape)
    left = TENTH * prod(shape)
    by_length = sorted(range(len(shape)), key=lambda axis: shape[axis])
    for place, axis in enumerate(by_length):
        others = prod(shape[other] for other in by_length[place + 1 :])
        part = (left / (others * shape[axis])) ** (1 / (len(shape) - place))
        sides[axis] = min(shape[axis], max(1, round(part * shape[axis])))
        left /= sides[axis]
    return tuple(sides)


def _part(axis: Axis, side: int, generator: np.random.Generator) -> Cells:
    if axis.ordered:
        first = int(generator.integers(0, axis.length - side + 1))
        return slice(first, first + side)
    return np.sort(generator.choice(axis.length, side, replace=False)).astype(np.int64)


def _sum(off: Floats, box: list[Cells]) -> float:
    for axis, cells in enumerate(box):
        off = off[(slice(None),) * axis + (cells,)]
    return float(off.sum())
