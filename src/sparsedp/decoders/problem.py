"""The noisy linear problem that every sparse decoder solves: y = A x + e with A = Φ Ψ / √k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, log, sqrt

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis
from sparsedp.bases.haar import Haar, haar_analyze, haar_synthesize
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.hadamard import Hadamard


@dataclass(frozen=True)
class SparseProblem:
    """Find the sparse x with A x ≈ y. Columns of A have unit norm on average (±1/√k entries, as in the paper).

    `observed` is the noisy integers divided by √k; `noise_variance` and `noise_fourth_moment` are those of each
    entry of e, from the law that was drawn, in the same units. `sparsity` is the S the synopsis was planned for.

    Where the basis pads the cells, Ψ is cut to the real ones: what x says of the padding does not matter, so a signal
    that is high at its last cell need not be coded as one that drops to zero behind it.

    One thread at a time: the products share memory.
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
        room = self._room
        if room is None:
            values = self.sensing.forward(self.basis.synthesize(coefficients))
        else:
            haar_synthesize(float_vector("coefficients", coefficients, self.size), room.cells)
            values = room.sensing.forward_within(room.cells, room.work)
        values /= sqrt(self.sensing.rows)
        return values

    def adjoint(self, values: Floats) -> Floats:
        """Aᵀ y."""
        scaled = values / sqrt(self.sensing.rows)
        room = self._room
        if room is None:
            return self.basis.analyze(self.sensing.adjoint(scaled))
        coefficients = np.empty(self.size)
        room.sensing.adjoint_into(scaled, room.work, room.cells)
        haar_analyze(room.padded, coefficients)
        return coefficients

    @cached_property
    def _room(self) -> _Room | None:
        """Memory that the products of the usual pair, Hadamard and Haar, use again and again; None for the others."""
        if isinstance(self.sensing, Hadamard) and isinstance(self.basis, Haar):
            padded = np.zeros(self.size)
            return _Room(self.sensing, np.empty(self.sensing.padded_size), padded, padded[: self.sensing.n])
        return None


@dataclass(frozen=True)
class _Room:
    sensing: Hadamard
    work: Floats
    padded: Floats
    cells: Floats  # the first n of `padded`; the rest stays zero


# Does an estimate explain the observations, and with how many coefficients? By the noise law alone.

DEVIATIONS = 4.0
"""z of `residual_bound` beyond which a residual is not the noise's. With few rows the law of ‖e‖² has a long tail:
for one row of Laplace noise, 1 % lies beyond it."""

ROUNDING = 1e-6
"""A residual below this share of the observations is explained even where there is no noise."""


def residual_bound(rows: int, variance: float, fourth_moment: float, deviations: float) -> float:
    """θ with θ² = k·var + z·√(k·(E e⁴ − var²)): the mean of ‖e‖₂² and z of its standard deviations more."""
    return sqrt(max(rows * variance + deviations * sqrt(rows * max(fourth_moment - variance**2, 0.0)), 0.0))


def residual_power(problem: SparseProblem, estimate: Floats) -> float:
    """‖y − A x‖₂², infinite for an x that is not finite."""
    if not np.isfinite(estimate).all():
        return inf
    residual = problem.observed - problem.forward(estimate)
    return float(residual @ residual)


def explained(problem: SparseProblem, power: float) -> bool:
    """Whether noise, and shrinkage that costs no more than the noise, can leave a residual of this power.

    A posterior mean leaves out what it cannot tell from noise, so up to the noise's own power is allowed on top of
    what the noise law does not rule out.
    """
    rows = len(problem.observed)
    noise = rows * problem.noise_variance
    bound = residual_bound(rows, problem.noise_variance, problem.noise_fourth_moment, DEVIATIONS)
    return power <= bound**2 + noise + ROUNDING**2 * float(problem.observed @ problem.observed)


def description_length(problem: SparseProblem, estimate: Floats, power: float) -> float:
    """How much it takes to say the estimate and what it leaves unsaid: the risk inflation criterion.

    The residual in units of the noise, plus 2·ln(e·N/s) for each of the s coefficients that stand out among N. A
    decoder that fits noise with a few of very many columns pays more for them than they explain.
    """
    level = problem.noise_variance + ROUNDING**2 * float(problem.observed @ problem.observed) / len(problem.observed)
    if power == inf or level == 0:
        return power
    count = int(np.count_nonzero(estimate**2 > level))
    return power / level + 2 * count * (1 + log(problem.size / max(count, 1)))
