"""Layers of sums over a table: each is a product of one coarsening per axis. Marginals, rhythms and cells are such.

A coarsening of an axis says which group each of its cells is in. The simplest are "cells", which joins none, and "all",
which joins all of them; a calendar has weekdays, categories have a declared hierarchy. One coarsening for every axis
cuts the table into groups that hold every cell once: a partition. So one person, who moves one cell by c, moves one sum
of a layer by c, whatever the layer is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole

MOST_LAYERS, MOST_AXES, MOST_COARSENINGS = 1000, 32, 16
"""The last: of one axis. A calendar has eight."""

CELLS, ALL = "cells", "all"

Coarsened = str | tuple[int, ...]
"""Of one axis: "cells", "all", or the group of every cell, numbered from 0 in the order in which they first occur."""

Layer = tuple[Coarsened, ...]
"""One coarsening for every axis."""

Kind = TypeVar("Kind", np.int64, np.float64)

_FEW = 16
"""Up to so many cells along an axis are added one after the other; numpy takes longer for short sums."""


def groups_along(coarsened: Coarsened, side: int) -> int:
    """How many groups an axis of so many cells has."""
    if isinstance(coarsened, str):
        return side if coarsened == CELLS else 1
    return max(coarsened) + 1


def refines(finer: Coarsened, coarser: Coarsened) -> bool:
    """Whether every group of the coarser one is made of whole groups of the finer one."""
    if finer in (coarser, CELLS) or coarser == ALL:
        return True
    if isinstance(finer, str) or isinstance(coarser, str):
        return False
    first: dict[int, int] = {}
    return all(first.setdefault(group, other) == other for group, other in zip(finer, coarser, strict=True))


def meet(one: Coarsened, other: Coarsened) -> Coarsened:
    """The coarsest that refines both: of weekdays and months, the Mondays of March."""
    if refines(one, other) or refines(other, one):
        return one if refines(one, other) else other
    return in_order_of_first_cells(np.unique(np.stack([one, other]), axis=1, return_inverse=True)[1].reshape(-1))


class Marginals(Sensing):
    """Φ has one row a group, its entries 0 and 1; the groups of a layer hold every cell once.

    `layers`: for each a coarsening per axis, as above; one may be measured twice. `ordered`: along which axes
    neighbours are alike. `coarsenings`: for each axis those that it has beside "cells" and "all", whether measured or
    not. The estimate may use both: they are public.
    """

    name = "marginals"

    def __init__(
        self,
        shape: Sequence[int],
        layers: Sequence[Sequence[str | Sequence[int]]],
        ordered: Sequence[bool],
        coarsenings: Sequence[Sequence[Sequence[int]]] | None = None,
    ) -> None:
        self.shape = tuple(whole("shape", side, most=MAX_CELLS) for side in shape)
        if not 1 <= len(self.shape) <= MOST_AXES:
            raise InvalidInput("shape", f"of {len(self.shape)} axes", f"give from 1 to {MOST_AXES}")
        self.n = whole("n", prod(self.shape), most=MAX_CELLS)
        self.ordered = tuple(bool(axis) for axis in ordered)
        if len(self.ordered) != len(self.shape):
            raise InvalidInput("ordered", f"of {len(self.ordered)} axes", f"give one for each of {len(self.shape)}")
        if not 1 <= len(layers) <= MOST_LAYERS:
            raise InvalidInput("layers", f"{len(layers)} of them", f"give from 1 to {MOST_LAYERS}")
        self.layers = tuple(self._checked(layer) for layer in layers)
        known = [()] * len(self.shape) if coarsenings is None else coarsenings
        if len(known) != len(self.shape) or max(map(len, known)) > MOST_COARSENINGS:
            given = f"of {len(known)} axes, {sum(map(len, known))} in all"
            would_do = f"give those of each of {len(self.shape)} axes, {MOST_COARSENINGS} of one at most"
            raise InvalidInput("coarsenings", given, would_do)
        self.coarsenings = tuple(
            tuple(_checked_coarsening(one, side) for one in several)
            for several, side in zip(known, self.shape, strict=True)
        )

    def _checked(self, layer: Sequence[str | Sequence[int]]) -> Layer:
        if isinstance(layer, str) or len(layer) != len(self.shape):
            raise InvalidInput(
                "layers", f"one of {len(layer)} axes", f"give a coarsening for each of {len(self.shape)}"
            )
        return tuple(_checked_coarsening(one, side) for one, side in zip(layer, self.shape, strict=True))

    def shape_of(self, layer: Layer) -> tuple[int, ...]:
        """Groups along each axis; 1 where all is one."""
        return tuple(groups_along(one, side) for one, side in zip(layer, self.shape, strict=True))

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the sums of each layer."""
        return [self.shape_of(layer) for layer in self.layers]

    @cached_property
    def rows(self) -> int:
        """The number of groups."""
        return sum(map(prod, self.shapes))

    def split(self, values: npt.NDArray[Kind]) -> list[npt.NDArray[Kind]]:
        """The values of each layer, in its shape."""
        ends = np.cumsum([prod(shape) for shape in self.shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(values, ends), self.shapes, strict=True)]

    def apply(self, counts: Ints) -> Ints:
        """The sums of all layers, exact modulo 2⁶⁴."""
        return joined(self.lattice.sums(exact_counts(counts, self.n).reshape(self.shape)))

    def forward(self, signal: Floats) -> Floats:
        """The same sums in floating point."""
        return joined(self.lattice.sums(float_vector("signal", signal, self.n).reshape(self.shape)))

    def adjoint(self, values: Floats) -> Floats:
        """To every cell the values of the groups it is in."""
        return self.lattice.spread(self.split(float_vector("values", values, self.rows))).reshape(-1)

    @cached_property
    def lattice(self) -> Lattice:
        """How the layers' sums follow from one another."""
        return Lattice(self.shape, self.layers)

    def materialize(self) -> Ints:
        """Φ as a matrix of zeros and ones."""
        rows = []
        for layer, shape in zip(self.layers, self.shapes, strict=True):
            numbers = [_numbers(one, side) for one, side in zip(layer, self.shape, strict=True)]
            for group in product(*map(range, shape)):
                inside = np.ones(self.shape, dtype=np.int64)
                for axis, (of_cells, wanted) in enumerate(zip(numbers, group, strict=True)):
                    inside *= (of_cells == wanted).reshape([-1 if axis == other else 1 for other in range(inside.ndim)])
                rows.append(inside.reshape(-1))
        return np.stack(rows)

    @property
    def max_column_l1(self) -> int:
        """Every cell is in one group of each layer."""
        return len(self.layers)

    @property
    def max_column_l2_squared(self) -> int:
        """The same: the entries are 0 and 1."""
        return len(self.layers)

    def describe(self) -> dict[str, Any]:
        """Name, shape, layers, and which axes are ordered."""
        layers = [[one if isinstance(one, str) else list(one) for one in layer] for layer in self.layers]
        known = [[one if isinstance(one, str) else list(one) for one in several] for several in self.coarsenings]
        plain = {"name": self.name, "shape": list(self.shape), "layers": layers, "ordered": list(self.ordered)}
        return {**plain, "coarsenings": known} if any(known) else plain


