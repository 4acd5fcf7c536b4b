"""VAMP: message passing with a fitted prior, the most accurate decoders here; a simpler one where it diverges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.bases.haar import Haar
from sparsedp.errors import InvalidInput
from sparsedp.recovery.basis_pursuit import basis_pursuit
from sparsedp.recovery.bernoulli_gaussian import BernoulliGaussian, starting_activity, starting_energy
from sparsedp.recovery.cosamp import cosamp
from sparsedp.recovery.hidden_markov_tree import HiddenMarkovTree
from sparsedp.recovery.message_passing import Prior, pass_messages
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.solution import Solution, Status

Floats = npt.NDArray[np.float64]

ENDINGS = {"settled": Status.CONVERGED, "limit": Status.ITERATION_LIMIT}


def vamp(problem: SparseProblem) -> Solution:
    """The posterior mean under a Bernoulli–Gaussian prior fitted to the observations, in any basis."""
    energy = starting_energy(problem.observed, problem.noise_variance, problem.sparsity)
    prior = BernoulliGaussian(starting_activity(problem.sparsity, problem.size), energy)
    return decode_or_fall_back(problem, prior)


def vamp_tree(problem: SparseProblem) -> Solution:
    """The posterior mean under a hidden Markov tree on Haar coefficients: best where the counts are steps."""
    if not isinstance(problem.basis, Haar):
        remedy = "choose 'vamp', or basis='haar', whose coefficients form a tree"
        raise InvalidInput("recovery", f"'vamp_tree' in the {problem.basis.name} basis", remedy)
    energy = starting_energy(problem.observed, problem.noise_variance, problem.sparsity)
    return decode_or_fall_back(problem, HiddenMarkovTree(problem.size, problem.sparsity, energy))


def decode_or_fall_back(problem: SparseProblem, prior: Prior) -> Solution:
    """The messages' estimate if they settled on one that explains the observations better than nothing does.

    Otherwise basis pursuit's, otherwise CoSaMP's, marked FELL_BACK, with the decoder used in stats["fallback"]. CoSaMP
    never does worse than nothing, so what was paid for is never lost.
    """
    estimate, trace = pass_messages(problem, prior)
    stats = {"rounds": trace.rounds, "damping": trace.damping, "ending": trace.ending}
    if trace.ending in ENDINGS and usable(problem, estimate):
        return Solution(estimate, ENDINGS[trace.ending], {**stats, "variance": trace.variances[-1]})
    name, second = "basis_pursuit", basis_pursuit(problem)
    if second.status is Status.ITERATION_LIMIT or not usable(problem, second.value):
        name, second = "cosamp", cosamp(problem)
    return Solution(second.value, Status.FELL_BACK, {**stats, "fallback": name, "fallback_stats": second.stats})


def usable(problem: SparseProblem, estimate: Floats) -> bool:
    """Finite, and nearer to the observations than zero is."""
    if not np.isfinite(estimate).all():
        return False
    residual = problem.observed - problem.forward(estimate)
    return bool(residual @ residual <= (1 + 1e-9) * float(problem.observed @ problem.observed))
