"""Least squares on a support: conjugate gradients on the normal equations, with operators only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.recovery.problem import SparseProblem

Places = npt.NDArray[np.intp]


def conjugate_gradients(
    problem: SparseProblem, support: Places, guess: Floats, gradient: Floats, *, goal: float, most_steps: int
) -> Floats:
    """Solve A_TᵀA_T z = b from `guess`, until ‖b − A_TᵀA_T z‖₂ ≤ `goal` or the steps are used up.

    `gradient` is b − A_TᵀA_T `guess`, which callers have at hand. A step is one product with A and one with Aᵀ. It ends
    too at a direction that A does not see, by which scipy's `cg` divides.
    """
    solution, residual, direction = guess.copy(), gradient.copy(), gradient
    full = np.zeros(problem.size)
    power = float(residual @ residual)
    for _ in range(most_steps):
        if power <= goal**2:
            break
        full[support] = direction
        image = problem.adjoint(problem.forward(full))[support]
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        step = power / curvature
        solution += step * direction
        residual -= step * image
        previous, power = power, float(residual @ residual)
        direction = residual + (power / previous) * direction
    return solution
