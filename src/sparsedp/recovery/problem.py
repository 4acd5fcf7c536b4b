"""The noisy linear problem that every sparse decoder solves: y = A x + e with A = Φ Ψ / √k."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.bases.base import Basis
from sparsedp.sensing.base import Sensing

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SparseProblem:
    """Find the sparse x with A x ≈ y. Columns of A have unit norm on average (±1/√k entries, as in the paper).

    `observed` is the noisy integers divided by √k; `noise_variance` and `noise_fourth_moment` are those of each
    entry of e, from the law that was drawn, in the same units. `sparsity` is the S the synopsis was planned for.
    """

    sensing: Sensing
    basis: Basis
    observed: Floats
    noise_variance: float
    noise_fourth_moment: float
    sparsity: int

    def forward(self, coefficients: Floats) -> Floats:
        """A x."""
        return self.sensing.forward(self.basis.synthesize(coefficients)) / sqrt(self.sensing.rows)

    def adjoint(self, values: Floats) -> Floats:
        """Aᵀ y."""
        return self.basis.analyze(self.sensing.adjoint(values)) / sqrt(self.sensing.rows)
