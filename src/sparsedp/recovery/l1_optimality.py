"""The optimality conditions of min ‖x‖₁ s.t. ‖A x − y‖₂ ≤ θ, solved exactly once the support is all but known.

With residual r = y − A x, x is optimal if ‖r‖₂ = θ and, for some μ > 0, Aᵀr = μ·sign(x) on the support and |Aᵀr| ≤ μ
off it. Given support T and signs s the first two are two linear systems and one square root:

    x_T = u − μ w,   u = argmin ‖A_T u − y‖₂,   w = (A_TᵀA_T)⁻¹ s,   μ² = (θ² − ‖y − A_T u‖²) / (sᵀ w).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.recovery.conjugate_gradients import conjugate_gradients, gram
from sparsedp.recovery.problem import SparseProblem

Places = npt.NDArray[np.intp]

MOST_REVISIONS = 8
ACCURACY = 1e-6
"""Of Aᵀr on the support, relative to μ."""

SLACK = 5 * ACCURACY
"""How far |Aᵀr| may exceed μ off the support, relative to μ: the rounding of the linear systems."""

ROUGHLY = 1e-2
MOST_CORRECTIONS = 20
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
    """The solution on one support after another; each starts from the last.

    x solves A_TᵀA_T x = A_Tᵀy − μ s, and ‖y − A_T x‖² = ‖y − A_T u‖² + μ² sᵀw for every μ. So μ is corrected from the
    residual that x leaves, and w is needed only as exactly as the correction is large.
    """

    def __init__(self, problem: SparseProblem, value: Floats, multiplier: float, bound: float) -> None:
        self.problem = problem
        self.bound = bound
        self.value = value
        self.multiplier = multiplier
        self.correlation = np.zeros(problem.size)
        self._weights = np.zeros(problem.size)

    def solve(self, signs: Floats) -> bool:
        """Update value, multiplier and correlation; False where no x on the support comes within the bound."""
        support = np.flatnonzero(signs)
        goal = ACCURACY * sqrt(len(support))
        weights = self._rough_weights(support, signs[support])
        curvature = float(signs[support] @ weights)
        self.value = np.where(signs == 0, 0.0, self.value)
        if curvature <= 0:
            return False
        for _ in range(MOST_CORRECTIONS):
            power, gradient = self._look(support, signs[support])
            square = self.multiplier**2 + (self.bound**2 - power) / curvature
            if square <= 0:
                return False
            change = sqrt(square) - self.multiplier
            solved = float(np.linalg.norm(gradient)) <= goal * self.multiplier
            if solved and abs(change) <= ACCURACY * self.multiplier:
                return True
            if solved:
                self.multiplier += change
                self.value[support] -= change * weights
                _, gradient = self._look(support, signs[support])
            self.value[support] = conjugate_gradients(
                self.problem,
                support,
                self.value[support],
                gradient,
                goal=goal * self.multiplier / 2,
                most_steps=MOST_STEPS,
            )
        return False

    def _look(self, support: Places, signs: Floats) -> tuple[float, Floats]:
        """‖y − A x‖² and A_Tᵀ(y − A x) − μ s; keeps Aᵀ(y − A x)."""
        residual = self.problem.observed - self.problem.forward(self.value)
        self.correlation = self.problem.adjoint(residual)
        return float(residual @ residual), self.correlation[support] - self.multiplier * signs

    def _rough_weights(self, support: Places, signs: Floats) -> Floats:
        """w = (A_TᵀA_T)⁻¹ s to two digits."""
        guess = self._weights[support]
        gradient = signs - gram(self.problem, support, guess) if guess.any() else signs
        goal = ROUGHLY * sqrt(len(support))
        weights = conjugate_gradients(self.problem, support, guess, gradient, goal=goal, most_steps=MOST_STEPS)
        self._weights = np.zeros(self.problem.size)
        self._weights[support] = weights
        return weights
