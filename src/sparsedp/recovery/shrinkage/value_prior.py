"""Empirical Bayes for the counts themselves: a prior of many values, none below zero, fitted by EM.

Everything is in standard deviations of the noise. Observed values are counted in bins, and the prior sits on `VALUES`,
close together near zero. What there is to know of a cell depends on its bin only, so it is tabulated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from scipy.special import expit, ndtr

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

LEAST, STEP, BINS = -9.0, 0.2, 185
"""Where the first bin begins, how wide they are, and how many; what lies below is counted in the first."""

MOST = LEAST + STEP * BINS
"""Cells that are observed at this or above are left out: so large a count is known well enough."""

ROUNDS, ROUNDS_OF_ALL = 40, 80
"""Of EM, for one kind of surroundings and for all cells together."""

NEGLIGIBLE = 1e-12
"""Weights below this add nothing to a density."""

POOLED_COUNT = 3.0
"""Cells that the prior of all cells together counts for in one kind of surroundings."""

GATE, GATE_PER_CELL = 6.0, 0.003
"""Nats by which a prior must explain cells better than one value for all does, to be believed by half."""

ANY_COUNT = 1.0
"""Cells of a kind imagined to have any value at all: beside few others, a cell of a value that no other one has."""


def _values() -> Floats:
    """Steps of 0.1 at first, then of 0.06 of the value, of 0.35 at most; up to seven deviations beyond `MOST`."""
    found = [0.0]
    while found[-1] < MOST + 7.0:
        found.append(found[-1] + max(0.1, min(0.06 * found[-1], 0.35)))
    return np.array(found)


VALUES: Floats = _values()

SINGLE_VALUES: Floats = np.arange(0.0, MOST, 0.05)
"""Closer together: one value that lies between two of the others would be taken for both of them."""


@dataclass(frozen=True)
class ValuePrior:
    """By kind of surroundings, a row each, and bin: the density of cells there, the posterior mean of their values, and
    how far to trust that.
    """

    density: Floats
    mean: Floats
    trust: Floats

    @classmethod
    def learn(cls, counts: Floats, *, gaussian: bool, surely: int = 0) -> ValuePrior:
        """From counts by kind and bin, the first row being all cells together. The last so many kinds are `surely`
        believed, even if all of their cells have one value.
        """
        likelihood = likelihood_of(gaussian)
        every = _fit(counts[:1], likelihood, np.full((1, len(VALUES)), 1.0 / len(VALUES)), 0.0, ROUNDS_OF_ALL)
        usual = np.repeat(every, len(counts) - 1, axis=0)
        weights = np.concatenate([every, _fit(counts[1:], likelihood, usual, POOLED_COUNT, ROUNDS)])
        density = _times(weights, likelihood.T)
        mean = _times(weights * VALUES, likelihood.T) / density
        one_value = _times(counts, np.log(likelihood_of(gaussian, single=True))).max(axis=1)
        gain = (counts * np.log(density)).sum(axis=1) - one_value
        cells = counts.sum(axis=1)
        believed = expit(gain - GATE - GATE_PER_CELL * cells)
        believed[len(believed) - surely :] = 1.0
        anything = ANY_COUNT / (cells + 1.0) * STEP / MOST
        trust = believed[:, None] * density / (density + anything[:, None])
        return cls(density / STEP, mean, trust)


@lru_cache(maxsize=4)
def likelihood_of(gaussian: bool, *, single: bool = False) -> Floats:
    """The chance of each bin, a row each, for each of `VALUES` or `SINGLE_VALUES`; noise is Gaussian, or Laplace."""
    edges = LEAST + STEP * np.arange(BINS + 1)
    beyond = edges[:, None] - (SINGLE_VALUES if single else VALUES)
    below = ndtr(beyond) if gaussian else _laplace_below(beyond)
    below[0] = 0.0
    chances = np.diff(below, axis=0) + 1e-12
    chances.flags.writeable = False
    return chances


def _laplace_below(x: Floats) -> Floats:
    tail = 0.5 * np.exp(-sqrt(2.0) * np.abs(x))
    return np.where(x < 0.0, tail, 1.0 - tail)


def _fit(counts: Floats, likelihood: Floats, usual: Floats, pseudo: float, rounds: int) -> Floats:
    """The weights of the values, a row for each row of counts, beside so many imagined cells of the `usual` ones."""
    weights = usual.copy()
    for row, seen in enumerate(counts > 0.0):
        here = np.ascontiguousarray(likelihood[seen])
        _expectation_maximisation(
            counts[row, seen], here, np.ascontiguousarray(here.T), pseudo * usual[row], rounds, weights[row]
        )
    return weights


@kernel
def bin_of(height: float) -> int:
    """The bin of an observed value; of those beyond, the first or the last."""
    return min(max(int((height - LEAST) / STEP), 0), BINS - 1) if height > LEAST else 0


@kernel
def _expectation_maximisation(
    counts: Floats, likelihood: Floats, by_value: Floats, pseudo: Floats, rounds: int, weights: Floats
) -> None:
    """Weights in place. Loops that run along memory, and no matrix products: where several processes share the cores,
    a library's threads would wait for each other in every round.
    """
    density, fresh = np.empty(len(counts)), np.empty(len(weights))
    for _ in range(rounds):
        density[:] = 1e-300
        for value in range(len(weights)):
            weight = weights[value]
            if weight > NEGLIGIBLE:
                for i in range(len(density)):
                    density[i] += weight * by_value[value, i]
        fresh[:] = 0.0
        for i in range(len(counts)):
            share = counts[i] / density[i]
            for value in range(len(weights)):
                fresh[value] += share * likelihood[i, value]
        total = 0.0
        for value in range(len(weights)):
            weights[value] = weights[value] * fresh[value] + pseudo[value]
            total += weights[value]
        if total > 0.0:
            for value in range(len(weights)):
                weights[value] /= total


def _times(left: Floats, right: Floats) -> Floats:
    """A matrix product without a library's threads."""
    return np.asarray(np.einsum("ij,jk->ik", left, right))
