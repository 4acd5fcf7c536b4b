"""Bounds of linear queries from noisy marginals (guaranteed.md): least squares over any set of layers of a table.

A query's weights are the same in many cells: a marginal's do not depend on the axes that are summed over, a box has two
kinds of cells on each axis. Layers do not tell such cells apart either, unless one has declared groups of that axis.
So cells that are alike are taken together, and the system is small, whatever the size of the table is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.bounds import Bound, Bounds
from sparsedp.estimation.least_squares import LEAST
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.laws import LayersLaw
from sparsedp.sensing.marginals import ALL, CELLS, Coarsened, Layer, Marginals, groups_along

DETERMINED = 1e-7
"""How far a combination may be off the query's weights, in parts of the largest one, to be taken for it."""

MOST_DENSE, MOST_PRODUCTS = 400, 300
"""Systems of so many unknowns are solved at once, larger ones by so many steps of conjugate gradients at most."""

UNSEEN, STRAYED = 1e-14, 1e6
"""Signs that there is no solution: a direction of so little curvature, which no layer sees; and squares of what is left
that are so many times what they have been.
"""

ALIKE = 1.25
"""Groups of sizes within this ratio, such as months, have sums with about the same noise."""

MOST_ENCLOSING = 8
"""Layers of which each may bound a query; each has a part of the chance to fail."""


@dataclass(frozen=True, eq=False)
class _Axis:
    """One axis with its cells in classes of such as are alike: the class of every cell, and how many each has."""

    of_cells: Ints
    counts: Floats

    @classmethod
    def apart(cls, side: int) -> _Axis:
        return cls(np.arange(side), np.ones(side))

    @classmethod
    def together(cls, side: int) -> _Axis:
        return cls(np.zeros(side, np.int64), np.array([float(side)]))

    @property
    def firsts(self) -> Ints:
        return np.unique(self.of_cells, return_index=True)[1]

    def grouped(self, groups: tuple[int, ...]) -> Ints:
        """The group of each class."""
        return np.asarray(groups)[self.firsts]

    def summed(self, table: Floats, axis: int) -> Floats:
        """Over the cells of each class."""
        if len(self.counts) == len(self.of_cells):
            return table
        if len(self.counts) == 1:
            return np.asarray(table.sum(axis=axis, keepdims=True))
        order = np.argsort(self.of_cells, kind="stable")
        starts = np.searchsorted(self.of_cells[order], np.arange(len(self.counts)))
        return np.asarray(np.add.reduceat(table.take(order, axis), starts, axis))


