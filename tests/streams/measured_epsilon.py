"""How much privacy is lost at least, measured: an attack's scores on runs under D and under its neighbour D′."""

from __future__ import annotations

import numpy as np
from scipy import stats

from sparsedp.arrays import Floats, Integers

CONFIDENCE = 0.999
_ONE_SIDE = 1 - (1 - CONFIDENCE) / 2


def epsilon_lower_bound(scores: Floats, other_scores: Floats) -> float:
    """Whatever ε holds is at least this, with 99.9 % confidence: ln P(S | D′)/P(S | D) for a set S of large scores, or
    ln P(S | D)/P(S | D′) for a set of small ones.

    S is chosen on the first half of the runs and measured on the second, both probabilities by Clopper and Pearson.
    """
    half, other_half = len(scores) // 2, len(other_scores) // 2
    choices = {
        swapped: _best_threshold(*_directed(scores[:half], other_scores[:other_half], swapped))
        for swapped in (False, True)
    }
    swapped = max(choices, key=lambda swapped: choices[swapped][0])
    false_alarms, hits = _directed(scores[half:], other_scores[other_half:], swapped)
    return float(_bound(false_alarms, hits, np.array([choices[swapped][1]]))[0])


def most_measurable(runs: int) -> float:
    """The bound of an attack that is always right, on as many runs under each."""
    half = runs - runs // 2
    return float(_bound(np.zeros(half), np.ones(half), np.array([0.5]))[0])


def _directed(scores: Floats, other_scores: Floats, swapped: bool) -> tuple[Floats, Floats]:
    return (-other_scores, -scores) if swapped else (scores, other_scores)


def _best_threshold(false_alarms: Floats, hits: Floats) -> tuple[float, float]:
    """The largest bound and the threshold that gives it."""
    candidates = np.unique(np.quantile(hits, np.linspace(0, 1, 400), method="lower"))
    bounds = _bound(false_alarms, hits, candidates)
    return float(bounds.max()), float(candidates[bounds.argmax()])


def _bound(false_alarms: Floats, hits: Floats, thresholds: Floats) -> Floats:
    """For S = {score ≥ threshold}: ln of the least that P(S) can be under one over the most under the other."""
    least = clopper_pearson_lower(_at_least(hits, thresholds), len(hits))
    most = 1 - clopper_pearson_lower(len(false_alarms) - _at_least(false_alarms, thresholds), len(false_alarms))
    return np.log(np.maximum(least, np.finfo(np.float64).tiny) / most)


def _at_least(scores: Floats, thresholds: Floats) -> Integers:
    return len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")


def clopper_pearson_lower(successes: Integers, runs: int) -> Floats:
    """The one-sided lower limit of a probability, at 99.95 % each."""
    some = np.maximum(successes, 1)
    return np.where(successes > 0, stats.beta.ppf(1 - _ONE_SIDE, some, runs - some + 1), 0.0)