def in_order_of_first_cells(groups: npt.ArrayLike) -> tuple[int, ...]:
    """The groups of cells, numbered anew as layers have them."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(int(group), len(numbers)) for group in np.asarray(groups))


def in_runs(groups: Sequence[int]) -> bool:
    """Whether the cells of each group follow one another, as those of a month do and those of a weekday do not."""
    return bool((np.diff(groups) >= 0).all())


def _checked_coarsening(given: str | Sequence[int], side: int) -> Coarsened:
    if isinstance(given, str):
        if given not in (CELLS, ALL):
            raise InvalidInput("layers", repr(given), "say 'cells' or 'all', or give the group of every cell")
        return ALL if side == 1 else given
    groups = tuple(whole("layers", group, least=0, most=side - 1) for group in given)
    if len(groups) != side:
        raise InvalidInput("layers", f"groups of {len(groups)} cells", f"give the group of each of {side}")
    new = np.maximum.accumulate((-1, *groups))
    if any(group > last + 1 for group, last in zip(groups, new[:-1].tolist(), strict=True)):
        raise InvalidInput("layers", "groups in another order", "number them as they first occur")
    many = max(groups) + 1
    return ALL if many == 1 else CELLS if many == side else groups


def _numbers(coarsened: Coarsened, side: int) -> Ints:
    """The group of every cell."""
    if isinstance(coarsened, str):
        return np.arange(side) if coarsened == CELLS else np.zeros(side, dtype=np.int64)
    return np.array(coarsened, dtype=np.int64)


def _joining(finer: Coarsened, coarser: Coarsened, side: int) -> Ints | None:
    """The coarser group of each finer one; None for all in one."""
    if coarser == ALL:
        return None
    found = np.zeros(groups_along(finer, side), dtype=np.int64)
    found[_numbers(finer, side)] = _numbers(coarser, side)
    return found


def joined(parts: Sequence[npt.NDArray[Kind]]) -> npt.NDArray[Kind]:
    """Sums of layers, one after the other."""
    return np.concatenate([part.reshape(-1) for part in parts])


@dataclass(frozen=True, eq=False)
class _Step:
    """A coarsening of one axis, and the way back."""

    axis: int
    groups: Ints | None
    """Of every cell along the axis; None for all in one."""

    def sums(self, table: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """Over the groups."""
        if self.groups is None:
            return _total(table, self.axis)
        order = np.argsort(self.groups, kind="stable")
        starts = np.searchsorted(self.groups[order], np.arange(int(self.groups.max()) + 1))
        in_groups = table if (np.diff(order) == 1).all() else table.take(order, self.axis)
        return np.asarray(np.add.reduceat(in_groups, starts, self.axis))

    def spread(self, sums: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """To every cell its group's value; what is one for all is left to be broadcast."""
        return sums if self.groups is None else sums.take(self.groups, self.axis)