class LatticeSums:
    """Layers of sums, each a product of one coarsening an axis; counts are at least zero."""

    def __init__(self, sensing: Marginals, both: Floats, law: LayersLaw) -> None:
        """`both`: the noisy sums, and those of the published cells."""
        self._shape, self._layers, self._laws = sensing.shape, sensing.layers, law.layers
        self._sums = [np.stack(pair) for pair in zip(*map(sensing.split, both), strict=True)]
        self._precisions = [1.0 / max(each.variance, LEAST) for each in law.layers]
        self._groupings = [
            sorted({one for one in along if not isinstance(one, str)}) for along in zip(*sensing.layers, strict=True)
        ]

    def bounds(self, weights: Floats) -> Bounds:
        """By least squares, if the layers determine the query; else by the sums that enclose it."""
        table = np.ascontiguousarray(weights, np.float64).reshape(self._shape)
        axes = []
        for axis in range(len(self._shape)):
            axes.append(_alike(table, axis, self._groupings[axis]))
            table = table.take(axes[-1].firsts, axis)
        solved = self._solved(axes, table)
        return Bounds(*self._enclosing(axes, table)) if solved is None else Bounds.exactly(self._combined(axes, solved))

    def of_layer(self, layer: Layer) -> tuple[Floats, NoiseSum] | None:
        """Of all sums of a layer at once: by how much their estimates are beyond what was published, and the noise in
        one of them, the one with the most of some; None if they are not determined, or of groups of many sizes.

        Axes that the layer sums over, and no measured layer groups, are summed over first: what is left is small.
        """
        sizes = [np.bincount(one) for one in layer if not isinstance(one, str)]
        alike = all(each.max() <= ALIKE * each.min() for each in sizes)
        noise = self._most_noise(layer) if alike else None
        if noise is None:
            return None
        kept = [bool(groups) or one != ALL for groups, one in zip(self._groupings, layer, strict=True)]
        sides = tuple(side if one else 1 for side, one in zip(self._shape, kept, strict=True))
        halves, precisions, right = [], [], np.zeros(sides)
        for measured, sums, precision in zip(self._layers, self._sums, self._precisions, strict=True):
            beyond, many = sums[0] - sums[1], 1
            for axis, one in enumerate(measured):
                if one == CELLS and not kept[axis]:
                    beyond, many = beyond.sum(axis=axis, keepdims=True), many * self._shape[axis]
            apart = zip(measured, map(_Axis.apart, sides), kept, strict=True)
            halves.append([_half(one, axis) if keeps else None for one, axis, keeps in apart])
            precisions.append(precision / many)
            right += precisions[-1] * _spread(beyond, halves[-1], sides)
        found = _by_conjugate_gradients(lambda x: _applied(precisions, halves, x), right)
        groups = [_half(one, _Axis.apart(side)) for one, side in zip(layer, sides, strict=True)]
        return _reduced(found, [None if side == 1 else one for one, side in zip(groups, sides, strict=True)]), noise

    def _most_noise(self, layer: Layer) -> NoiseSum | None:
        """Of some sums of the layer; they all have the same, where no layer has groups."""
        shape = [groups_along(one, side) for one, side in zip(layer, self._shape, strict=True)]
        last = int(np.prod(shape)) - 1
        found = []
        for place in {0, last // 3, last} if any(self._groupings) else {0}:
            asked = np.zeros(shape)
            asked.flat[place] = 1.0
            found.append(self.bounds(_extent(asked, layer, [_Axis.apart(side) for side in self._shape])).exact)
        if any(one is None for one in found):
            return None
        return max((one.noise for one in found if one is not None), key=lambda noise: noise.variance)

    def _solved(self, axes: list[_Axis], wanted: Floats) -> Floats | None:
        """All layers' weights come from x: (Σ ΦᵀΦ/variance)·x = weights, each class times the root of its count.

        None if the layers do not determine the query.
        """
        roots = _outer([np.sqrt(axis.counts) for axis in axes])
        right = wanted * roots
        halves = [[_half(one, axis) for one, axis in zip(layer, axes, strict=True)] for layer in self._layers]
        applied = partial(_applied, self._precisions, halves)
        small = right.size <= MOST_DENSE
        found = self._dense(halves, right) if small else _by_conjugate_gradients(applied, right)
        off = float(np.abs(applied(found) - right).max())
        return found if off <= DETERMINED * float(np.abs(right).max(initial=LEAST)) else None

    def _dense(self, halves: list[list[Floats | None]], right: Floats) -> Floats:
        system = np.zeros((right.size, right.size))
        for precision, half in zip(self._precisions, halves, strict=True):
            grams = [np.eye(side) if one is None else one.T @ one for one, side in zip(half, right.shape, strict=True)]
            system += precision * _kron(grams)
        values, vectors = np.linalg.eigh(system)
        there = values > 1e-12 * values[-1]
        across = vectors[:, there].T @ right.reshape(-1)
        return np.asarray(vectors[:, there] @ (across / values[there])).reshape(right.shape)

    def _combined(self, axes: list[_Axis], solved: Floats) -> Bound:
        """The combination of all layers' noisy sums."""
        value, terms = 0.0, []
        for layer, law, sums, precision in zip(self._layers, self._laws, self._sums, self._precisions, strict=True):
            weights = precision * _reduced(solved, [_half(one, axis) for one, axis in zip(layer, axes, strict=True)])
            counts = _counts(layer, axes)
            weights = weights / np.sqrt(counts)
            value += float((_together(sums[0], layer, axes) * weights).sum())
            terms.append((law, weights.reshape(-1), counts.reshape(-1)))
        return Bound(value, NoiseSum(tuple(terms)))

    def _enclosing(self, axes: list[_Axis], wanted: Floats) -> tuple[tuple[Bound, ...], tuple[Bound, ...]]:
        """Of each layer, the sums that the query's cells are in, by the largest and by the least weight there."""
        found: tuple[list[tuple[float, Bound]], ...] = ([], [])
        sizes = _outer([axis.counts for axis in axes])
        for layer, law, sums in zip(self._layers, self._laws, self._sums, strict=True):
            counts, together = _counts(layer, axes), _together(sums[0], layer, axes)
            for most, side in zip((False, True), found, strict=True):
                weights = _extreme(wanted, layer, axes, most=most)
                noise = NoiseSum(((law, weights.reshape(-1), counts.reshape(-1)),))
                beyond = np.abs(_extent(weights, layer, axes) - wanted)
                bound = Bound(float((together * weights).sum()), noise)
                side.append((float((beyond * sizes).sum()), bound))
        return _nearest(found[0]), _nearest(found[1])


def _applied(precisions: list[float], halves: list[list[Floats | None]], x: Floats) -> Floats:
    parts = zip(precisions, halves, strict=True)
    return sum((one * _spread(_reduced(x, half), half, x.shape) for one, half in parts), np.zeros(x.shape))


def _by_conjugate_gradients(applied: Callable[[Floats], Floats], right: Floats) -> Floats:
    """The system has few different eigenvalues, and so it takes few steps."""
    found, residual = np.zeros(right.shape), right
    direction, size = residual, float((residual**2).sum())
    least, nearest = (0.1 * DETERMINED * float(np.abs(right).max(initial=LEAST))) ** 2, size
    for _ in range(MOST_PRODUCTS):
        if float((residual**2).max()) <= least or size > STRAYED * nearest:
            break
        image = applied(direction)
        curvature = float((direction * image).sum())
        if not curvature > UNSEEN * size:
            break  # what is left is not determined
        length = size / curvature
        found, residual = found + length * direction, residual - length * image
        last, size = size, float((residual**2).sum())
        nearest = min(nearest, size)
        direction = residual + size / last * direction
    return found


def _nearest(found: list[tuple[float, Bound]]) -> tuple[Bound, ...]:
    """The bounds that add or leave out the fewest cells: a public fact."""
    found.sort(key=lambda each: each[0])
    return tuple(bound for _, bound in found[:MOST_ENCLOSING])


def _alike(table: Floats, axis: int, groupings: Sequence[tuple[int, ...]]) -> _Axis:
    """The cells of an axis by their weights, and by their group in every layer that has some."""
    numbers: dict[tuple[bytes | int, ...], int] = {}
    rows = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
    of_cells = np.array(
        [
            numbers.setdefault((row.tobytes(), *groups), len(numbers))
            for row, *groups in zip(rows, *groupings, strict=True)
        ]
    )
    return _Axis(of_cells, np.bincount(of_cells).astype(np.float64))


def _half(one: Coarsened, axis: _Axis) -> Floats | None:
    """What sums over an axis, in classes weighed by the roots of their counts; None where nothing is summed."""
    if one == CELLS:
        return None
    if isinstance(one, str):
        return np.sqrt(axis.counts).reshape(1, -1)
    groups = axis.grouped(one)
    return np.asarray(np.arange(int(groups.max()) + 1)[:, None] == groups, np.float64) * np.sqrt(axis.counts)


def _reduced(x: Floats, half: list[Floats | None]) -> Floats:
    for axis, one in enumerate(half):
        if one is not None:
            x = np.moveaxis(np.tensordot(one, x, (1, axis)), 0, axis)
    return x


def _spread(x: Floats, half: list[Floats | None], shape: tuple[int, ...]) -> Floats:
    for axis, one in enumerate(half):
        if one is not None:
            x = np.moveaxis(np.tensordot(one.T, x, (1, axis)), 0, axis)
    return x.reshape(shape)


def _outer(parts: list[Floats]) -> Floats:
    return _kron(parts).reshape([len(part) for part in parts])


def _kron(parts: list[Floats]) -> Floats:
    found = np.ones((1,) * parts[0].ndim)
    for part in parts:
        found = np.asarray(np.kron(found, part), np.float64)
    return found


def _counts(layer: Layer, axes: list[_Axis]) -> Floats:
    """How many sums of a layer each class of them stands for."""
    along = []
    for one, axis in zip(layer, axes, strict=True):
        many = 1 if one == ALL else max(one) + 1 if not isinstance(one, str) else 0
        along.append(axis.counts if one == CELLS else np.ones(many))
    return _outer(along)


def _together(sums: Floats, layer: Layer, axes: list[_Axis]) -> Floats:
    """The noisy sums of a layer, added up over classes."""
    for place, (one, axis) in enumerate(zip(layer, axes, strict=True)):
        if one == CELLS:
            sums = axis.summed(sums, place)
    return sums


def _extreme(wanted: Floats, layer: Layer, axes: list[_Axis], *, most: bool) -> Floats:
    """The largest or least weight within each sum of a layer."""
    of = np.maximum if most else np.minimum
    for place, (one, axis) in enumerate(zip(layer, axes, strict=True)):
        if one == ALL:
            wanted = of.reduce(wanted, axis=place, keepdims=True)
        elif not isinstance(one, str):
            groups = axis.grouped(one)
            order = np.argsort(groups, kind="stable")
            starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
            wanted = of.reduceat(wanted.take(order, place), starts, axis=place)
    return wanted


def _extent(weights: Floats, layer: Layer, axes: list[_Axis]) -> Floats:
    """To every class of cells the weight of the sum that it is in."""
    for place, (one, axis) in enumerate(zip(layer, axes, strict=True)):
        if not isinstance(one, str):
            weights = weights.take(axis.grouped(one), place)
    return np.broadcast_to(weights, [len(axis.counts) for axis in axes])
