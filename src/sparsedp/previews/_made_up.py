"""Made-up tables, and what a preview asks of every release of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes import Axis
from sparsedp.axes.base import Cells
from sparsedp.axes.domain import Domain

# Made-up shapes that a table of counts may have: public, repeatable, and drawn anew for every run.

_HUMPS = 5
_BLOCKS = 24
_EMPTY_BLOCKS = 1 / 6
"""The share of the blocks that hold nothing."""
_RISE = 100.0
"""Between the lowest and the highest block."""
_PEAKS = 1000.0
"""Between the smallest and the largest of the lone cells of a spiky table."""
_SHARES, _LINK = 0.7, 0.5
"""How much the logarithms of linked counts vary by one axis, and by one of the links between two neighbours."""
_LINKS = 2
"""Between two axes: with one alone, a single trend would say it all."""


def flat(domain: Domain, generator: np.random.Generator) -> Floats:
    """Every cell alike along the ordered axes."""
    return _over_categories(domain, np.ones(_sides(domain)), generator)


def smooth(domain: Domain, generator: np.random.Generator) -> Floats:
    """A few broad humps on a low floor."""
    weights = np.full(_sides(domain), 0.1)
    for _ in range(_HUMPS):
        weights += generator.uniform(0.3, 1) * _outer(
            [_hump(side, generator.uniform(0, 1), generator.uniform(0.05, 0.2)) for side in _sides(domain)]
        )
    return _over_categories(domain, weights, generator)


def steps(domain: Domain, generator: np.random.Generator) -> Floats:
    """About two dozen constant blocks between random edges, heights over two orders of magnitude; some are empty."""
    sides = _sides(domain)
    wide = sum(side > 1 for side in sides)
    pieces = [min(side, max(2, round(_BLOCKS ** (1 / wide)))) if side > 1 else 1 for side in sides]
    heights = np.exp(generator.uniform(0, np.log(_RISE), pieces))
    heights[generator.random(pieces) < _EMPTY_BLOCKS] = 0
    for axis, (side, count) in enumerate(zip(sides, pieces, strict=True)):
        edges = np.sort(generator.permutation(np.arange(1, side))[: count - 1])
        heights = np.repeat(heights, np.diff([0, *edges, side]), axis=axis)
    return _over_categories(domain, heights if heights.any() else heights + 1, generator)


def spiky(domain: Domain, generator: np.random.Generator) -> Floats:
    """About √n of the n cells hold everything, heights over three orders of magnitude; all others are empty."""
    weights = np.zeros(domain.size)
    peaks = round(domain.size**0.5)
    weights[generator.choice(domain.size, peaks, replace=False)] = np.exp(generator.uniform(0, np.log(_PEAKS), peaks))
    return weights.reshape(domain.shape)


def rough(domain: Domain, generator: np.random.Generator) -> Floats:
    """Every cell for itself: its neighbours say nothing about it."""
    return generator.exponential(size=domain.shape)


def linked(domain: Domain, generator: np.random.Generator) -> Floats:
    """Every axis has shares of its own, and depends on the axis before it: no table of sums follows from smaller ones.

    Along an ordered axis both change gradually.
    """
    weights = np.zeros(domain.shape)
    for place, axis in enumerate(domain.axes):
        weights += _along(domain, {place: _SHARES * _wave(axis, generator)})
        for _ in range(_LINKS if place else 0):
            before = _wave(domain.axes[place - 1], generator)
            weights += _along(domain, {place - 1: _LINK * before, place: _wave(axis, generator)})
    return np.asarray(np.exp(weights - weights.max()), dtype=np.float64)


SHAPES: dict[str, Callable[[Domain, np.random.Generator], Floats]] = {
    shape.__name__: shape for shape in (flat, smooth, steps, spiky, rough, linked)
}
ALIASES = {"unordered": "rough"}
ALL_SHAPES = tuple(SHAPES)
WITHOUT_ORDER = ("spiky", "rough", "linked")
"""Those that differ on a table without any ordered axis."""
LEAST_LINKED = 3
"""Axes from which on "linked" is tried unasked: two that depend on each other are a table as any other."""
_OF_SHAPES = {"flat": 0, "smooth": 1, "steps": 2, "spiky": 3, "rough": 4, "linked": 6}
_OF_COUNTS = 5
"""Seeds: every shape draws for itself, and the counts do."""


def shapes_for(domain: Domain) -> tuple[str, ...]:
    """Those that an unknown table may have."""
    shapes = ALL_SHAPES if any(axis.ordered and axis.length > 1 for axis in domain.axes) else WITHOUT_ORDER
    many = sum(axis.length > 1 for axis in domain.axes) >= LEAST_LINKED
    return tuple(shape for shape in shapes if many or shape != "linked")


def made_up_shares(shape: str, domain: Domain, draw: int) -> Floats:
    """Each cell's share of the whole in the `draw`-th table of that shape: the same on every machine."""
    generator = np.random.default_rng([_OF_SHAPES[shape], draw])
    weights = SHAPES[shape](domain, generator)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def made_up_counts(shares: Floats, total: int, draw: int) -> Ints:
    """Counts that add up to `total`, each of them falling into a cell by the shares."""
    generator = np.random.default_rng([_OF_COUNTS, draw])
    return generator.multinomial(total, shares.reshape(-1)).astype(np.int64).reshape(shares.shape)


