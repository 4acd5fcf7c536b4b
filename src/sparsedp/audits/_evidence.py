"""What runs can prove: lower bounds on a privacy loss from how often events happened, and noise held against its law.

An event is anything that can be said of an output. If it has probability p under one data set and q under a neighbour,
then ε ≥ log(p/q), ρ ≥ D_α(p‖q)/α for every order α > 1 (Rényi's divergence between two coins: processing an output
brings nothing further apart), and δ ≥ p − e^ε·q. From n runs of each, p is at least and q at most what Clopper and
Pearson's limits say, with the stated confidence. Which event it is is chosen on one half of the runs and judged on the
other, so that choosing costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.audits._transcripts import CHOICE, COINS, GAUSSIAN, LAPLACE, Draw
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw

ONE_SIDE = 1e-5
"""How often one limit may fail; a bound has two."""

LEAST_P_VALUE = 1e-6
"""Noise that its law would bring about less often than this is not taken for it."""

ORDERS = np.array([1.01, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0])
"""Of Rényi's divergence: any will do, the best of them is taken."""

_BINS = 64

Divergence = Callable[[Floats, Floats], Floats]
"""From what p is at least and q at most, to a lower bound."""


def bound_epsilon(p: Floats, q: Floats) -> Floats:
    """log(p/q)."""
    return np.asarray(np.log(np.maximum(p, 1e-300) / q), np.float64)


def bound_rho(p: Floats, q: Floats) -> Floats:
    """The largest D_α(p‖q)/α; nothing where p is not above q."""
    tiny = 1e-300
    yes = [np.log(np.clip(each, tiny, 1.0))[..., None] for each in (p, q)]
    no = [np.log(np.clip(1 - each, tiny, 1.0))[..., None] for each in (p, q)]
    both = [ORDERS * one + (1 - ORDERS) * two for one, two in (yes, no)]
    found = np.logaddexp(*both) / (ORDERS - 1) / ORDERS
    return np.asarray(np.where(p > q, found.max(axis=-1), 0.0), np.float64)


def bound_delta(epsilon: Fraction) -> Divergence:
    """p − e^ε·q."""
    factor = exp(float(epsilon))
    return lambda p, q: np.asarray(p - factor * q, np.float64)


def lower_bound(scores: Floats, other: Floats, divergence: Divergence, one_side: float = ONE_SIDE) -> float:
    """What runs prove of a loss, given one number for each run; large ones speak for the second data set.

    The event is {score ≥ t} under the second, or {score ≤ t} under the first; t and which of them, one half decides.
    """
    first, second = (scores[0::2], other[0::2]), (scores[1::2], other[1::2])
    best: tuple[float, int, float] = (-np.inf, 1, 0.0)
    for sign, less, more in ((1, first[0], first[1]), (-1, -first[1], -first[0])):
        thresholds = np.unique(np.quantile(more, np.linspace(0, 1, 400), method="lower"))
        bounds = _bounds(less, more, thresholds, divergence, one_side)
        place = int(bounds.argmax())
        best = max(best, (float(bounds[place]), sign, float(thresholds[place])))
    _, sign, threshold = best
    less, more = second if sign == 1 else (-second[1], -second[0])
    return float(_bounds(less, more, np.array([threshold]), divergence, one_side)[0])


def _bounds(less: Floats, more: Floats, thresholds: Floats, divergence: Divergence, one_side: float) -> Floats:
    p = clopper_pearson_lower(_at_least(more, thresholds), len(more), one_side)
    q = 1 - clopper_pearson_lower(len(less) - _at_least(less, thresholds), len(less), one_side)
    return divergence(p, q)


def _at_least(scores: Floats, thresholds: Floats) -> Ints:
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left"), np.int64)


def clopper_pearson_lower(successes: npt.ArrayLike, runs: int, one_side: float = ONE_SIDE) -> Floats:
    """What a probability is at least, but for one time in 1/`one_side`."""
    from scipy import stats

    some = np.maximum(np.asarray(successes), 1)
    limits = stats.beta.ppf(one_side, some, runs - some + 1)
    return np.asarray(np.where(np.asarray(successes) > 0, limits, 0.0), np.float64)


def uniforms_of(draws: list[Draw], chance: np.random.Generator) -> Floats:
    """Numbers that are uniform on [0, 1] if each draw has the law that was asked for, and independent."""
    found: list[Floats] = [np.empty(0)]
    for draw in draws:
        if draw.kind == COINS:
            chances = np.array([float(each) for each in draw.before.exact()])
            low, high = np.where(draw.after, 0.0, chances), np.where(draw.after, chances, 1.0)
        elif draw.kind == CHOICE:
            least = min(draw.before)
            weights = np.exp([-float(each - least) for each in draw.before])
            edges = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
            low, high = edges[[draw.after]], edges[[draw.after + 1]]
        else:
            low, high = _tails(law_of(draw), draw.after - draw.before)
        found.append(low + chance.random(len(low)) * (high - low))
    return np.concatenate(found)


def law_of(draw: Draw) -> IndependentLaw:
    """Of noise that was asked for."""
    if draw.kind not in (LAPLACE, GAUSSIAN) or draw.parameter is None:
        raise ValueError(f"{draw.kind} has no law of noise")
    return DiscreteLaplaceLaw(draw.parameter) if draw.kind == LAPLACE else DiscreteGaussianLaw(draw.parameter)


def _tails(law: IndependentLaw, noise: Ints) -> tuple[Floats, Floats]:
    values, places = np.unique(noise, return_inverse=True)
    high = np.array([law.cdf(int(value)) for value in values])
    low = np.array([law.cdf(int(value) - 1) for value in values])
    return low[places], high[places]


def p_value(uniforms: Floats) -> float:
    """How often uniform numbers would be spread as unevenly over the unit interval."""
    from scipy import stats

    counts = np.histogram(uniforms, bins=_BINS, range=(0, 1))[0]
    return float(stats.chisquare(counts).pvalue) if len(uniforms) else 1.0
