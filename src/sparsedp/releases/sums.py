"""Which sums a marginal is made of: the cells of some axes, or of groups of them, summed over all else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.sensing.marginals import ALL, CELLS, Layer


@dataclass(frozen=True, eq=False)
class Part:
    """One axis of a marginal: an `axis` of the table by its number, cell by cell or in groups.

    `group_of` has the number of its group for each cell of that axis, of `length` groups; None leaves cells alone.
    """

    axis: int
    length: int
    group_of: Ints | None = None


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of a table of some `shape` that make a marginal, whose axes are the `parts`, in their order.

    Every cell adds to one sum. An axis may be named by several parts, such as its weekday and its hour; some of their
    combinations may then have no cell, and the sum 0.
    """

    shape: tuple[int, ...]
    parts: tuple[Part, ...]

    @classmethod
    def named(cls, domain: Domain, names: tuple[str, ...]) -> tuple[Sums, Domain]:
        """The sums that belong to names of axes and coarsenings, and the domain that they have."""
        if not names:
            remedy = f"name one of {', '.join(domain.names)}; the sum of all is `total`"
            raise InvalidInput("axes", "missing", remedy)
        found = [domain.part(name) for name in names]
        if len(set(names)) < len(names):
            raise InvalidInput("axes", "named twice", "name each axis once")
        axes = [domain.axes[place] if coarse is None else coarse.axis for place, coarse in found]
        parts = [
            Part(place, axis.length, None if coarse is None else coarse.group_of)
            for (place, coarse), axis in zip(found, axes, strict=True)
        ]
        return cls(domain.shape, tuple(parts)), Domain(axes)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The shape of the sums."""
        return tuple(part.length for part in self.parts)

    def of(self, cells: Floats) -> Floats:
        """The sums of a table's cells."""
        summed = cells.sum(axis=self._dropped, keepdims=True)
        for axis, groups in self._groups.items():
            summed = _added(summed, axis, groups, self._lengths[axis])
        return self.arranged(summed)

    def arranged(self, along_the_table: Floats) -> Floats:
        """Values of the sums, given along the axes of the table, in the order of the parts."""
        return np.ascontiguousarray(along_the_table.reshape(self._split).transpose(np.argsort(self._order)))

    @property
    def layer(self) -> Layer | None:
        """The same sums as a layer of the table; None where some of them have no cell."""
        if self.fewest == 0:
            return None
        plain = [ALL if axis in self._dropped or side == 1 else CELLS for axis, side in enumerate(self.shape)]
        return tuple(
            tuple(self._groups[axis].tolist()) if axis in self._groups else one for axis, one in enumerate(plain)
        )

    def spread(self, weights: Floats) -> Floats:
        """For each cell of the table, the weight of the sum that it adds to."""
        table = np.asarray(weights, np.float64).reshape(self.lengths).transpose(self._order).reshape(self._lengths)
        for axis, groups in self._groups.items():
            table = table.take(groups, axis=axis)
        return np.ascontiguousarray(np.broadcast_to(table, self.shape))

    @cached_property
    def fewest(self) -> int:
        """The least number of cells that any of the sums adds up."""
        sizes = [np.bincount(groups, minlength=self._lengths[axis]).min() for axis, groups in self._groups.items()]
        return prod(self.shape[axis] for axis in self._dropped) * prod(int(size) for size in sizes)

    # The table's axes one by one: each is summed over, left alone, or in groups of one or several parts.

    @cached_property
    def _order(self) -> list[int]:
        """The numbers of the parts in the order of the table's axes."""
        return sorted(range(len(self.parts)), key=lambda number: self.parts[number].axis)

    @property
    def _split(self) -> list[int]:
        return [self.parts[number].length for number in self._order]

    def _of_axis(self, axis: int) -> list[Part]:
        return [self.parts[number] for number in self._order if self.parts[number].axis == axis]

    @cached_property
    def _dropped(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if not self._of_axis(axis))

    @cached_property
    def _lengths(self) -> list[int]:
        """What is left of each axis of the table."""
        return [prod(part.length for part in self._of_axis(axis)) for axis in range(len(self.shape))]

    @cached_property
    def _groups(self) -> dict[int, Ints]:
        """The group of each cell along every axis that is in groups."""
        found: dict[int, Ints] = {}
        for axis, length in enumerate(self.shape):
            parts = self._of_axis(axis)
            if len(parts) > 1 or any(part.group_of is not None for part in parts):
                numbers = [np.arange(length) if part.group_of is None else part.group_of for part in parts]
                found[axis] = np.ravel_multi_index(tuple(numbers), tuple(part.length for part in parts))
        return found


def _added(table: Floats, axis: int, groups: Ints, length: int) -> Floats:
    """The sums of the groups along an axis; those that nothing is in are 0."""
    order = np.argsort(groups, kind="stable")
    met, starts = np.unique(groups[order], return_index=True)
    sums = np.add.reduceat(table.take(order, axis=axis), starts, axis=axis)
    if len(met) == length:
        return np.asarray(sums)
    every = np.zeros((*table.shape[:axis], length, *table.shape[axis + 1 :]))
    every[(slice(None),) * axis + (met,)] = sums
    return every
