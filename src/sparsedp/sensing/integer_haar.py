"""Integer Haar sensing: left sum − right sum over every dyadic interval, and the total (Xiao et al. 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Integers, Numbers, float_vector
from sparsedp.jit import kernel
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole


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

    def apply(self, counts: Integers) -> Integers:
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

    def materialize(self) -> Integers:
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
