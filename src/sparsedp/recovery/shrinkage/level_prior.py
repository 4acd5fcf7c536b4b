"""What one level of the frame teaches about itself: how its contrasts and its bends are spread, and which to trust."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import SURROUNDINGS, UNKNOWN
from sparsedp.recovery.shrinkage.magnitude_grid import ODDS
from sparsedp.recovery.shrinkage.scale_mixture import VAGUE, Evidence, fit, tables

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

SMOOTH_COUNT, ROUGH_COUNT = 1.0, 3.0
"""Contrasts imagined to follow, and not to follow, a smooth trend."""

ODDS_ROUNDS = 30


@dataclass(frozen=True)
class Population:
    """One kind of coefficient on one level; a row and a table a class of surroundings."""

    weights: Floats
    tables: Floats

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
        return cls(weights, tables(evidence, weights))


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


def scepticism(cells: int) -> float:
    """How much of the null count and of the gate applies."""
    return (cells + 1) / (cells + 1 + FEW)


def worth_of(width: float) -> float:
    """What one of a level's overlapping contrasts is worth in independent ones: 1/ΣA², A their autocorrelation."""
    return 3.0 * width / (width * width + 5.0)


def smooth_chances(counts: Floats) -> Floats:
    """EM for the probability of "smooth" in each class, from histograms of the odds."""
    counts[UNKNOWN] = counts.sum(axis=0)
    smooth = np.empty(len(counts))
    for kind, row in enumerate(counts):
        seen = np.flatnonzero(row)
        smooth[kind] = _smooth_chance(row[seen], ODDS[seen])
    return smooth


@kernel
def _smooth_chance(counts: Floats, odds: Floats) -> float:
    smooth = 0.5
    total = counts.sum() + SMOOTH_COUNT + ROUGH_COUNT
    for _ in range(ODDS_ROUNDS):
        follow = SMOOTH_COUNT
        for b in range(len(counts)):
            follow += counts[b] * smooth * odds[b] / (1.0 - smooth + smooth * odds[b])
        smooth = follow / total
    return smooth
