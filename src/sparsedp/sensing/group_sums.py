"""Layers of sums: the cells, laid in a row, are cut into groups in several ways, and every group is summed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.sensing.cell_order import cell_order, separate_runs
from sparsedp.sensing.parts_of_blocks import AS_IT_WAS_MADE, from_letters, to_letters
from sparsedp.validate import MAX_CELLS, whole

MOST_LAYERS, MOST_AXES = 40, 32


def first_cells(groups: int | Ints, n: int) -> Ints:
    """Of the groups of a layer of n cells: blocks of so many, or as they are given."""
    return np.arange(0, n, groups, dtype=np.int64) if isinstance(groups, int) else groups


def sums_over(starts: Ints, row: Ints) -> Ints:
    """Of groups of cells in a row, given the first cell of each; exact modulo 2⁶⁴."""
    return row.copy() if len(starts) == len(row) else np.add.reduceat(row, starts)


class GroupSums(Sensing):
    """Φ has one row a group, its entries 0 and 1; the groups of a layer hold every cell once.

    A layer is a whole number b (groups of b cells, the last one being what is left) or the list of its groups' first
    cells; the finest may be a text, with one letter for each block of the layer above (`parts_of_blocks.py`). Each
    layer's groups are made of whole groups of the layer before it. The row follows `cell_order`; a table is given by
    its `shape` and by which axes are `ordered`.
    """

    name = "group_sums"

    def __init__(
        self,
        n: int,
        layers: Sequence[int | str | Sequence[int] | Ints],
        shape: Sequence[int] | None = None,
        ordered: Sequence[bool] | None = None,
        curve: str | None = None,
    ) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self.shape = (self.n,) if shape is None else tuple(whole("shape", side) for side in shape)
        self.ordered = (True,) * len(self.shape) if ordered is None else tuple(bool(axis) for axis in ordered)
        if len(self.shape) > MOST_AXES:
            raise InvalidInput("shape", f"of {len(self.shape)} axes", f"give at most {MOST_AXES}")
        if prod(self.shape) != self.n or len(self.ordered) != len(self.shape):
            raise InvalidInput("shape", f"{self.shape}", f"give the sides of a table of {self.n} cells")
        if curve not in (None, self.curve):
            raise InvalidInput("curve", f"{curve!r}", "give the synopsis as it was made")
        if not 1 <= len(layers) <= MOST_LAYERS:
            raise InvalidInput("layers", f"{len(layers)} of them", f"give from 1 to {MOST_LAYERS}")
        if any(isinstance(layer, str) for layer in layers[1:]):
            raise InvalidInput("layers", "letters above the finest layer", AS_IT_WAS_MADE)
        finest, *coarser_ones = layers
        if isinstance(finest, str):
            finest = from_letters(finest, coarser_ones[0] if coarser_ones else None, self.n)
        self._listed = not isinstance(finest, int | np.ndarray)
        self.groups = [self._checked(layer) for layer in (finest, *coarser_ones)]  # type: ignore[arg-type]
        for finer, coarser in pairwise(range(len(layers))):
            if not self._nested(finer, coarser):
                raise InvalidInput("layers", "cutting through groups of the layer before", "give them finest first")

    def _checked(self, layer: int | Sequence[int] | Ints) -> int | Ints:
        """How many cells its groups have, or the first of each."""
        if isinstance(layer, int):
            return whole("layers", layer, most=MAX_CELLS)
        if not isinstance(layer, np.ndarray) and not (
            set(map(type, layer)) == {int} and 0 <= min(layer) <= max(layer) < self.n
        ):
            layer = [whole("layers", start, least=0, most=self.n - 1) for start in layer]
        if isinstance(layer, np.ndarray) and (layer.ndim != 1 or not np.issubdtype(layer.dtype, np.integer)):
            raise InvalidInput("layers", "an array of something else", "give whole numbers in a row")
        starts = np.array(layer, np.int64)
        if len(starts) == 0 or starts[0] != 0 or (np.diff(starts) <= 0).any() or starts[-1] >= self.n:
            raise InvalidInput("layers", "first cells that do not rise from 0", "give where each group begins")
        return starts

    def _nested(self, finer: int, coarser: int) -> bool:
        """Whether the coarser layer's groups begin where groups of the finer one do."""
        size, other = self.groups[finer], self.groups[coarser]
        if isinstance(size, int):
            if isinstance(other, int):
                return other % size == 0 or other >= self.n
            return not (other % size).any()
        if isinstance(other, int) and -(-self.n // other) > len(size):
            return False
        begins = first_cells(other, self.n)
        return bool((size[np.searchsorted(size, begins, side="right") - 1] == begins).all())

    @cached_property
    def layers(self) -> list[int | list[int]]:
        """How the layers are described: how many cells the groups of each have, or the first of each."""
        return [groups if isinstance(groups, int) else groups.tolist() for groups in self.groups]

    @cached_property
    def starts(self) -> list[Ints]:
        """The first cells of the groups of each layer."""
        return [first_cells(groups, self.n) for groups in self.groups]

    @cached_property
    def order(self) -> Ints | None:
        """Which cell is where in the row; None if they are as they were."""
        return cell_order(self.shape, self.ordered)

    @property
    def run(self) -> int:
        """How many cells in a row are neighbours: the row is made of runs of that many, apart from one another."""
        return separate_runs(self.shape, self.ordered)

    @property
    def ordered_sides(self) -> tuple[int, ...]:
        """Of the ordered axes that are longer than one cell."""
        return tuple(side for side, ordered in zip(self.shape, self.ordered, strict=True) if ordered and side > 1)

    @property
    def curve(self) -> str | None:
        """How the row runs through a table whose sides are not alike: a description that does not say so is of another
        order, and its sums would be put into wrong cells.
        """
        return "proportional" if len({(side - 1).bit_length() for side in self.ordered_sides}) > 1 else None

    @property
    def is_table(self) -> bool:
        """Whether there are neighbours along more than one axis."""
        return len(self.ordered_sides) > 1

    @property
    def in_parts_of_blocks(self) -> bool:
        """Whether the finest groups are parts of blocks, of some sizes; cells alone are not."""
        return len(self.groups) > 1 and not isinstance(self.groups[0], int) and isinstance(self.groups[1], int)

    @cached_property
    def rows(self) -> int:
        """The number of groups."""
        return sum(-(-self.n // each) if isinstance(each, int) else len(each) for each in self.groups)

    def split(self, values: Floats) -> list[Floats]:
        """The values of each layer."""
        return np.split(values, np.cumsum([len(starts) for starts in self.starts])[:-1])

    def apply_layer(self, row: Ints, layer: int) -> Ints:
        """The sums of one layer, of cells already in a row (`in_a_row`)."""
        return sums_over(self.starts[layer], row)

    def in_a_row(self, cells: Any) -> Any:
        """Cells numbered row by row, laid in the row."""
        return cells if self.order is None else cells[self.order]

    def out_of_row(self, row: Floats) -> Floats:
        """The inverse of `in_a_row`."""
        if self.order is None:
            return row
        cells = np.empty_like(row)
        cells[self.order] = row
        return cells

    def apply(self, counts: Ints) -> Ints:
        """The sums of all layers, exact modulo 2⁶⁴."""
        row = self.in_a_row(exact_counts(counts, self.n))
        return np.concatenate([self.apply_layer(row, layer) for layer in range(len(self.starts))])

    def forward(self, signal: Floats) -> Floats:
        """The same sums in floating point."""
        row = self.in_a_row(float_vector("signal", signal, self.n))
        return np.concatenate([np.add.reduceat(row, starts) for starts in self.starts])

    def adjoint(self, values: Floats) -> Floats:
        """To every cell the values of the groups it is in."""
        row = np.zeros(self.n)
        for starts, layer in zip(self.starts, self.split(float_vector("values", values, self.rows)), strict=True):
            row += np.repeat(layer, np.diff(starts, append=self.n))
        return self.out_of_row(row)

    def materialize(self) -> Ints:
        """Φ as a matrix of zeros and ones."""
        matrix = np.zeros((self.rows, self.n), dtype=np.int64)
        order = np.arange(self.n) if self.order is None else self.order
        group = -1
        for starts in self.starts:
            ends = [*starts[1:].tolist(), self.n]
            for start, end in zip(starts.tolist(), ends, strict=True):
                group += 1
                matrix[group, order[start:end]] = 1
        return matrix

    @property
    def max_column_l1(self) -> int:
        """Every cell is in one group of each layer."""
        return len(self.groups)

    @property
    def max_column_l2_squared(self) -> int:
        """The same: the entries are 0 and 1."""
        return len(self.groups)

    def describe(self) -> dict[str, Any]:
        """Name, cells and layers; of a table also its shape, which axes are ordered, and how the row runs."""
        layers = [self._described(layer) for layer in range(len(self.groups))]
        plain = {"name": self.name, "n": self.n, "layers": layers}
        if self.shape == (self.n,) and self.ordered == (True,):
            return plain
        described = {**plain, "shape": list(self.shape), "ordered": list(self.ordered)}
        return described if self.curve is None else {**described, "curve": self.curve}

    def _described(self, layer: int) -> int | str | list[int]:
        """The finest one in letters, if its groups are parts of the blocks above, unless it was given as a list: the
        same file says the same after it was opened.
        """
        groups = self.groups[layer]
        if isinstance(groups, int):
            return groups
        above = self.groups[1] if layer == 0 and not self._listed and len(self.groups) > 1 else None
        letters = to_letters(groups, above, self.n) if isinstance(above, int) else None
        if letters is not None:
            return letters
        found: list[int] = groups.tolist()
        return found

    def __hash__(self) -> int:
        return hash((self.n, self.shape, self.ordered, len(self.groups), self.rows))
