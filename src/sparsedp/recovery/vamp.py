"""VAMP: message passing with a fitted prior, the most accurate decoders here; simpler ones where it fails."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from sparsedp.arrays import Floats
from sparsedp.bases.haar import Haar
from sparsedp.errors import InvalidInput
from sparsedp.recovery.basis_pursuit import basis_pursuit
from sparsedp.recovery.bernoulli_gaussian import BernoulliGaussian, starting_activity, starting_energy
from sparsedp.recovery.cosamp import cosamp
from sparsedp.recovery.explanation import description_length, explained, residual_power
from sparsedp.recovery.hidden_markov_tree import HiddenMarkovTree
from sparsedp.recovery.message_passing import Prior, pass_messages
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.solution import Solution, Status

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
