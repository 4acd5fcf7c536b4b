"""CoSaMP (Needell and Tropp 2009): a support that is merged and pruned, and least squares on it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.decoders.problem import SparseProblem
from sparsedp.solution import Solution, Status

# Least squares on a support: conjugate gradients on the normal equations, with operators only.

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


# CoSaMP (Needell and Tropp 2010): the paper's greedy decoder, on operators, with conjugate gradients.

Support = npt.NDArray[np.intp]

MOST_ROUNDS = 50
IMPROVEMENT = 0.99
"""A round that does not shrink the residual below this share of the best one is one too many."""

GRADIENT_STEPS = 4
"""Conjugate-gradient steps a round: started from the last estimate, they gain a digit every two on random rows."""

POLISHING_STEPS = 60
EXACT = 1e-10
"""Relative residual, and relative gradient of the last refit, that count as zero."""


def cosamp(problem: SparseProblem) -> Solution:
    """At most `sparsity` coefficients, found by merging, refitting and pruning supports until nothing improves.

    The residual of the pruned estimate judges each round and the best estimate seen is kept, refitted on its support
    to convergence. With no noise, and rows enough for the sparsity, that is the exact signal.
    """
    sparsity = min(problem.sparsity, problem.sensing.rows, problem.size)
    observed = problem.observed
    scale = float(np.linalg.norm(observed))
    best, best_residual = np.zeros(problem.size), observed
    status, rounds = Status.ITERATION_LIMIT, 0
    estimate, residual = best, best_residual
    while scale > 0 and rounds < MOST_ROUNDS:
        rounds += 1
        proxy = problem.adjoint(residual)
        merged = np.union1d(largest(proxy, 2 * sparsity), np.flatnonzero(estimate))
        fitted = refit(problem, merged, estimate, proxy, GRADIENT_STEPS)
        estimate = np.zeros(problem.size)
        kept = merged[largest(fitted[merged], sparsity)]
        estimate[kept] = fitted[kept]
        residual = observed - problem.forward(estimate)
        norm, best_norm = float(np.linalg.norm(residual)), float(np.linalg.norm(best_residual))
        if norm < best_norm:
            best, best_residual = estimate, residual
        if norm <= EXACT * scale:
            status = Status.CONVERGED
            break
        if norm > IMPROVEMENT * best_norm:
            status = Status.STAGNATED
            break
    value = best
    if scale > 0:
        proxy = problem.adjoint(best_residual)
        value = refit(problem, np.flatnonzero(best), best, proxy, POLISHING_STEPS)
    remaining = float(np.linalg.norm(observed - problem.forward(value)))
    if scale == 0 or remaining <= 1e-9 * scale:
        status = Status.CONVERGED
    return Solution(value, status, {"rounds": rounds, "residual": remaining})


def largest(values: Floats, count: int) -> Support:
    """The places of the `count` values largest in magnitude, leaving out exact zeros."""
    magnitudes = np.abs(values)
    if count < len(values):
        places = np.argpartition(magnitudes, len(values) - count)[len(values) - count :]
    else:
        places = np.arange(len(values))
    return places[magnitudes[places] > 0]


def refit(problem: SparseProblem, support: Support, start: Floats, proxy: Floats, steps: int) -> Floats:
    """Least squares of the observations on the support; `proxy` = Aᵀ(y − A start) is known to the caller."""
    goal = EXACT * float(np.linalg.norm(problem.observed))
    full = np.zeros(problem.size)
    full[support] = conjugate_gradients(problem, support, start[support], proxy[support], goal=goal, most_steps=steps)
    return full
