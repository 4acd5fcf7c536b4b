"""The noise in every contrast of a level: its posterior mean, whether the contrast follows the trend or not."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import Classes, leverage
from sparsedp.recovery.shrinkage.level_coefficients import BLOCK, coefficients, inner_run
from sparsedp.recovery.shrinkage.magnitude_grid import place_of
from sparsedp.recovery.shrinkage.scale_mixture import DENSITY, REMOVED
from sparsedp.recovery.shrinkage.trend_bends import FAR, INNER_SPREAD, NEAR, NOWHERE, bend_spread, trend, trend_side


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
            _inside(
                own, bent, smooth, means, first, level, local[i:j], contrasts[i:j], bends[i:j], classes[i:j],
                out[first:last],
            )  # fmt: skip
        for gap in range(begin, end):
            if gap < first or gap >= last:
                i = gap - begin
                out[gap] = _near_an_end(
                    own, bent, smooth, means, n, level, local[i], contrasts[i], bends[i], classes[i], gap
                )


@kernel
def _inside(
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
def _near_an_end(
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