def _sides(domain: Domain) -> tuple[int, ...]:
    """The table's shape, with a single cell for each axis that has no order."""
    return tuple(axis.length if axis.ordered else 1 for axis in domain.axes)


def _over_categories(domain: Domain, weights: Floats, generator: np.random.Generator) -> Floats:
    """Along an axis without order every label has a random share: uniform among all shares that add up to 1."""
    shares = [np.ones(1) if axis.ordered else generator.exponential(size=axis.length) for axis in domain.axes]
    return weights * _outer(shares) if prod(domain.shape) > weights.size else weights


def _hump(side: int, centre: float, width: float) -> Floats:
    places = (np.arange(side) + 0.5) / side
    return np.asarray(np.exp(-(((places - centre) / width) ** 2)), dtype=np.float64)


def _wave(axis: Axis, generator: np.random.Generator) -> Floats:
    """A random number for each cell of an axis, of mean square 1 on average; along an ordered axis a few waves."""
    if not axis.ordered:
        return np.asarray(generator.standard_normal(axis.length), dtype=np.float64)
    places = (np.arange(axis.length) + 0.5) / axis.length
    heights, turns = generator.standard_normal(_HUMPS), np.arange(1, _HUMPS + 1)
    angles = 2 * np.pi * (np.outer(places, turns) + generator.random(_HUMPS))
    return np.asarray(np.cos(angles) @ heights * (2 / _HUMPS) ** 0.5, dtype=np.float64)


def _along(domain: Domain, vectors: dict[int, Floats]) -> Floats:
    """Vectors multiplied along their axes of the table, and one cell on all others."""
    sides = [axis.length if place in vectors else 1 for place, axis in enumerate(domain.axes)]
    return _outer([vectors[place] for place in sorted(vectors)]).reshape(sides)


def _outer(vectors: list[Floats]) -> Floats:
    """The table whose entries are the products of one entry of each vector."""
    return reduce(np.multiply.outer, vectors)


# What a preview asks of every made-up release: its cells, boxes of a tenth of them, and the total.

ASKED = ("cell", "box", "total")
DRAWS_IN_A_RUN = (1000, 5, 1)
"""Roughly how many independent errors one release shows of each: boxes overlap and share noise."""
_BOXES = 100
_TENTH = 0.1


class Questions:
    """Every cell, a hundred boxes and the total of one domain. The boxes are the same each time.

    A box is a run of cells on every ordered axis and some labels of every other one, about a tenth of all cells.
    """

    def __init__(self, domain: Domain) -> None:
        generator = np.random.default_rng(0)
        sides = box_sides(domain.shape)
        self._boxes = [
            [_part(axis, side, generator) for axis, side in zip(domain.axes, sides, strict=True)] for _ in range(_BOXES)
        ]

    def squared_errors(self, counts: Ints, values: Floats) -> Floats:
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
    left = _TENTH * prod(shape)
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
