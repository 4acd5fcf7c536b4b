"""Empirical Bayes for one population of coefficients: a prior of zero and Gaussians of many scales, fitted by EM.

Everything is in standard deviations of the noise and depends on the magnitude |z| only, so it is tabulated: the EM sees
a histogram of magnitudes, and the posterior mean is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log1p

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

RESOLUTION = 32.0
"""Bins per unit of log(1 + |z|)."""

MOST = 2.0**15
"""A coefficient this many standard deviations out is signal: nothing is removed from it."""

BINS = ceil(log1p(MOST) * RESOLUTION)
GRID: Floats = np.expm1(np.arange(BINS + 1) / RESOLUTION)
MIDDLES: Floats = np.expm1((np.arange(BINS) + 0.5) / RESOLUTION)

SCALES: Floats = np.concatenate([np.zeros(1), 2.0 ** np.arange(-2, 15)])
"""Standard deviations of the prior's components, the first being zero itself."""

VAGUE: Floats = np.concatenate([np.full(1, 0.5), np.full(len(SCALES) - 1, 0.5 / (len(SCALES) - 1))])

MOST_ROUNDS = 100
SETTLED = 1e-4


@dataclass(frozen=True)
class Evidence:
    """Densities of a magnitude under each component, and the share of it that is noise then, for one noise law."""

    middles: Floats
    grid: Floats
    grid_noise: Floats

    @classmethod
    def of(cls, variances: Floats, chances: Floats) -> Evidence:
        """`variances` and `chances` are `noise_nodes`."""
        total = SCALES[:, None] ** 2 + variances
        height = chances / np.sqrt(2 * np.pi * total)

        def density(magnitudes: Floats, factor: Floats) -> Floats:
            exponents = -0.5 * magnitudes[:, None, None] ** 2 / total
            return np.ascontiguousarray((np.exp(exponents) * factor).sum(axis=2))

        return cls(density(MIDDLES, height), density(GRID, height), density(GRID, height * variances / total))


def fit(counts: Floats, evidence: Evidence, start: Floats, pseudo: Floats, gate: float) -> Floats:
    """The components' weights by penalised likelihood, from `start`; `counts[b]` coefficients were seen in bin b.

    `pseudo`: how many coefficients of each component are imagined beside those seen. If the fit explains hardly more
    than "no signal" does, it is mixed with that, by the odds of the two; even odds are a gain of `gate` nats.
    """
    seen = np.flatnonzero(counts)
    likelihood = np.ascontiguousarray(evidence.middles[seen]) + 1e-300
    weights = _expectation_maximisation(counts[seen], likelihood, pseudo, start)
    gain = float(counts[seen] @ (np.log(likelihood @ weights) - np.log(likelihood[:, 0])))
    trusted = 1.0 / (1.0 + exp(min(gate - gain, 700.0)))
    weights = trusted * weights
    weights[0] += 1.0 - trusted
    return weights


@kernel
def _expectation_maximisation(counts: Floats, likelihood: Floats, pseudo: Floats, start: Floats) -> Floats:
    weights = start.copy()
    size = len(weights)
    for _ in range(MOST_ROUNDS):
        fresh = pseudo.copy()
        for b in range(len(counts)):
            row = likelihood[b]
            total = 0.0
            for k in range(size):
                total += weights[k] * row[k]
            share = counts[b] / total
            for k in range(size):
                fresh[k] += share * weights[k] * row[k]
        fresh /= fresh.sum()
        change = np.abs(fresh - weights).max()
        weights = fresh
        if change < SETTLED:
            break
    return weights


def tables(evidence: Evidence, weights: Floats) -> tuple[Floats, Floats]:
    """At each magnitude of `GRID`: the share of it that the posterior mean removes, and its log density."""
    density = evidence.grid @ weights + 1e-300
    return (evidence.grid_noise @ weights) / density, np.log(density)


@kernel
def look_up(table: Floats, magnitude: float) -> float:
    """A table's value between two points of the grid; beyond the last one, that of the last."""
    place = min(log1p(magnitude) * RESOLUTION, BINS - 1e-6)
    below = int(place)
    return float(table[below] + (place - below) * (table[below + 1] - table[below]))
