"""What one level of the frame teaches about itself: how its contrasts and its bends are spread, and which to trust."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import SURROUNDINGS, UNKNOWN, Classes, leverage
from sparsedp.recovery.shrinkage.mixture_prior import BINS, RESOLUTION, VAGUE, Evidence, fit, look_up, tables
from sparsedp.recovery.shrinkage.trend_bends import NOWHERE, bend_spread, trend_side

NULL_COUNT = 10.0
"""Zeros that are imagined beside the coefficients seen: few coefficients cannot talk themselves into signal."""

POOLED_COUNT = 3.0
"""How many coefficients the finer level's prior counts for."""

CLASS_COUNT = 10.0
"""How many the level's common prior counts for in one class of surroundings."""

GATE = 4.0
"""Nats by which signal must explain the coefficients better than none at all does, to be believed by half."""

FEW = 100.0
"""The null count and the gate fade out below about this many cells: in a handful, every one may well differ."""

ODDS_BINS, ODDS_RESOLUTION = 1024, 32.0
"""Log-odds of "smooth" are counted in steps of 1/32, from −16 to 16; what lies beyond is as certain as it gets."""

SMOOTH_COUNT, ROUGH_COUNT = 1.0, 3.0
"""Contrasts imagined to follow, and not to follow, a smooth trend."""

ODDS_ROUNDS = 30


@dataclass(frozen=True)
class Population:
    """One kind of coefficient on one level; a row a class of surroundings."""

    weights: Floats
    removed: Floats
    density: Floats

    @classmethod
    def learn(cls, counts: Floats, evidence: Evidence, finer: Floats, doubt: float) -> Population:
        """`finer`: the weights on the level below; `doubt` scales the scepticism.

        Gaps of unknown surroundings take the prior of all together.
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
        rows = [tables(evidence, row) for row in weights]
        return cls(weights, np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))


@dataclass(frozen=True)
class LevelPrior:
    """The priors of a level; `smooth[k]` is the probability, in class k, that a contrast follows the trend."""

    contrasts: Population
    bends: Population
    smooth: Floats

    def signal_share(self) -> float:
        """Prior probability that a contrast of the level is not zero."""
        return float(1.0 - self.contrasts.weights[UNKNOWN, 0])


def vague_weights() -> Floats:
    """What to believe before the first level."""
    return np.tile(VAGUE, (SURROUNDINGS, 1))


def _scepticism(gaps: int) -> float:
    return gaps / (gaps + FEW)


def worth_of(width: float) -> float:
    """What one of a level's overlapping contrasts is worth in independent ones: 1/ΣA², A their autocorrelation."""
    return 3.0 * width / (width * width + 5.0)


def learn_windows(windows: Floats, worth: float, evidence: Evidence, finer: Floats) -> Population:
    """Fit the coarsest windows, whose surroundings are unknown and which follow no trend."""
    classes = np.zeros(len(windows), np.uint8)
    return Population.learn(
        worth * _histogram(windows, classes, 0), evidence, finer[UNKNOWN:1], _scepticism(len(windows))
    )


def learn_level(
    level: int,
    contrasts: Floats,
    bends: Floats,
    classes: Classes,
    worth: float,
    evidence: Evidence,
    finer: tuple[Floats, Floats],
) -> LevelPrior:
    """Fit a level, each of its coefficients counting for `worth`; `finer`: the weights on the level below."""
    own = Population.learn(worth * _histogram(contrasts, classes, 0), evidence, finer[0], _scepticism(len(contrasts)))
    counts = worth * _histogram(bends, classes, level)
    if not counts.any():
        return LevelPrior(own, Population(finer[1], own.removed, own.density), np.zeros(SURROUNDINGS))
    bent = Population.learn(counts, evidence, finer[1], _scepticism(len(contrasts)))
    odds = worth * _odds(level, contrasts, bends, classes, own.density, bent.density)
    return LevelPrior(own, bent, _mixing(odds))


@kernel
def _histogram(values: Floats, classes: Classes, bends_of: int) -> Floats:
    """Counts by class and magnitude; if these are the bends of a level, without those that do not exist."""
    n = len(values) - 1
    counts = np.zeros((SURROUNDINGS, BINS))
    for gap in range(1, n):
        if bends_of == 0 or trend_side(gap, n, bends_of) != NOWHERE:
            place = int(np.log1p(abs(values[gap])) * RESOLUTION)
            counts[classes[gap], min(place, BINS - 1)] += 1.0
    return counts


@kernel
def _odds(level: int, contrasts: Floats, bends: Floats, classes: Classes, own: Floats, bent: Floats) -> Floats:
    n = len(contrasts) - 1
    counts = np.zeros((SURROUNDINGS, ODDS_BINS))
    for gap in range(1, n):
        side = trend_side(gap, n, level)
        if side == NOWHERE:
            continue
        kind = classes[gap]
        # Densities are compared in one unit: the bend's noise is a little wider than the contrast's.
        narrower = 0.5 * np.log(leverage(gap, n, level) / bend_spread(gap, n, level, side))
        odds = look_up(bent[kind], abs(bends[gap])) - look_up(own[kind], abs(contrasts[gap])) + narrower
        place = int(np.floor(odds * ODDS_RESOLUTION)) + ODDS_BINS // 2
        counts[kind, min(max(place, 0), ODDS_BINS - 1)] += 1.0
    return counts


def _mixing(counts: Floats) -> Floats:
    """EM for the probability of "smooth" in each class, from a histogram of log-odds."""
    counts[UNKNOWN] = counts.sum(axis=0)
    ratio = np.exp((np.arange(ODDS_BINS) + 0.5 - ODDS_BINS // 2) / ODDS_RESOLUTION)
    smooth = np.full(len(counts), 0.5)
    for _ in range(ODDS_ROUNDS):
        chance = smooth[:, None] * ratio / (1.0 - smooth[:, None] + smooth[:, None] * ratio)
        smooth = ((counts * chance).sum(axis=1) + SMOOTH_COUNT) / (counts.sum(axis=1) + SMOOTH_COUNT + ROUGH_COUNT)
    return smooth
