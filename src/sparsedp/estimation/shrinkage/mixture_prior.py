"""The mixture prior of coefficients: zero, or Gaussian on a grid of scales, fitted by EM for the noise as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, isfinite

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.laws import IndependentLaw

UNKNOWN, CLASSES = 0, 9
"""Classes of neighbourhood: 0 if they do not fit between the ends; else 1 to 4, or 5 to 8 with counts in them."""

# The noise of a Haar coefficient: a sum of Laplace variables as a Gaussian whose variance is itself random.

NODES = 8
"""Of the quadrature over the random variance; exact for its first 16 moments."""

GAUSSIAN_FROM = 64.0
"""From this Gamma shape on, the variance hardly varies and the noise is taken for Gaussian."""

LEAST_SHAPE = 0.5
"""At scales well below 1 the discrete law is nearly always 0, which no Gamma variance resembles: stop here."""


def variance_shape(law: IndependentLaw) -> float:
    """The Gamma shape, for one cell, that matches the law's fourth moment: 1 for the continuous Laplace law.

    A Laplace variable is a Gaussian of exponential variance; that of an orthonormal coefficient of w cells is the
    mean of w such: Gamma of w times that shape. The discrete law's kurtosis, 5 + cosh(1/s), is a little higher than 6.
    The discrete Gaussian law's is 3 but for σ below about 1, so its shape is beyond all measure.
    """
    excess = law.fourth_moment / law.variance / law.variance - 3.0
    if not isfinite(excess):
        return 1.0
    return 3.0 / excess if excess > 1e-9 else inf


def noise_nodes(shape: float) -> tuple[Floats, Floats]:
    """Variances and weights: the noise, in standard deviations, is Gaussian of each variance with each probability.

    Gauss–Laguerre quadrature of the Gamma law of mean 1 (Golub and Welsch: the nodes are eigenvalues).
    """
    if shape >= GAUSSIAN_FROM:
        return np.ones(1), np.ones(1)
    shape = max(shape, LEAST_SHAPE)
    order = np.arange(1, NODES)
    beside = np.sqrt(order * (order + shape - 1))
    jacobi = np.diag(2.0 * np.arange(NODES) + shape) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    return nodes / shape, vectors[0] ** 2


# Magnitudes, in standard deviations of the noise, on a grid that is found from a float's bits.
#
# The bits of a float, read as an integer, grow like its logarithm and linearly in between: 1 + |z| needs no logarithm
# to find its place among `STEPS` equal steps to each doubling.

STEP_BITS = 5
STEPS = 1 << STEP_BITS

MOST = 2.0**15
"""A coefficient that reaches this many standard deviations is signal: nothing is removed from it."""

LAST = 15 * STEPS


def _steps(first: int) -> Floats:
    """The floats that are reached by `first` … `LAST` steps from 1."""
    steps = np.arange(first, LAST + 1)
    return np.asarray(np.ldexp(1.0 + steps % STEPS / STEPS, steps // STEPS))


GRID: Floats = _steps(0) - 1.0

_ONE = np.float64(1.0).view(np.int64)
_SHIFT = np.int64(52 - STEP_BITS)
_BELOW = (np.int64(1) << _SHIFT) - np.int64(1)
_PART = 1.0 / float(1 << (52 - STEP_BITS))


@kernel
def _step_below(value: float) -> tuple[int, float]:
    """The number of whole steps from 1 to the value, and the part of the next one that is left, in [0, 1)."""
    bits = np.float64(value).view(np.int64) - _ONE
    return int(bits >> _SHIFT), float((bits & _BELOW) * _PART)


@kernel
def place_of(value: float) -> tuple[int, float]:
    """The point of `GRID` at or below |value|, and how far the value is from there to the next, in [0, 1).

    From `MOST` − 1 on, and for what is not a number, the grid's last point.
    """
    magnitude = abs(value)
    return _step_below(1.0 + magnitude if magnitude < MOST - 1.0 else MOST)


@kernel
def count(value: float, counts: Floats, row: int) -> None:
    """Share one count, in a row of `counts`, out between the two points of `GRID` that |value| lies between.

    So a sum over the counts of any function at the points is that of its linear interpolation at the values. There is
    a place more than points, which stays 0.
    """
    place, part = place_of(value)
    counts[row, place] += 1.0 - part
    counts[row, place + 1] += part


# Empirical Bayes for one population of coefficients: a prior of zero and Gaussians of many scales, fitted by EM.
#
# Everything is in standard deviations of the noise and depends on the magnitude |z| only, so it is tabulated: the EM
# sees a histogram of magnitudes, and the posterior mean is looked up.

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
        return _evidence(variances.tobytes(), chances.tobytes())


@lru_cache(maxsize=32)
def _evidence(of_variances: bytes, of_chances: bytes) -> Evidence:
    """Kept, for the same few laws come again: with every level, and with every recovery that errors are learnt from."""
    variances, chances = np.frombuffer(of_variances), np.frombuffer(of_chances)
    total = SCALES[:, None, None] ** 2 + variances[:, None]
    height = chances[:, None] / np.sqrt(2 * np.pi * total)
    density = height * np.exp(-0.5 * GRID**2 / total)
    found = Evidence(density.sum(axis=1), (density * (variances[:, None] / total)).sum(axis=1))
    found.density.flags.writeable = found.noise.flags.writeable = False
    return found


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


# What one level of the frame teaches about itself: how its contrasts are spread.

NULL_COUNT = 10.0
"""Zeros that are imagined beside the coefficients seen: few coefficients cannot talk themselves into signal."""

POOLED_COUNT = 3.0
"""How many coefficients the finer level's prior counts for."""

