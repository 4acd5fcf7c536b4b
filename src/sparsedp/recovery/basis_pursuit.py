"""Basis pursuit denoising: min ‖x‖₁ subject to ‖A x − y‖₂ ≤ θ, the paper's convex decoder."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.recovery.explanation import residual_bound
from sparsedp.recovery.l1_optimality import polish
from sparsedp.recovery.l1_projection import project_onto_l1_ball
from sparsedp.recovery.linear_operator import linear_operator
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.solution import Solution, Status

Places = npt.NDArray[np.intp]

DEVIATIONS = 0.0
"""z of `residual_bound`: the true signal is feasible in half the cases; more deviations only shrink further."""

TOLERANCE = 1e-6
"""spgl1's relative tolerance; the polish makes the last digits, once the support is right."""

MOST_ITERATIONS = 2000

GUESSING_ROUNDS = 8

EXIT_FLAGS = {
    1: Status.CONVERGED,  # root found
    2: Status.CONVERGED,  # basis pursuit solution, small gradient
    3: Status.CONVERGED,  # least-squares solution: θ is below what any x reaches
    4: Status.CONVERGED,  # optimal for a fixed ‖x‖₁
    5: Status.ITERATION_LIMIT,
    6: Status.STAGNATED,  # line search failed
    7: Status.CONVERGED,  # residual below θ: feasible, ‖x‖₁ a little above the least
    8: Status.ITERATION_LIMIT,  # products with A
    9: Status.STAGNATED,  # support unchanged
}


def basis_pursuit(problem: SparseProblem) -> Solution:
    """The x of least ‖x‖₁ that the noise law cannot rule out; 0 if it cannot rule that out.

    spgl1 works on the few columns that can matter; the polish, or another round, takes in those that were missed.
    CONVERGED with stats["polished"] means that the optimality conditions hold to 10⁻⁵ (`l1_optimality`), without
    it that they hold to spgl1's tolerance.
    """
    observed = problem.observed
    bound = residual_bound(len(observed), problem.noise_variance, problem.noise_fourth_moment, DEVIATIONS)
    scale = float(np.linalg.norm(observed))
    if scale <= bound:
        return Solution(np.zeros(problem.size), Status.CONVERGED, {"bound": bound, "iterations": 0, "residual": scale})
    # A solution's support is smaller than the rows; with as many columns the vectors stay in the cache.
    columns = promising_columns(problem, len(observed))
    iterations = 0
    missed = columns
    while missed.size:
        value, status, taken = _spgl1(problem, columns, bound, scale)
        iterations += taken
        polished = polish(problem, value, bound)
        if polished is not None:
            value, status = polished, Status.CONVERGED
            break
        missed = _missed(problem, columns, value)
        columns = np.union1d(columns, missed)
    residual = observed - problem.forward(value)
    stats = {
        "bound": bound,
        "iterations": iterations,
        "residual": float(np.linalg.norm(residual)),
        "columns": len(columns),
        "polished": polished is not None,
    }
    return Solution(value, status, stats)


def promising_columns(problem: SparseProblem, count: int) -> Places:
    """The `count` columns where a few rounds of soft-threshold message passing see most; all if there are few more."""
    size, rows = problem.size, len(problem.observed)
    if size <= 2 * count:
        return np.arange(size)
    threshold = sqrt(2 * log(size / rows))
    estimate, residual = np.zeros(size), problem.observed
    looks = problem.adjoint(residual)
    for _ in range(GUESSING_ROUNDS):
        level = threshold * float(np.linalg.norm(residual)) / sqrt(rows)
        estimate = np.sign(looks) * np.maximum(np.abs(looks) - level, 0.0)
        memory = residual * (np.count_nonzero(estimate) / rows)
        residual = problem.observed - problem.forward(estimate) + memory
        looks = problem.adjoint(residual) + estimate
    return np.sort(np.argpartition(np.abs(looks), size - count)[size - count :])


def _missed(problem: SparseProblem, columns: Places, value: Floats) -> Places:
    """Columns left out that correlate with the residual as much as those on the support do."""
    if len(columns) == problem.size:
        return np.array([], np.intp)
    correlation = np.abs(problem.adjoint(problem.observed - problem.forward(value)))
    most = float(correlation[columns].max())
    correlation[columns] = 0.0
    return np.flatnonzero(correlation > most * (1 + 1e-3))


def _spgl1(problem: SparseProblem, columns: Places, bound: float, scale: float) -> tuple[Floats, Status, int]:
    """Solve on observations of unit norm: spgl1's tolerances are relative only from there on."""
    from spgl1 import spgl1

    with _quiet():
        value, _, _, info = spgl1(
            linear_operator(problem, columns),
            problem.observed / scale,
            sigma=bound / scale,
            opt_tol=TOLERANCE,
            bp_tol=TOLERANCE,
            iter_lim=MOST_ITERATIONS,
            project=_project,
        )
    full = np.zeros(problem.size)
    full[columns] = np.asarray(value, np.float64) * scale
    return full, EXIT_FLAGS[int(info["stat"])], int(info["niters"])


def _project(vector: Floats, weights: float, radius: float) -> Floats:
    """spgl1's hook; all weights are one."""
    return project_onto_l1_ball(vector, radius / weights)


@contextmanager
def _quiet() -> Iterator[None]:
    """spgl1 logs damped line searches as warnings; its exit flag says all that a caller can use."""
    logger = logging.getLogger("spgl1.spgl1")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
