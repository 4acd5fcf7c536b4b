"""The optimality conditions of min ‖x‖₁ s.t. ‖A x − y‖₂ ≤ θ, solved exactly once the support is all but known.

With residual r = y − A x, x is optimal if ‖r‖₂ = θ and, for some μ > 0, Aᵀr = μ·sign(x) on the support and |Aᵀr| ≤ μ
off it. Given support T and signs s the first two are two linear systems and one square root:

    x_T = u − μ w,   u = argmin ‖A_T u − y‖₂,   w = (A_TᵀA_T)⁻¹ s,   μ² = (θ² − ‖y − A_T u‖²) / (sᵀ w).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.recovery.conjugate_gradients import conjugate_gradients, gram
from sparsedp.recovery.problem import SparseProblem

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

MOST_REVISIONS = 8
ACCURACY = 1e-6
"""Of Aᵀr on the support, relative to μ."""

SLACK = 5 * ACCURACY
"""How far |Aᵀr| may exceed μ off the support, relative to μ: the rounding of the linear systems."""

MOST_STEPS = 200


def polish(problem: SparseProblem, start: Floats, bound: float) -> Floats | None:
    """The solution to `ACCURACY`, if the support of `start` is the optimal one up to a few revisions; else None.

    A revision drops the coefficients whose sign turned and takes in those that break |Aᵀr| ≤ μ.
    """
    correlation = problem.adjoint(problem.observed - problem.forward(start))
    multiplier = float(np.abs(correlation).max())
    # Near the optimum a coefficient is on the support just where its correlation is at the largest.
    signs = np.where((start * correlation > 0) & (np.abs(correlation) > 0.98 * multiplier), np.sign(start), 0.0)
    solver = _OnSupport(problem, start, multiplier, bound)
    for _ in range(MOST_REVISIONS):
        if not 0 < np.count_nonzero(signs) <= problem.sensing.rows // 2 or not solver.solve(signs):
            return None
        turned = (solver.value * signs < 0) | ((solver.value == 0) & (signs != 0))
        excess = (signs == 0) & (np.abs(solver.correlation) > solver.multiplier * (1 + SLACK))
        if not turned.any() and not excess.any():
            return solver.value
        signs[turned] = 0
        signs[excess] = np.sign(solver.correlation[excess])
    return None


class _OnSupport:
    """The solution on one support after another; each starts from the last."""

    def __init__(self, problem: SparseProblem, value: Floats, multiplier: float, bound: float) -> None:
        self.problem = problem
        self.bound = bound
        self.value = value
        self.multiplier = multiplier
        self.correlation = np.zeros(problem.size)
        self._weights = np.zeros(problem.size)
        self._back = problem.adjoint(problem.observed)

    def solve(self, signs: Floats) -> bool:
        """Update value, multiplier and correlation; False where no x on the support comes within the bound."""
        problem, support = self.problem, np.flatnonzero(signs)
        goal = ACCURACY * sqrt(len(support))
        weights = _solve(problem, support, signs[support], self._weights[support], goal)
        guess = self.value[support] + self.multiplier * weights
        least = _solve(problem, support, self._back[support], guess, goal * self.multiplier)
        full = np.zeros(problem.size)
        full[support] = least
        remaining = problem.observed - problem.forward(full)
        room = self.bound**2 - float(remaining @ remaining)
        curvature = float(signs[support] @ weights)
        if room < 0 or curvature <= 0:
            return False
        self.multiplier = sqrt(room / curvature)
        full[support] = least - self.multiplier * weights
        self.value = full
        self._weights = np.zeros(problem.size)
        self._weights[support] = weights
        self.correlation = problem.adjoint(problem.observed - problem.forward(full))
        return True


def _solve(problem: SparseProblem, support: Places, target: Floats, guess: Floats, goal: float) -> Floats:
    """(A_TᵀA_T) z = target from `guess`, until the residual's norm is below the goal."""
    gradient = target - gram(problem, support, guess) if guess.any() else target
    return conjugate_gradients(problem, support, guess, gradient, goal=goal, most_steps=MOST_STEPS)
