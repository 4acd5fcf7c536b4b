"""Does an estimate explain the observations, and with how many coefficients? By the noise law alone."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.recovery.problem import SparseProblem

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
