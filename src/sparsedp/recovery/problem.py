"""The noisy linear problem that every sparse decoder solves: y = A x + e with A = Φ Ψ / √k."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.bases import basis_from
from sparsedp.bases.base import Basis
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.hadamard import Hadamard

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SparseProblem:
    """Find the sparse x with A x ≈ y. Columns of A have unit norm on average (±1/√k entries, as in the paper).

    `observed` is the noisy integers divided by √k; `noise_variance` and `noise_fourth_moment` are those of each
    entry of e, from the law that was drawn, in the same units. `sparsity` is the S the synopsis was planned for.

    Where Hadamard sensing and the basis pad the cells to the same length, the problem is posed on the padded cells:
    there Ψ is orthonormal and the rows of A are orthogonal, A Aᵀ = (size/k)·I (`row_orthogonal`).
    """

    sensing: Sensing
    basis: Basis
    observed: Floats
    noise_variance: float
    noise_fourth_moment: float
    sparsity: int

    def __post_init__(self) -> None:
        padded = isinstance(self.sensing, Hadamard) and self.sensing.padded_size == self.basis.size
        object.__setattr__(self, "_padded_basis", basis_from(self.basis.name, self.basis.size) if padded else None)

    @property
    def size(self) -> int:
        """The number of unknown coefficients."""
        return self.basis.size

    @property
    def row_orthogonal(self) -> bool:
        """Whether A Aᵀ = (size/k)·I exactly."""
        return self._padded() is not None

    def forward(self, coefficients: Floats) -> Floats:
        """A x."""
        padded = self._padded()
        if padded is not None and isinstance(self.sensing, Hadamard):
            values = self.sensing.forward_padded(padded.synthesize(coefficients))
        else:
            values = self.sensing.forward(self.basis.synthesize(coefficients))
        values /= sqrt(self.sensing.rows)
        return values

    def adjoint(self, values: Floats) -> Floats:
        """Aᵀ y."""
        scaled = values / sqrt(self.sensing.rows)
        padded = self._padded()
        if padded is not None and isinstance(self.sensing, Hadamard):
            return padded.analyze(self.sensing.adjoint_padded(scaled))
        return self.basis.analyze(self.sensing.adjoint(scaled))

    def _padded(self) -> Basis | None:
        basis: Basis | None = getattr(self, "_padded_basis")  # noqa: B009  # set once, in a frozen object
        return basis
