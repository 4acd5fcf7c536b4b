"""The mixture prior of coefficients: zero, or Gaussian on a grid of scales, fitted by EM for the noise as it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, isfinite

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.laws import IndependentLaw

NO_CLASS, CLASSES = 0, 9
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
# to find its place among `STEPS_TO_DOUBLE` equal steps to each doubling.

STEP_BITS = 5
STEPS_TO_DOUBLE = 1 << STEP_BITS

SURELY_SIGNAL = 2.0**15
"""A coefficient that reaches this many standard deviations is signal: nothing is removed from it."""

LAST = 15 * STEPS_TO_DOUBLE


def _steps(first: int) -> Floats:
    """The floats that are reached by `first` … `LAST` steps from 1."""
    steps = np.arange(first, LAST + 1)
    return np.asarray(np.ldexp(1.0 + steps % STEPS_TO_DOUBLE / STEPS_TO_DOUBLE, steps // STEPS_TO_DOUBLE))


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
def grid_place(value: float) -> tuple[int, float]:
    """The point of `GRID` at or below |value|, and how far the value is from there to the next, in [0, 1).

    From `SURELY_SIGNAL` − 1 on, and for what is not a number, the grid's last point.
    """
    magnitude = abs(value)
    return _step_below(1.0 + magnitude if magnitude < SURELY_SIGNAL - 1.0 else SURELY_SIGNAL)


@kernel
def count(value: float, counts: Floats, row: int) -> None:
    """Share one count, in a row of `counts`, out between the two points of `GRID` that |value| lies between.

    So a sum over the counts of any function at the points is that of its linear interpolation at the values. There is
    a place more than points, which stays 0.
    """
    place, part = grid_place(value)
    counts[row, place] += 1.0 - part
    counts[row, place + 1] += part


# The weights of a mixture whose components are given, by EM: what all empirical Bayes here is learnt with.

MOST_ROUNDS, SETTLED_WEIGHTS = 100, 1e-4
"""Of EM; it ends when no weight moves by more than the second."""

LEAST_WEIGHT = 1e-12
"""A component of less adds nothing to a density."""

POOLED_COUNT = 3.0
"""How many of those seen the prior of a larger population counts for: of the finer level, of all kinds of cells."""

LEARNABLE_VARIANCE = 1.0
"""Of the noise: where it is mostly 0, one unit of it is many deviations, and cells one by one teach nothing."""

GATE = 4.0
"""Nats by which something must explain what is seen better than nothing at all does, to be believed by half."""


@kernel
def mixture_weights(
    counts: Floats,
    likelihood: Floats,
    start: Floats,
    pseudo: Floats,
    rounds: int = MOST_ROUNDS,
    settled: float = SETTLED_WEIGHTS,
) -> Floats:
    """By penalised likelihood, from `start`: a row of `likelihood` is a component, a column what was seen `counts`
    times.

    `pseudo`: how many of each component are imagined beside those seen. Ends when no weight moves by more than
    `settled`. Loops that run along memory, and no matrix products: where several processes share the cores, a library's
    threads would wait for each other in every round.
    """
    components, seen = likelihood.shape
    by_place = np.ascontiguousarray(likelihood.T)
    weights, density, fresh = start.copy(), np.empty(seen), np.empty(components)
    for _ in range(rounds):
        density[:] = 1e-300
        for component in range(components):
            weight = weights[component]
            if weight > LEAST_WEIGHT:
                for i in range(seen):
                    density[i] += weight * likelihood[component, i]
        fresh[:] = 0.0
        for i in range(seen):
            share = counts[i] / density[i]
            for component in range(components):
                fresh[component] += share * by_place[i, component]
        fresh = pseudo + weights * fresh
        fresh /= max(fresh.sum(), 1e-300)
        change = np.abs(fresh - weights).max()
        weights[:] = fresh
        if change < settled:
            break
    return weights


def unless_nothing(counts: Floats, likelihood: Floats, weights: Floats, gate: float) -> Floats:
    """If weights explain hardly more than the first component alone does, they are mixed with that, by the odds of the
    two; even odds are a gain of `gate` nats.
    """
    gain = float(counts @ (np.log(weights @ likelihood) - np.log(likelihood[0])))
    mixed = weights / (1.0 + exp(min(gate - gain, 700.0)))
    mixed[0] += 1.0 - mixed.sum()
    return np.asarray(mixed)


# Empirical Bayes for one population of coefficients: a prior of zero and Gaussians of many scales, fitted by EM.
#
# Everything is in standard deviations of the noise and depends on the magnitude |z| only, so it is tabulated: the EM
# sees a histogram of magnitudes, and the posterior mean is looked up.

SCALES: Floats = np.concatenate([np.zeros(1), 2.0 ** np.arange(-2, 15)])
"""Standard deviations of the prior's components, the first being zero itself."""

VAGUE_WEIGHTS: Floats = np.concatenate([np.full(1, 0.5), np.full(len(SCALES) - 1, 0.5 / (len(SCALES) - 1))])

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
    """The components' weights, `counts[b]` coefficients having been seen at GRID[b]; the first one is no signal."""
    seen = np.flatnonzero(counts)
    likelihood = evidence.density.take(seen, axis=1) + 1e-300
    weights = mixture_weights(counts[seen], likelihood, start, pseudo)
    return unless_nothing(counts[seen], likelihood, weights, gate)


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

CLASS_COUNT = 10.0
"""How many the level's common prior counts for in one class of neighbourhood."""

FULL_DOUBT_FROM = 100.0
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
        counts[NO_CLASS] = counts.sum(axis=0)
        weights = np.empty_like(finer)
        start = 0.9 * finer[NO_CLASS] + 0.1 * VAGUE_WEIGHTS
        pseudo = POOLED_COUNT * start
        pseudo[0] += NULL_COUNT * doubt
        weights[NO_CLASS] = fit(counts[NO_CLASS], evidence, 0.5 * (start + VAGUE_WEIGHTS), pseudo, GATE * doubt)
        for kind in range(1, len(finer)):
            start = 0.45 * (finer[kind] + weights[NO_CLASS]) + 0.1 * VAGUE_WEIGHTS
            pseudo = POOLED_COUNT * start + CLASS_COUNT * weights[NO_CLASS]
            weights[kind] = fit(counts[kind], evidence, 0.5 * (start + VAGUE_WEIGHTS), pseudo, GATE * doubt)
        return cls(weights, tables(evidence, weights))


def scepticism(cells: int) -> float:
    """How much of the null count and of the gate applies."""
    return (cells + 1) / (cells + 1 + FULL_DOUBT_FROM)


def worth_of(width: float) -> float:
    """What one of a level's overlapping contrasts is worth in independent ones: 1/ΣA², A their autocorrelation."""
    return 3.0 * width / (width * width + 5.0)


@kernel
def removed_share(table: Floats, value: float) -> float:
    """The share of a coefficient that is removed."""
    place, part = grid_place(value)
    return float(table[place, REMOVED] + part * table[place, REMOVED + 1])
