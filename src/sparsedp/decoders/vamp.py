"""Vector approximate message passing, with a scalar or a tree-structured prior of the coefficients."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.bases.haar import Haar
from sparsedp.decoders._denoisers import BernoulliGaussian, HiddenMarkovTree, starting_activity, starting_energy
from sparsedp.decoders.basis_pursuit import basis_pursuit
from sparsedp.decoders.cosamp import cosamp
from sparsedp.decoders.problem import SparseProblem, description_length, explained, residual_power
from sparsedp.errors import InvalidInput
from sparsedp.jit import kernel
from sparsedp.solution import Solution, Status

# Approximate message passing: denoise, and pass only what is new to the next step.
#
# Each round turns the estimate into *looks* r = x + noise of a known variance, all but Gaussian and independent, which
# a prior then denoises. What keeps the noise independent of x is the correction for the denoiser's mean derivative α.
#
# - Rows orthogonal, A Aᵀ = c·I with c = size/k (orthogonal AMP, that is VAMP with its linear step in closed form): the
#   estimate is made divergence-free, u = (x̂ − α r)/(1 − α); r = u + Aᵀ(y − A u); a look's variance is ‖y − A u‖²/k
#   less that of u itself.
# - Otherwise (i.i.d. ±1 rows): AMP with Onsager's term, z = y − A x̂ + (size/k)·α·z_before; r = x̂ + Aᵀz; variance
#   ‖z‖²/k.

MOST_ROUNDS = 60
SETTLED = 0.02
"""Done when a round moves the estimate by less than this share of its own standard error."""

EXACT = 1e-12
GROWTH = 1.5
"""The looks' variance may rise by noise, and does where EM still learns; beyond this factor the step is damped."""

LEAST_DAMPING = 0.1
STEEPEST = 1 - 1e-9


class Prior(Protocol):
    """What is believed of the coefficients; it learns from every look."""

    def denoise(self, looks: Floats, variance: float) -> tuple[Floats, float]:
        """E[x | looks] where looks = x + N(0, variance), and the mean of its derivative."""


@dataclass
class Trace:
    """How a run went: `ending` is "settled", "limit" or "diverged"."""

    ending: str = "limit"
    rounds: int = 0
    damping: float = 1.0
    variances: list[float] = field(default_factory=list)

    def ended(self, ending: str) -> Trace:
        """The trace, with its ending."""
        self.ending = ending
        return self


def pass_messages(problem: SparseProblem, prior: Prior) -> tuple[Floats, Trace]:
    """The posterior-mean estimate where the messages settle, and how they did; check `ending` before use.

    Where they diverge it is the estimate that the least noisy looks came from.
    """
    trace = Trace()
    size, rows = problem.size, problem.sensing.rows
    floor = max(problem.noise_variance, EXACT**2 * float(problem.observed @ problem.observed) / rows, 1e-300)
    channel = _Orthogonal(problem) if problem.row_orthogonal else _Onsager(problem)
    estimate, slope = np.zeros(size), 0.0
    best = estimate
    looks = np.zeros(size)
    for trace.rounds in range(1, MOST_ROUNDS + 1):
        looks, variance = channel.look(estimate, looks, slope, trace.damping)
        variance = max(variance, floor)
        trace.variances.append(variance)
        if not isfinite(variance) or variance > 4 * trace.variances[0]:
            return best, trace.ended("diverged")
        least = min(trace.variances)
        if variance == least:
            best = estimate
        if variance > GROWTH * least:
            trace.damping *= 0.5
            if trace.damping < LEAST_DAMPING:
                return best, trace.ended("diverged")
        before = estimate
        estimate, slope = prior.denoise(looks, variance)
        # A prior that shrinks nothing has slope 1, up to rounding; just below it, the messages are still defined.
        slope = STEEPEST if STEEPEST < slope <= 2 - STEEPEST else slope
        moved = _squared_distance(estimate, before)
        if not (slope <= STEEPEST and isfinite(moved)):
            return best, trace.ended("diverged")
        error = size * slope * variance
        if moved <= SETTLED**2 * error or moved <= EXACT**2 * float(estimate @ estimate):
            return estimate, trace.ended("settled")
    return estimate, trace


@kernel
def _combined(first: Floats, first_weight: float, second: Floats, second_weight: float) -> Floats:
    out = np.empty(len(first))
    for i in range(len(first)):
        out[i] = first_weight * first[i] + second_weight * second[i]
    return out


@kernel
def _squared_distance(first: Floats, second: Floats) -> float:
    # Four sums at a time: one would wait for itself at every step.
    sums = np.zeros(4)
    for i in range(0, len(first) - 3, 4):
        for lane in range(4):
            sums[lane] += (first[i + lane] - second[i + lane]) ** 2
    for i in range(len(first) - len(first) % 4, len(first)):
        sums[0] += (first[i] - second[i]) ** 2
    return float(sums.sum())


class _Orthogonal:
    def __init__(self, problem: SparseProblem) -> None:
        self.problem = problem
        self.message = np.zeros(problem.size)

    def look(self, estimate: Floats, looks: Floats, slope: float, damping: float) -> tuple[Floats, float]:
        problem, rows = self.problem, self.problem.sensing.rows
        fresh = _combined(estimate, 1 / (1 - slope), looks, -slope / (1 - slope))
        if damping < 1:
            fresh = damping * fresh + (1 - damping) * self.message
        self.message = fresh
        residual = problem.observed - problem.forward(fresh)
        power = float(residual @ residual) / rows
        missing = max(power - problem.noise_variance, 0.0) * rows / problem.size
        out = problem.adjoint(residual)
        out += fresh
        return out, power - missing


