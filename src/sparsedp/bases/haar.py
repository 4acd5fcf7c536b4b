"""The Haar basis: piecewise-constant counts have few coefficients in it."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis, cells_or_padded
from sparsedp.bases.haar_transform import haar_analyze, haar_synthesize
from sparsedp.validate import MAX_CELLS, whole


class Haar(Basis):
    """Orthonormal Haar wavelets on n cells, padded with public zeros to `size` = N = 2^L.

    Coefficients are in heap order: [total, coarsest detail, …, finest details]. The 2^j coefficients 2^j … 2^(j+1) − 1
    are the differences (left half − right half) over the 2^j equal intervals of N/2^j cells, left to right; the
    children of i ≥ 1 are 2i and 2i + 1.
    """

    name = "haar"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self._size = 1 << (self.n - 1).bit_length()

    @property
    def size(self) -> int:
        """N: the least power of two that is at least n."""
        return self._size

    def analyze(self, signal: Floats) -> Floats:
        """Ψᵀ: n or N cells to N coefficients."""
        coefficients = np.empty(self._size)
        haar_analyze(cells_or_padded(self, signal), coefficients)
        return coefficients

    def synthesize(self, coefficients: Floats) -> Floats:
        """Ψ: N coefficients to n cells."""
        cells = np.empty(self.n)
        haar_synthesize(float_vector("coefficients", coefficients, self._size), cells)
        return cells

    @property
    def row_sum_bound(self) -> Fraction:
        """2^(−L/2) + Σ_{l=1..L} 2^(−l/2), rounded up by less than 10⁻³⁰: reached by every cell."""
        levels = self._size.bit_length() - 1
        bound = _inverse_root_of_power_above(levels)
        for exponent in range(1, levels + 1):
            bound += _inverse_root_of_power_above(exponent)
        return bound


def _inverse_root_of_power_above(exponent: int) -> Fraction:
    """A rational just above 2^(−exponent/2); exact for even exponents."""
    if exponent % 2 == 0:
        return Fraction(1, 1 << exponent // 2)
    root_of_two_above = Fraction(isqrt(2 << 240) + 1, 1 << 120)
    return root_of_two_above / (1 << (exponent + 1) // 2)
