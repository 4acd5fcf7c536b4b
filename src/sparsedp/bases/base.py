"""What a basis Ψ promises: an orthonormal frame in which counts are expected to be sparse.

At the end the plainest one: the identity, for counts that are themselves sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.validate import MAX_CELLS, whole


class Basis(ABC):
    """Ψ over `n` cells with `size` ≥ n coefficients; D = Ψ x, x = Ψᵀ D.

    `size` exceeds `n` only where the transform needs a longer vector: the cells are then padded with public zeros.
    On vectors of `size` cells the transform is orthonormal; `synthesize(analyze(D)) == D` for every D of n cells.
    Used after the noise only (and by the exact scores of `mechanisms/`, which have their own arithmetic).
    """

    name: str
    n: int

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return self.n

    @abstractmethod
    def analyze(self, signal: Floats) -> Floats:
        """Ψᵀ: n cells (or `size` padded cells) to `size` coefficients."""

    @abstractmethod
    def synthesize(self, coefficients: Floats) -> Floats:
        """Ψ: `size` coefficients to n cells."""

    @property
    @abstractmethod
    def row_sum_bound(self) -> Fraction:
        """A rational upper bound of maxⱼ Σᵢ |ψᵢ[j]|: how far ‖x‖₁ moves when one cell changes by one."""

    def materialize(self) -> Floats:
        """Ψ as an n × size matrix, for tests."""
        return np.stack([self.synthesize(unit) for unit in np.eye(self.size)], axis=1)


def cells_or_padded(basis: Basis, signal: Floats) -> Floats:
    """The `size` cells of a signal given as n cells (then padded with zeros) or as `size` cells."""
    cells = float_vector("signal", signal, basis.n, basis.size)
    if len(cells) == basis.size:
        return cells
    padded = np.zeros(basis.size)
    padded[: basis.n] = cells
    return padded


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
