"""Integer Haar sensing: left sum − right sum over every dyadic interval, and the total (Xiao et al. 2010).

Of cells in a row by a compiled kernel; of tables along every ordered axis, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints, Numbers, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.jit import kernel
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole, yes_or_no

MOST_AXES = 32


class IntegerHaar(Sensing):
    """The Haar coefficients without their scaling: entries 0, +1, −1; n cells padded with public zeros to N = 2^L.

    N rows in heap order, as in `bases/haar.py`: row 0 is the total, row 2^j + b (0 ≤ b < 2^j) is left − right over the
    b-th of the 2^j equal intervals. The orthonormal coefficient is row 0 over √N and row 2^j + b over √(N/2^j).
    """

    name = "haar"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self.padded_size = 1 << (self.n - 1).bit_length()

    @property
    def rows(self) -> int:
        """N."""
        return self.padded_size

    def apply(self, counts: Ints) -> Ints:
        """The differences and the total, exact modulo 2⁶⁴."""
        differences = np.empty(self.padded_size, np.uint64)
        _differences(exact_counts(counts, self.n).view(np.uint64), differences)
        return differences.view(np.int64)

    def forward(self, signal: Floats) -> Floats:
        """The differences and the total."""
        differences = np.empty(self.padded_size)
        _differences(float_vector("signal", signal, self.n), differences)
        return differences

    def adjoint(self, values: Floats) -> Floats:
        """For each cell, the total plus the values where it is on the left, minus those where it is on the right."""
        return _signed_totals(float_vector("values", values, self.padded_size))[: self.n].copy()

    def materialize(self) -> Ints:
        """+1 and −1 on the two halves of each interval, entry by entry."""
        levels = self.padded_size.bit_length() - 1
        cells = np.arange(self.n)
        matrix = np.zeros((self.padded_size, self.n), np.int64)
        matrix[0] = 1
        for j in range(levels):
            width = self.padded_size >> j
            matrix[2**j + cells // width, cells] = np.where(cells % width < width // 2, 1, -1)
        return matrix

    @property
    def max_column_l1(self) -> int:
        """1 + log₂ N: each cell is in the total and in one interval of each length."""
        return self.padded_size.bit_length()

    @property
    def max_column_l2_squared(self) -> int:
        """1 + log₂ N."""
        return self.padded_size.bit_length()

    def describe(self) -> dict[str, Any]:
        """Name and cells."""
        return {"name": self.name, "n": self.n}


@kernel
def _differences(cells: Numbers, out: Numbers) -> None:
    size = len(out)
    sums = np.zeros(size, out.dtype)
    sums[: len(cells)] = cells
    half = size // 2
    while half >= 1:
        details = out[half : 2 * half]
        for i in range(half):
            left, right = sums[2 * i], sums[2 * i + 1]
            details[i] = left - right
            sums[i] = left + right
        half //= 2
    out[0] = sums[0]


@kernel
def _signed_totals(values: Floats) -> Floats:
    size = len(values)
    means, cells = np.empty(size), np.empty(size)
    cells[0] = values[0]
    half = 1
    while half < size:
        means, cells = cells, means
        details = values[half : 2 * half]
        for i in range(half):
            cells[2 * i] = means[i] + details[i]
            cells[2 * i + 1] = means[i] - details[i]
        half *= 2
    return cells


class IntegerHaarTable(Sensing):
    """Φ = Φ₁ ⊗ … ⊗ Φ_d over row-major cells: integer Haar along ordered axes, the identity along the others.

    Rows are a table of the axes' padded lengths, row-major too, in heap order along each ordered axis. An entry is the
    product of one entry of each factor, so it is 0, +1 or −1, and the norms of columns multiply.
    """

    name = "haar_table"

    def __init__(self, shape: Sequence[int], ordered: Sequence[bool]) -> None:
        if not isinstance(shape, Sequence) or not isinstance(ordered, Sequence) or isinstance(shape, str):
            raise InvalidInput(
                "shape", f"of type {type(shape).__name__}", "give one length, and one True or False, an axis"
            )
        if len(shape) > MOST_AXES:
            raise InvalidInput("shape", f"of {len(shape)} axes", f"give at most {MOST_AXES}")
        self.shape = tuple(whole("shape", length, most=MAX_CELLS) for length in shape)
        self.ordered = tuple(yes_or_no("ordered", flag) for flag in ordered)
        if not self.shape or len(self.shape) != len(self.ordered):
            raise InvalidInput("ordered", f"for {len(self.ordered)} axes", f"shape has {len(self.shape)}")
        self.n = prod(self.shape)
        self.padded_shape = tuple(
            1 << (length - 1).bit_length() if flag else length
            for length, flag in zip(self.shape, self.ordered, strict=True)
        )
        if self.rows > MAX_CELLS:
            given = f"{self.shape}, which is padded to {self.rows:,} cells"
            raise InvalidInput("shape", given, f"give at most {MAX_CELLS:,}")

    @property
    def rows(self) -> int:
        """The product of the padded lengths."""
        return prod(self.padded_shape)

    def apply(self, counts: Ints) -> Ints:
        """The differences of differences, exact modulo 2⁶⁴."""
        cells = exact_counts(counts, self.n).view(np.uint64).reshape(self.shape)
        return self._along_ordered(_differences_along, cells).view(np.int64)

    def forward(self, signal: Floats) -> Floats:
        """The differences of differences."""
        return self._along_ordered(_differences_along, float_vector("signal", signal, self.n).reshape(self.shape))

    def adjoint(self, values: Floats) -> Floats:
        """For each cell, the values of all rows it is in, with their signs."""
        table = float_vector("values", values, self.rows).reshape(self.padded_shape)
        return self._along_ordered(_signed_totals_along, table)

    def _along_ordered(self, transform: Callable[[Numbers, int], Numbers], table: Numbers) -> Numbers:
        for axis, (length, flag) in enumerate(zip(self.shape, self.ordered, strict=True)):
            if flag:
                table = np.moveaxis(transform(np.moveaxis(table, axis, 0), length), 0, axis)
        return table.flatten()

    def materialize(self) -> Ints:
        """The Kronecker product of the axes' matrices."""
        matrix = np.ones((1, 1), dtype=np.int64)
        for length, flag in zip(self.shape, self.ordered, strict=True):
            factor = IntegerHaar(length).materialize() if flag else np.eye(length, dtype=np.int64)
            matrix = np.kron(matrix, factor)
        return matrix

    @property
    def max_column_l1(self) -> int:
        """The product of 1 + log₂ of the padded lengths of the ordered axes: every column has as many entries."""
        return prod(length.bit_length() for length, flag in zip(self.padded_shape, self.ordered, strict=True) if flag)

    @property
    def max_column_l2_squared(self) -> int:
        """The same: entries are 0, +1 and −1."""
        return self.max_column_l1

    def describe(self) -> dict[str, Any]:
        """Name, shape, and which axes are ordered."""
        return {"name": self.name, "shape": list(self.shape), "ordered": list(self.ordered)}


def _differences_along(cells: Numbers, length: int) -> Numbers:
    """The total and the differences along the first axis, in heap order; unsigned integers wrap modulo 2⁶⁴."""
    size = 1 << (length - 1).bit_length()
    sums = np.zeros((size, *cells.shape[1:]), cells.dtype)
    sums[:length] = cells
    out = np.empty_like(sums)
    while len(sums) > 1:
        half = len(sums) // 2
        np.subtract(sums[0::2], sums[1::2], out=out[half : 2 * half])
        sums = sums[0::2] + sums[1::2]
    out[:1] = sums
    return out


def _signed_totals_along(values: Numbers, length: int) -> Numbers:
    """The transpose of `_differences_along`, cut to the real cells."""
    cells = values[:1]
    while len(cells) < len(values):
        half = len(cells)
        details = values[half : 2 * half]
        finer = np.empty((2 * half, *values.shape[1:]), values.dtype)
        np.add(cells, details, out=finer[0::2])
        np.subtract(cells, details, out=finer[1::2])
        cells = finer
    return cells[:length]