class _Onsager:
    def __init__(self, problem: SparseProblem) -> None:
        self.problem = problem
        self.residual = np.zeros(problem.sensing.rows)
        self.message = np.zeros(problem.size)

    def look(self, estimate: Floats, looks: Floats, slope: float, damping: float) -> tuple[Floats, float]:
        problem, rows = self.problem, self.problem.sensing.rows
        if damping < 1:
            estimate = damping * estimate + (1 - damping) * self.message
        self.message = estimate
        fresh = problem.observed - problem.forward(estimate)
        fresh += (problem.size / rows * slope) * self.residual
        self.residual = fresh if damping == 1 else damping * fresh + (1 - damping) * self.residual
        out = problem.adjoint(self.residual)
        # Where the basis pads, only the real cells of the estimate are seen again.
        basis = problem.basis
        out += estimate if basis.size == basis.n else basis.analyze(basis.synthesize(estimate))
        return out, float(self.residual @ self.residual) / rows


# VAMP: message passing with a fitted prior, the most accurate decoders here; simpler ones where it fails.

CROWDED = 4
"""How many times the planned coefficients the second start believes in, each with less energy."""

HELD_ROUNDS = 20
"""For how many rounds the second start does not learn."""

COLLAPSED = 0.8
"""An answer that leaves more than this share of the observations' power has found next to nothing in them."""

UNDERSAMPLED = 4
"""With this many columns a row, a decoder that picks columns explains what is not sparse by fitting it like noise."""

ENDINGS = {"settled": Status.CONVERGED, "limit": Status.ITERATION_LIMIT, "diverged": Status.STAGNATED}


def vamp(problem: SparseProblem) -> Solution:
    """The posterior mean under a Bernoulli–Gaussian prior fitted to the observations, in any basis."""

    def prior(sparsity: int) -> Prior:
        energy = starting_energy(problem.observed, problem.noise_variance, sparsity)
        return BernoulliGaussian(starting_activity(sparsity, problem.size), energy)

    return decode_or_fall_back(problem, prior)


def vamp_tree(problem: SparseProblem) -> Solution:
    """The posterior mean under a hidden Markov tree on Haar coefficients: best where the counts are steps."""
    if not isinstance(problem.basis, Haar):
        remedy = "choose 'vamp', or basis='haar', whose coefficients form a tree"
        raise InvalidInput("recovery", f"'vamp_tree' in the {problem.basis.name} basis", remedy)

    def prior(sparsity: int) -> Prior:
        energy = starting_energy(problem.observed, problem.noise_variance, sparsity)
        return HiddenMarkovTree(problem.size, sparsity, energy)

    return decode_or_fall_back(problem, prior)


class Held:
    """A prior that looks for some rounds before it learns.

    With few rows the first looks are so noisy that hardly any coefficient stands out. A prior that learns from them
    believes ever more firmly that there is nothing to see, and the messages settle on zero.
    """

    def __init__(self, prior: Prior, rounds: int) -> None:
        self.prior = prior
        self.rounds = rounds

    def denoise(self, looks: Floats, variance: float) -> tuple[Floats, float]:
        """As the prior does; while held, what it learns is forgotten."""
        self.rounds -= 1
        return (copy(self.prior) if self.rounds >= 0 else self.prior).denoise(looks, variance)


def decode_or_fall_back(problem: SparseProblem, prior: Callable[[int], Prior]) -> Solution:
    """The messages' estimate if they settled on one that explains the observations; `prior` is made for a sparsity.

    If they settled on one that explains a part, the counts are only nearly sparse, or the rows too few: the posterior
    mean is the most accurate there, and it is marked UNEXPLAINED, never CONVERGED. If they found next to nothing, they
    start again from a prior that believes in more coefficients and is held for a while. If that does not help either,
    the simpler decoders are tried, and the answer with the shortest description wins; theirs is marked FELL_BACK, with
    the decoder's name in stats["fallback"].
    """
    answers = []
    for start in (prior(problem.sparsity), Held(prior(CROWDED * problem.sparsity), HELD_ROUNDS)):
        solution = _messages(problem, start)
        if solution.status is Status.STAGNATED:
            continue
        power = residual_power(problem, solution.value)
        if explained(problem, power):
            return solution
        answers.append(Solution(solution.value, Status.UNEXPLAINED, solution.stats))
        undersampled = UNDERSAMPLED * len(problem.observed) < problem.size
        if undersampled and power <= COLLAPSED * float(problem.observed @ problem.observed):
            return answers[-1]
    simpler = {"cosamp": cosamp} if answers else {"cosamp": cosamp, "basis_pursuit": basis_pursuit}
    for name, decoder in simpler.items():
        solution = decoder(problem)
        stats = {"fallback": name, "fallback_stats": solution.stats}
        answers.append(Solution(solution.value, Status.FELL_BACK, stats))
    return min(answers, key=lambda each: description_length(problem, each.value, residual_power(problem, each.value)))


def _messages(problem: SparseProblem, prior: Prior) -> Solution:
    estimate, trace = pass_messages(problem, prior)
    stats = {"rounds": trace.rounds, "damping": trace.damping, "variance": trace.variances[-1]}
    return Solution(estimate, ENDINGS[trace.ending], stats)
