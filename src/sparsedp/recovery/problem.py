"""The noisy linear problem that every sparse decoder solves: y = A x + e with A = Φ Ψ / √k."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.bases.base import Basis
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.hadamard import Hadamard

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SparseProblem:
    """Find the sparse x with A x ≈ y. Columns of A have unit norm on average (±1/√k entries, as in the paper).

    `observed` is the noisy integers divided by √k; `noise_variance` and `noise_fourth_moment` are those of each
    entry of e, from the law that was drawn, in the same units. `sparsity` is the S the synopsis was planned for.

    Where the basis pads the cells, Ψ is cut to the real ones: what x says of the padding does not matter, so a signal
    that is high at its last cell need not be coded as one that drops to zero behind it.
    """

    sensing: Sensing
    basis: Basis
    observed: Floats
    noise_variance: float
    noise_fourth_moment: float
    sparsity: int

    @property
    def size(self) -> int:
        """The number of unknown coefficients."""
        return self.basis.size

    @property
    def row_orthogonal(self) -> bool:
        """Whether A Aᵀ = (size/k)·I exactly: Hadamard rows on all their columns, and an orthonormal Ψ."""
        return isinstance(self.sensing, Hadamard) and self.sensing.padded_size == self.basis.n == self.basis.size

    def forward(self, coefficients: Floats) -> Floats:
        """A x."""
        values = self.sensing.forward(self.basis.synthesize(coefficients))
        values /= sqrt(self.sensing.rows)
        return values

    def adjoint(self, values: Floats) -> Floats:
        """Aᵀ y."""
        return self.basis.analyze(self.sensing.adjoint(values / sqrt(self.sensing.rows)))
