"""Basis pursuit denoising: min ‖x‖₁ subject to ‖A x − y‖₂ ≤ θ, the paper's convex decoder.

With r = y − A x, the minimum of ½‖r‖² + μ‖x‖₁ solves it for the one μ at which ‖r‖ = θ. Steps of proximal gradients
(Wright, Nowak, Figueiredo, "Sparse reconstruction by separable approximation", 2009) near that minimum, and as soon as
they are as near as ‖r‖ is to θ, μ is corrected: ‖r‖² is linear in μ² as long as the support stays the same.

Nothing is taken on trust: z = r/‖Aᵀr‖∞ is feasible in the dual, max yᵀz − θ‖z‖₂ subject to ‖Aᵀz‖∞ ≤ 1, so no x has an
‖x‖₁ below yᵀz − θ‖z‖₂. What is left between them is stats["gap"], relative to ‖x‖₁.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.decoders.problem import ROUNDING, SparseProblem, residual_bound
from sparsedp.jit import kernel
from sparsedp.solution import Solution, Status

DEVIATIONS = 0.0
"""z of `residual_bound`: the true signal is feasible in half the cases; more deviations only shrink further."""

GAP = 1e-8
"""Of ½‖r‖² + μ‖x‖₁ to its dual, relative: how near the minimum is."""

ROUGHLY = 1e-3
"""The gap at which μ is corrected at the latest."""

OFF = 1e-7
"""How far ‖r‖ may be from θ, relative."""

MOST_ITERATIONS = 2000
GUESSING_ROUNDS = 8
MEMORY = 5
"""A step may raise the objective above the last one, not above all of the last five."""

TINY = float(np.finfo(np.float64).tiny)


def basis_pursuit(problem: SparseProblem) -> Solution:
    """The x of least ‖x‖₁ that the noise law cannot rule out; 0 if it cannot rule that out.

    CONVERGED: the gap is closed and ‖r‖ = θ, or no x at all comes as near to y as θ and this one comes nearest.
    """
    observed = problem.observed
    bound = residual_bound(len(observed), problem.noise_variance, problem.noise_fourth_moment, DEVIATIONS)
    scale = float(np.linalg.norm(observed))
    if scale <= bound:
        return Solution(np.zeros(problem.size), Status.CONVERGED, {"bound": bound, "iterations": 0, "residual": scale})
    bound = max(bound, ROUNDING * scale)
    search = _Search(problem, bound)
    least, before = ROUNDING**2 * search.multiplier, None
    status = Status.ITERATION_LIMIT
    iterations = 0
    while iterations < MOST_ITERATIONS:
        iterations += 1
        search.step()
        gap, off = search.gap, sqrt(search.power) / bound - 1
        if (gap <= GAP and abs(off) <= OFF) or search.multiplier <= least:
            status = Status.CONVERGED
            break
        if gap <= max(min(off**2, ROUGHLY), GAP):
            now = search.multiplier**2, search.power
            search.correct(bound, before)
            before = now
    stats = {
        "bound": bound,
        "iterations": iterations,
        "residual": sqrt(search.power),
        "gap": search.bounded_gap(bound),
    }
    return Solution(search.value, status, stats)


class _Search:
    """x on its way, with what is known of it: r, Aᵀr, ‖r‖², ‖x‖₁."""

    def __init__(self, problem: SparseProblem, bound: float) -> None:
        self.problem = problem
        self.value = _guess(problem)
        self.residual = problem.observed - problem.forward(self.value)
        if not np.linalg.norm(self.residual) < np.linalg.norm(problem.observed):
            self.value, self.residual = np.zeros(problem.size), problem.observed.copy()
        self.power = float(self.residual @ self.residual)
        self.size = float(np.abs(self.value).sum())
        self.correlation = problem.adjoint(self.residual)
        self.multiplier = self._steepest
        self._curvature = 1.0
        self._recent: list[float] = []
        self.correct(bound, None)

    @property
    def objective(self) -> float:
        """½‖r‖² + μ‖x‖₁."""
        return self.power / 2 + self.multiplier * self.size

    @property
    def gap(self) -> float:
        """Of the objective to its dual at the multiple of r that is feasible there, relative."""
        share = min(1.0, self.multiplier / self._steepest)
        dual = share * float(self.problem.observed @ self.residual) - share**2 * self.power / 2
        return (self.objective - dual) / self.objective

    def bounded_gap(self, bound: float) -> float:
        """Of ‖x‖₁ to the least that any x within the bound can have, relative; below zero by as much as ‖r‖ is off."""
        reached = float(self.problem.observed @ self.residual) - bound * sqrt(self.power)
        return 1 - reached / self._steepest / max(self.size, TINY)

    @property
    def _steepest(self) -> float:
        return max(float(np.abs(self.correlation).max()), TINY)

    def step(self) -> None:
        """To the minimum of a paraboloid that has the curvature last seen, or more if it does not lead down."""
        self._recent = [*self._recent, self.objective][-MEMORY:]
        most = max(self._recent) * (1 + 1e-14)
        while True:
            value, change, size, length = _shrunk(self.value, self.correlation, self._curvature, self.multiplier)
            image = self.problem.forward(change)
            residual = self.residual - image
            power = float(residual @ residual)
            if power / 2 + self.multiplier * size <= most:
                break
            self._curvature *= 2
        self.value, self.residual, self.power, self.size = value, residual, power, size
        self.correlation = self.problem.adjoint(residual)
        self._curvature = min(max(float(image @ image) / length, 1e-3), 1e6) if length > 0 else 1.0

    def correct(self, bound: float, before: tuple[float, float] | None) -> None:
        """μ² to where the line through this (μ², ‖r‖²) and that `before` meets θ²; without one, in proportion."""
        square = self.multiplier**2
        slope = 0.0 if before is None or before[0] == square else (self.power - before[1]) / (square - before[0])
        wanted = square + (bound**2 - self.power) / slope if slope > 0 else square * bound**2 / max(self.power, TINY)
        self.multiplier = sqrt(min(max(wanted, square / 25), square * 25))
        self._recent = []


def _guess(problem: SparseProblem) -> Floats:
    """Where a few rounds of message passing with soft thresholds lead: near, if A is as random as it should be."""
    rows = len(problem.observed)
    threshold = sqrt(2 * log(max(problem.size / rows, 1.5)))
    estimate, residual = np.zeros(problem.size), problem.observed
    for _ in range(GUESSING_ROUNDS):
        level = threshold * float(np.linalg.norm(residual)) / sqrt(rows)
        estimate, *_ = _shrunk(estimate, problem.adjoint(residual), 1.0, level)
        memory = residual * (np.count_nonzero(estimate) / rows)
        residual = problem.observed - problem.forward(estimate) + memory
    return estimate


@kernel
def _shrunk(
    value: Floats, correlation: Floats, curvature: float, multiplier: float
) -> tuple[Floats, Floats, float, float]:
    """x + Aᵀr/α with μ/α taken off every entry's size; how that differs from x; its ‖·‖₁, and ‖difference‖²."""
    shrunk, change = np.empty_like(value), np.empty_like(value)
    size = length = 0.0
    level = multiplier / curvature
    for i in range(len(value)):
        entry = value[i] + correlation[i] / curvature
        entry = entry - level if entry > level else entry + level if entry < -level else 0.0
        shrunk[i] = entry
        change[i] = entry - value[i]
        size += abs(entry)
        length += change[i] ** 2
    return shrunk, change, size, length
