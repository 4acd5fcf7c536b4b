"""The order in which the cells of a table are laid in a row, so that neighbours in the table are near in the row.

Cells that differ on an unordered axis are never neighbours: those axes vary slowest. Along the ordered axes the row
follows the Z-order curve: the bits of the coordinates, interleaved, the highest ones together. So every aligned run of
2^j cells is a box of about the table's own proportions, or a piece of a line, wherever the sides are powers of two: in
a table of 512 days and 32 hours there are sixteen days to an hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from sparsedp.arrays import Ints

MOST_KEPT = 2**22
"""Cells of the longest order that is kept."""

MOST_SLOTS = 8
"""To a cell: sides that are not powers of two leave some empty."""


def cell_order(shape: Sequence[int], ordered: Sequence[bool]) -> Ints | None:
    """`order[i]` is the number, row by row, of the i-th cell in the row; None where that is i itself."""
    smooth = [axis for axis, is_ordered in enumerate(ordered) if is_ordered and shape[axis] > 1]
    if len(shape) == 1:
        return None
    apart = [axis for axis in range(len(shape)) if axis not in smooth]
    numbers = np.arange(prod(shape), dtype=np.int64)
    order = z_order([shape[axis] for axis in smooth])
    if len(order) < len(numbers):
        tables = np.moveaxis(numbers.reshape(shape), apart, range(len(apart)))
        order = np.ascontiguousarray(tables.reshape(-1, len(order))[:, order]).reshape(-1)
    return None if np.array_equal(order, numbers) else order


def separate_runs(shape: Sequence[int], ordered: Sequence[bool]) -> int:
    """How many cells in a row are neighbours of one another: as many as the ordered axes have together."""
    return prod(length for length, is_ordered in zip(shape, ordered, strict=True) if is_ordered)


def _interleaved(sides: Sequence[int]) -> list[tuple[int, int]]:
    """The axes and their bits, lowest of the code first: an axis has none among the lowest if it is shorter."""
    lengths = [(side - 1).bit_length() for side in sides]
    most = max(lengths)
    return [
        (axis, depth - most + lengths[axis])
        for depth in range(most)
        for axis in reversed(range(len(sides)))
        if depth >= most - lengths[axis]
    ]


def box_of(sides: Sequence[int], cells: int) -> list[int]:
    """The sides of the box that the first `cells` along the Z-order curve are, a power of two, in a table large enough.

    Exactly, where the sides are powers of two.
    """
    box = [1] * len(sides)
    for axis, _ in _interleaved(sides):
        if prod(box) < cells:
            box[axis] *= 2
    return box


def z_order(sides: Sequence[int]) -> Ints:
    """The cells of a table of ordered axes, in the order of their interleaved bits; not to be written to.

    The last order is kept, unless it is long: one release needs the same one several times.
    """
    order = _kept(tuple(sides)) if prod(sides) <= MOST_KEPT else _made(tuple(sides))
    order.flags.writeable = False
    return order


@lru_cache(maxsize=1)
def _kept(sides: tuple[int, ...]) -> Ints:
    return _made(sides)


def _made(sides: tuple[int, ...]) -> Ints:
    """The cells of a table of ordered axes, sorted by their interleaved bits; of one axis, as they are."""
    cells = prod(sides)
    if len(sides) < 2:
        return np.arange(cells, dtype=np.int64)
    codes = np.zeros(sides, dtype=np.int64)
    bits = _interleaved(sides)
    for place, (axis, bit) in enumerate(bits):
        index = np.arange(sides[axis], dtype=np.int64).reshape([-1 if a == axis else 1 for a in range(len(sides))])
        codes += ((index >> bit) & 1) << place
    if (1 << len(bits)) > MOST_SLOTS * cells:
        return np.argsort(codes.reshape(-1), kind="stable").astype(np.int64)
    # A slot a code: sorting without comparing.
    slots = np.full(1 << len(bits), -1, dtype=np.int64)
    slots[codes.reshape(-1)] = np.arange(cells, dtype=np.int64)
    return slots if len(slots) == cells else slots[slots >= 0]
