"""The cosine basis: smooth and periodic counts have few coefficients in it."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis
from sparsedp.validate import MAX_CELLS, whole

PI_BELOW = Fraction(314159265358979, 10**14)


class Cosine(Basis):
    """The orthonormal DCT-II of any n: ψ₀ = 1/√n, ψᵢ[j] = √(2/n)·cos(π i (2j + 1) / 2n); lowest frequency first."""

    name = "cosine"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)

    def analyze(self, signal: Floats) -> Floats:
        """The DCT-II of n cells."""
        from scipy.fft import dct

        return np.asarray(dct(float_vector("signal", signal, self.n), norm="ortho"))

    def synthesize(self, coefficients: Floats) -> Floats:
        """Its inverse."""
        from scipy.fft import idct

        return np.asarray(idct(float_vector("coefficients", coefficients, self.n), norm="ortho"))

    @property
    def row_sum_bound(self) -> Fraction:
        """1/√n + (cot(π/4n) − 1)/√(2n), rounded up by less than 0.1 %; exact arithmetic.

        That is the sum of cell 0, and no cell has more. With g = gcd(2j + 1, n), i·(2j + 1) runs g times over the
        residues that i runs over for n/g cells, so Σ_{i=1..n−1} |cos(π i (2j + 1)/2n)| = (g·cot(g·π/4n) − 1)/2, and
        g·cot(g·x) falls with g. For 0 < x < π the series of cot x has only negative terms after 1/x, so
        cot x < 1/x − x/3 − x³/45.
        """
        x_below = PI_BELOW / (4 * self.n)
        cotangent_above = 1 / x_below - x_below / 3 - x_below**3 / 45
        return _inverse_root_above(self.n) + (cotangent_above - 1) * _inverse_root_above(2 * self.n)


def _inverse_root_above(number: int) -> Fraction:
    """A rational just above 1/√number."""
    return Fraction(1 << 64, isqrt(number << 128))
