"""Histograms of one level's coefficients, by class of surroundings: all that its prior is learnt from.

Each works on a chunk of gaps, start ≤ gap < stop, start a multiple of `BLOCK`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import SURROUNDINGS, leverage
from sparsedp.recovery.shrinkage.level_coefficients import BLOCK, coefficients
from sparsedp.recovery.shrinkage.magnitude_grid import GRID, ODDS, count, count_odds_of, place_of
from sparsedp.recovery.shrinkage.scale_mixture import DENSITY
from sparsedp.recovery.shrinkage.trend_bends import BOTH_SIDES, INNER_SPREAD, NOWHERE, bend_spread, trend_side

CONTRASTS, BENDS = 0, 1

INNER = 1.0 / sqrt(INNER_SPREAD)


@kernel
def count_magnitudes(
    sums: Floats, n: int, centre: float, level: int, deviations: Floats, start: int, stop: int
) -> Floats:
    """Counts of contrasts and of bends, by class and magnitude; without the ends and the bends that do not exist."""
    counts = np.zeros((2 * SURROUNDINGS, len(GRID) + 1))
    contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        coefficients(sums, n, centre, level, deviations, first, last, contrasts, bends, classes)
        for gap in range(max(first, 1), min(last, n)):
            i = gap - first
            count(contrasts[i], counts, classes[i])
            if trend_side(gap, n, level) != NOWHERE:
                count(bends[i], counts, SURROUNDINGS + classes[i])
    return counts[:, :-1].copy().reshape((2, SURROUNDINGS, len(GRID)))


@kernel
def count_windows(values: Floats) -> Floats:
    """Counts of the coarsest windows by magnitude, without the ends."""
    counts = np.zeros((1, len(GRID) + 1))
    for i in range(1, len(values) - 1):
        count(values[i], counts, 0)
    return counts[:, :-1]


@kernel
def count_odds(
    sums: Floats,
    n: int,
    centre: float,
    level: int,
    deviations: Floats,
    own: Floats,
    bent: Floats,
    start: int,
    stop: int,
) -> Floats:
    """Counts of the odds that a contrast follows the trend, by class.

    `own` and `bent` are the tables of the level's contrasts and bends.
    """
    counts = np.zeros((SURROUNDINGS, len(ODDS) + 1))
    contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        coefficients(sums, n, centre, level, deviations, first, last, contrasts, bends, classes)
        for gap in range(first, last):
            side = trend_side(gap, n, level)
            if gap == 0 or gap == n or side == NOWHERE:
                continue
            i = gap - first
            kind = classes[i]
            # Densities are compared in one unit: the bend's noise is a little wider than the contrast's.
            narrower = INNER if side == BOTH_SIDES else sqrt(leverage(gap, n, level) / bend_spread(gap, n, level, side))
            odds = narrower * _density(bent, kind, bends[i]) / _density(own, kind, contrasts[i])
            count_odds_of(odds, counts, kind)
    return counts[:, :-1]


@kernel
def _density(tables: Floats, kind: int, value: float) -> float:
    place, part = place_of(value)
    return float(tables[kind, place, DENSITY] + part * tables[kind, place, DENSITY + 1])
