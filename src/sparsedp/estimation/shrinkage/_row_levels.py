"""One level of the frame of a row: what its coefficients teach, the noise in them, and that in the cells."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage._row_contrasts import (
    BLOCK,
    BOTH_SIDES,
    FAR,
    INNER_SPREAD,
    NEAR,
    NOWHERE,
    Classes,
    bend_spread,
    coefficients,
    inner_run,
    leverage,
    trend,
    trend_side,
    window_spread,
)
from sparsedp.estimation.shrinkage.mixture_prior import (
    CLASSES,
    DENSITY,
    GRID,
    ODDS,
    REMOVED,
    count,
    count_odds_of,
    place_of,
    removed_share,
)
from sparsedp.jit import kernel

# Histograms of one level's coefficients, by class of neighbourhood: all that its prior is learnt from.
#
# Each works on a chunk of gaps, start ≤ gap < stop, start a multiple of `BLOCK`.

CONTRASTS, BENDS = 0, 1

INNER = 1.0 / sqrt(INNER_SPREAD)


@kernel
def count_magnitudes(
    sums: Floats, n: int, centre: float, level: int, deviations: Floats, start: int, stop: int
) -> Floats:
    """Counts of contrasts and of bends, by class and magnitude; without the ends and the bends that do not exist."""
    counts = np.zeros((2 * CLASSES, len(GRID) + 1))
    contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        coefficients(sums, n, centre, level, deviations, first, last, contrasts, bends, classes)
        for gap in range(max(first, 1), min(last, n)):
            i = gap - first
            count(contrasts[i], counts, classes[i])
            if trend_side(gap, n, level) != NOWHERE:
                count(bends[i], counts, CLASSES + classes[i])
    return counts[:, :-1].copy().reshape((2, CLASSES, len(GRID)))


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
    counts = np.zeros((CLASSES, len(ODDS) + 1))
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


# The noise in every contrast of a level: its posterior mean, whether the contrast follows the trend or not.


@kernel
def remove_from_level(
    sums: Floats,
    n: int,
    centre: float,
    level: int,
    deviations: Floats,
    own: Floats,
    bent: Floats,
    smooth: Floats,
    means: Floats,
    out: Floats,
    start: int,
    stop: int,
) -> None:
    """The noise in the contrasts at start ≤ gap < stop, in units of a mean: (left mean − right mean)/2.

    `own` and `bent` are the tables of the level's contrasts and bends, by class. `means[c]` is the noise already
    removed from the mean of the window around gap c. If the contrast follows the trend, what the windows around it
    lost is lost from its prediction too.
    """
    contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        coefficients(sums, n, centre, level, deviations, begin, end, contrasts, bends, classes)
        here = begin & (len(deviations) - 1)
        local = deviations[here : here + end - begin]
        first, last = inner_run(n, level, begin, end)
        if last > first:
            i, j = first - begin, last - begin
            _remove_inside(
                own, bent, smooth, means, first, level, local[i:j], contrasts[i:j], bends[i:j], classes[i:j],
                out[first:last],
            )  # fmt: skip
        for gap in range(begin, end):
            if gap < first or gap >= last:
                i = gap - begin
                out[gap] = _remove_near_an_end(
                    own, bent, smooth, means, n, level, local[i], contrasts[i], bends[i], classes[i], gap
                )


@kernel
def _remove_inside(
    own: Floats,
    bent: Floats,
    smooth: Floats,
    means: Floats,
    first: int,
    level: int,
    deviations: Floats,
    contrasts: Floats,
    bends: Floats,
    classes: Classes,
    out: Floats,
) -> None:
    """From gap `first` on, where no end is in sight: the loop that takes the time."""
    count = len(out)
    width = 1 << level
    scale = 1.0 / sqrt(float(width))
    wider = sqrt(INNER_SPREAD)
    left_1, right_1 = means[first - width : first - width + count], means[first + width : first + width + count]
    left_2 = means[first - 2 * width : first - 2 * width + count]
    right_2 = means[first + 2 * width : first + 2 * width + count]
    for i in range(count):
        foreseen = NEAR * (left_1[i] - right_1[i]) + FAR * (left_2[i] - right_2[i])
        unit = deviations[i] * scale
        kind = classes[i]
        out[i] = _noise(own, bent, kind, smooth[kind], unit, contrasts[i], bends[i], 1.0, wider, foreseen)


@kernel
def _remove_near_an_end(
    own: Floats,
    bent: Floats,
    smooth: Floats,
    means: Floats,
    n: int,
    level: int,
    deviation: float,
    contrast: float,
    bend: float,
    kind: int,
    gap: int,
) -> float:
    if gap == 0 or gap == n:
        return 0.0
    unit = deviation / sqrt(float(1 << level))
    narrow = sqrt(leverage(gap, n, level))
    side = trend_side(gap, n, level)
    if side == NOWHERE:
        return _noise(own, bent, kind, 0.0, unit, contrast, bend, narrow, 1.0, 0.0)
    wider = sqrt(bend_spread(gap, n, level, side))
    foreseen = trend(means, gap, n, level, side)
    return _noise(own, bent, kind, smooth[kind], unit, contrast, bend, narrow, wider, foreseen)


@kernel
def _noise(
    own: Floats,
    bent: Floats,
    kind: int,
    smooth: float,
    unit: float,
    contrast: float,
    bend: float,
    narrow: float,
    wider: float,
    foreseen: float,
) -> float:
    """A mixture: it follows the trend, with probability `smooth` a priori and the noise `foreseen`, or it does not.

    `narrow` and `wider` are the deviations of the contrast and of the bend in terms of `unit`.
    """
    place, part = place_of(contrast)
    noise = (own[kind, place, REMOVED] + part * own[kind, place, REMOVED + 1]) * contrast * narrow * unit
    density = own[kind, place, DENSITY] + part * own[kind, place, DENSITY + 1]
    place, part = place_of(bend)
    trending = (bent[kind, place, REMOVED] + part * bent[kind, place, REMOVED + 1]) * bend * wider * unit + foreseen
    # Densities are compared in one unit: the bend's noise is a little wider than the contrast's.
    ratio = smooth * narrow * (bent[kind, place, DENSITY] + part * bent[kind, place, DENSITY + 1])
    return float(noise + (trending - noise) * (ratio / ((1.0 - smooth) * wider * density + ratio)))


# From the noise removed from each coefficient to that removed from each cell: the frame's inverse, level by level.
#
# The inverse averages over all shifts. It is linear, so it is applied to what is *removed*: where nothing is, the cells
# come back exactly as observed. Chunks are start ≤ gap, or cell, < stop.


@kernel
def remove_from_windows(values: Floats, level: int, deviations: Floats, table: Floats, out: Floats) -> None:
    """Noise in the means of the coarsest windows, from their normalised differences to the mean of all cells."""
    n = len(values) - 1
    for gap in range(n + 1):
        spread = sqrt(window_spread(gap, n, level)) * deviations[gap & (len(deviations) - 1)]
        out[gap] = removed_share(table, values[gap]) * values[gap] * spread


@kernel
def narrow_windows(means: Floats, differences: Floats, level: int, out: Floats, start: int, stop: int) -> None:
    """Means over windows of 2^(level−1) cells around each gap: each is half of two windows of 2^level."""
    n = len(means) - 1
    quarter = 1 << (level - 2)
    first, last = min(max(start, quarter), stop), max(start, min(stop, n + 1 - quarter))
    for gap in range(start, first):
        out[gap] = _halves(means, differences, gap - quarter, gap + quarter)
    for gap in range(first, last):
        left, right = gap - quarter, gap + quarter
        out[gap] = 0.5 * (means[left] - differences[left] + means[right] + differences[right])
    for gap in range(max(first, last), stop):
        out[gap] = _halves(means, differences, gap - quarter, gap + quarter)


@kernel
def _halves(means: Floats, differences: Floats, left: int, right: int) -> float:
    """The window between two gaps, as half of the windows around either; beyond an end they are mirror images."""
    n = len(means) - 1
    left_sign = right_sign = 1.0
    if right > n:
        right, right_sign = 2 * n - right, -1.0
    if left < 0:
        left, left_sign = -left, -1.0
    return float(0.5 * (means[left] - left_sign * differences[left] + means[right] + right_sign * differences[right]))


@kernel
def cells_from_gaps(means: Floats, differences: Floats, out: Floats, start: int, stop: int) -> None:
    """The last step: cell i is the left half of the pair around gap i + 1 and the right half of that around gap i."""
    for i in range(start, stop):
        out[i] = 0.5 * (means[i + 1] + differences[i + 1] + means[i] - differences[i])