CLASS_COUNT = 10.0
"""How many the level's common prior counts for in one class of neighbourhood."""

GATE = 4.0
"""Nats by which signal must explain the coefficients better than none at all does, to be believed by half."""

FEW = 100.0
"""The null count and the gate fade out below about this many cells: in a handful, every one may well differ."""


@dataclass(frozen=True)
class Population:
    """One kind of coefficient on one level; a row and a table a class of neighbourhood."""

    weights: Floats
    tables: Floats

    @classmethod
    def learn(cls, counts: Floats, evidence: Evidence, finer: Floats, doubt: float) -> Population:
        """`finer`: the weights on the level below; `doubt` scales the scepticism.

        Gaps of unknown neighbourhood take the prior of all together.
        """
        counts[UNKNOWN] = counts.sum(axis=0)
        weights = np.empty_like(finer)
        start = 0.9 * finer[UNKNOWN] + 0.1 * VAGUE
        pseudo = POOLED_COUNT * start
        pseudo[0] += NULL_COUNT * doubt
        weights[UNKNOWN] = fit(counts[UNKNOWN], evidence, 0.5 * (start + VAGUE), pseudo, GATE * doubt)
        for kind in range(1, len(finer)):
            start = 0.45 * (finer[kind] + weights[UNKNOWN]) + 0.1 * VAGUE
            pseudo = POOLED_COUNT * start + CLASS_COUNT * weights[UNKNOWN]
            weights[kind] = fit(counts[kind], evidence, 0.5 * (start + VAGUE), pseudo, GATE * doubt)
        return cls(weights, tables(evidence, weights))


def vague_weights() -> Floats:
    """What to believe before the first level."""
    return np.tile(VAGUE, (CLASSES, 1))


def scepticism(cells: int) -> float:
    """How much of the null count and of the gate applies."""
    return (cells + 1) / (cells + 1 + FEW)


def worth_of(width: float) -> float:
    """What one of a level's overlapping contrasts is worth in independent ones: 1/ΣA², A their autocorrelation."""
    return 3.0 * width / (width * width + 5.0)


@kernel
def removed_share(table: Floats, value: float) -> float:
    """The share of a coefficient that is removed."""
    place, part = place_of(value)
    return float(table[place, REMOVED] + part * table[place, REMOVED + 1])
