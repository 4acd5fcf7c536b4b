"""The identity basis: counts that are themselves sparse."""

from __future__ import annotations

from fractions import Fraction

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis
from sparsedp.validate import MAX_CELLS, whole


class Identity(Basis):
    """Ψ = I: coefficient j is cell j."""

    name = "identity"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)

    def analyze(self, signal: Floats) -> Floats:
        """A copy of the cells."""
        return float_vector("signal", signal, self.n).copy()

    def synthesize(self, coefficients: Floats) -> Floats:
        """A copy of the coefficients."""
        return float_vector("coefficients", coefficients, self.n).copy()

    @property
    def row_sum_bound(self) -> Fraction:
        """1."""
        return Fraction(1)
