"""Empirical Bayes for one population of coefficients: a prior of zero and Gaussians of many scales, fitted by EM.

Everything is in standard deviations of the noise and depends on the magnitude |z| only, so it is tabulated: the EM sees
a histogram of magnitudes, and the posterior mean is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.magnitude_grid import GRID

SCALES: Floats = np.concatenate([np.zeros(1), 2.0 ** np.arange(-2, 15)])
"""Standard deviations of the prior's components, the first being zero itself."""

VAGUE: Floats = np.concatenate([np.full(1, 0.5), np.full(len(SCALES) - 1, 0.5 / (len(SCALES) - 1))])

MOST_ROUNDS = 100
SETTLED = 1e-4

REMOVED, DENSITY, COLUMNS = 0, 2, 4
"""Columns of a table: each of the two is followed by its difference to the next point of the grid."""


@dataclass(frozen=True)
class Evidence:
    """At each point of the grid, for one noise law: the density under each component, a row each; and that times the
    share of the magnitude that is noise then.
    """

    density: Floats
    noise: Floats

    @classmethod
    def of(cls, variances: Floats, chances: Floats) -> Evidence:
        """`variances` and `chances` are `noise_nodes`."""
        total = SCALES[:, None, None] ** 2 + variances[:, None]
        height = chances[:, None] / np.sqrt(2 * np.pi * total)
        density = height * np.exp(-0.5 * GRID**2 / total)
        return cls(density.sum(axis=1), (density * (variances[:, None] / total)).sum(axis=1))


def fit(counts: Floats, evidence: Evidence, start: Floats, pseudo: Floats, gate: float) -> Floats:
    """The components' weights by penalised likelihood, from `start`; `counts[b]` coefficients were seen at GRID[b].

    `pseudo`: how many coefficients of each component are imagined beside those seen. If the fit explains hardly more
    than "no signal" does, it is mixed with that, by the odds of the two; even odds are a gain of `gate` nats.
    """
    seen = np.flatnonzero(counts)
    likelihood = evidence.density.take(seen, axis=1) + 1e-300
    weights = _expectation_maximisation(counts[seen], likelihood, pseudo, start)
    gain = float(counts[seen] @ (np.log(weights @ likelihood) - np.log(likelihood[0])))
    trusted = 1.0 / (1.0 + exp(min(gate - gain, 700.0)))
    weights = trusted * weights
    weights[0] += 1.0 - trusted
    return weights


@kernel
def _expectation_maximisation(counts: Floats, likelihood: Floats, pseudo: Floats, start: Floats) -> Floats:
    weights = start.copy()
    for _ in range(MOST_ROUNDS):
        share = counts / np.dot(weights, likelihood)
        fresh = pseudo + weights * np.dot(likelihood, share)
        fresh /= fresh.sum()
        change = np.abs(fresh - weights).max()
        weights = fresh
        if change < SETTLED:
            break
    return weights


def tables(evidence: Evidence, weights: Floats) -> Floats:
    """A table for each row of `weights`: at each magnitude of `GRID`, the share of it that the posterior mean removes,
    and its density.

    Beyond the last point nothing is removed and the density stays.
    """
    density = weights @ evidence.density + 1e-300
    found = np.zeros((len(weights), len(GRID), COLUMNS))
    found[:, :-1, REMOVED] = ((weights @ evidence.noise) / density)[:, :-1]
    found[:, :, DENSITY] = density
    found[:, :-1, REMOVED + 1 :: 2] = np.diff(found[:, :, ::2], axis=1)
    return found