def _total(table: npt.NDArray[Kind], axis: int) -> npt.NDArray[Kind]:
    """Along an axis, which is kept with length 1."""
    side = table.shape[axis]
    if side > _FEW or axis == 0:
        return np.asarray(table.sum(axis=axis, keepdims=True))
    cuts = np.moveaxis(table, axis, 0)
    total = cuts[0].copy()
    for cut in cuts[1:]:
        total += cut
    return np.expand_dims(total, axis)


@dataclass(frozen=True, eq=False)
class _Node:
    """A layer that is passed through on the way to coarser ones; `places`: its numbers, if it is asked for."""

    places: list[int]
    ways: list[tuple[_Step, _Node]]


class Lattice:
    """All layers of a table at once: the sums of coarse ones are made of those of finer ones, not of the cells.

    From the table one axis after the other is coarsened, where it makes the table smallest; layers share the ways
    that they have in common. So many layers cost little more than one pass over the table for each axis.
    """

    def __init__(self, shape: tuple[int, ...], layers: Sequence[Layer]) -> None:
        self.shape, self.layers = shape, tuple(layers)
        self._root = self._node(tuple(CELLS if side > 1 else ALL for side in shape), list(range(len(layers))))

    def _node(self, here: Layer, places: list[int]) -> _Node:
        own = [place for place in places if self.layers[place] == here]
        ways: dict[tuple[int, Coarsened], list[int]] = {}
        for place in places:
            if place not in own:
                ways.setdefault(self._next(here, self.layers[place]), []).append(place)
        found = []
        for (axis, coarsened), there in ways.items():
            groups = None if coarsened == ALL else _numbers(coarsened, self.shape[axis])
            layer = (*here[:axis], coarsened, *here[axis + 1 :])
            found.append((_Step(axis, groups), self._node(layer, there)))
        return _Node(own, found)

    def _next(self, here: Layer, there: Layer) -> tuple[int, Coarsened]:
        """The axis whose coarsening makes the table smallest."""
        sizes = {
            axis: groups_along(to, self.shape[axis]) / self.shape[axis]
            for axis, (one, to) in enumerate(zip(here, there, strict=True))
            if one != to
        }
        axis = min(sizes, key=lambda each: sizes[each])
        return axis, there[axis]

    @cached_property
    def finer(self) -> list[list[int]]:
        """For each layer the numbers of those that refine it, its own among them."""
        every = list(enumerate(self.layers))
        return [[place for place, one in every if all(map(refines, one, layer))] for layer in self.layers]

    def shape_of(self, layer: Layer) -> tuple[int, ...]:
        """Groups along each axis; 1 where all is one."""
        return tuple(groups_along(one, side) for one, side in zip(layer, self.shape, strict=True))

    def to(self, table: npt.NDArray[Kind], layer: Layer) -> npt.NDArray[Kind]:
        """The sums of any one layer."""
        return self.between(table, tuple(CELLS if side > 1 else ALL for side in self.shape), layer)

    def between(self, sums: npt.NDArray[Kind], finer: Layer, coarser: Layer) -> npt.NDArray[Kind]:
        """The sums of a layer, given those of one that refines it."""
        for axis, (one, to) in enumerate(zip(finer, coarser, strict=True)):
            if one != to:
                sums = _Step(axis, _joining(one, to, self.shape[axis])).sums(sums)
        return sums

    def refined(self, values: npt.NDArray[Kind], coarser: Layer, finer: Layer) -> npt.NDArray[Kind]:
        """To every group of a layer the value of the coarser one's group that it is in."""
        for axis, (one, to) in enumerate(zip(finer, coarser, strict=True)):
            joining = None if one == to else _joining(one, to, self.shape[axis])
            if joining is not None:
                values = values.take(joining, axis)
        return np.broadcast_to(values, self.shape_of(finer))

    def from_layer(self, values: npt.NDArray[Kind], layer: Layer) -> npt.NDArray[Kind]:
        """To every cell its group's value, to be broadcast along axes that the layer leaves out."""
        for axis, one in enumerate(layer):
            if not isinstance(one, str):
                values = values.take(np.array(one), axis)
        return values

    def sums(self, table: npt.NDArray[Kind]) -> list[npt.NDArray[Kind]]:
        """Of every layer."""
        found: dict[int, npt.NDArray[Kind]] = dict(_down(self._root, table))
        return [found[place] for place in range(len(self.layers))]

    def spread(self, values: Sequence[npt.NDArray[Kind]]) -> npt.NDArray[Kind]:
        """To every cell the sum of the values of its groups."""
        table = _up(self._root, values)
        return np.ascontiguousarray(np.broadcast_to(table, self.shape))


def _down(node: _Node, table: npt.NDArray[Kind]) -> Iterator[tuple[int, npt.NDArray[Kind]]]:
    yield from ((place, table) for place in node.places)
    for step, below in node.ways:
        yield from _down(below, step.sums(table))


def _up(node: _Node, values: Sequence[npt.NDArray[Kind]]) -> npt.NDArray[Kind]:
    parts = [step.spread(_up(below, values)) for step, below in node.ways]
    parts += [values[place] for place in node.places]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
