"""The coefficients of one level at a run of gaps: contrast, bend and class of surroundings, in one pass.

Both are in standard deviations of their noise. `deviations` are those of an orthonormal detail of the level at each
gap: one period of them, a power of two of at least `BLOCK`; runs begin at multiples of `BLOCK` and are no longer.
"""

from __future__ import annotations

from math import sqrt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import UNKNOWN, Classes, class_of, leverage, zero_of
from sparsedp.recovery.shrinkage.trend_bends import (
    BOTH_SIDES,
    FAR,
    INNER_SPREAD,
    NEAR,
    NOWHERE,
    bend_spread,
    foreseen_sideways,
    trend_reach,
    trend_side,
)

BLOCK = 1024
"""Gaps in a run: their coefficients stay in the first-level cache until they are used."""


@kernel
def inner_run(n: int, level: int, start: int, stop: int) -> tuple[int, int]:
    """The part of start ≤ gap < stop where no end is in sight: contrast and bend do not overlap their mirror images."""
    reach = trend_reach(level)
    first = min(max(start, reach), stop)
    return first, max(first, min(stop, n + 1 - reach))


@kernel
def coefficients(
    sums: Floats,
    n: int,
    centre: float,
    level: int,
    deviations: Floats,
    start: int,
    stop: int,
    contrasts: Floats,
    bends: Floats,
    classes: Classes,
) -> None:
    """Those at gaps start ≤ … < stop, from the first place of each vector on; 0 where there is none.

    `centre` was taken off each of the n cells.
    """
    first, last = inner_run(n, level, start, stop)
    here = start & (len(deviations) - 1)
    local = deviations[here : here + stop - start]
    for gap in range(start, first):
        i = gap - start
        contrasts[i], bends[i], classes[i] = _near_an_end(sums, n, centre, level, local[i], gap)
    if last > first:
        inside = first - start
        _inside(
            sums, zero_of(sums, n) + first, centre, 1 << (level - 1), local[inside:],
            contrasts[inside : last - start], bends[inside:], classes[inside:],
        )  # fmt: skip
    for gap in range(last, stop):
        i = gap - start
        contrasts[i], bends[i], classes[i] = _near_an_end(sums, n, centre, level, local[i], gap)


@kernel
def _inside(
    sums: Floats,
    here: int,
    centre: float,
    half: int,
    deviations: Floats,
    contrasts: Floats,
    bends: Floats,
    classes: Classes,
) -> None:
    """From place `here` of the sums on: a loop without branches."""
    count = len(contrasts)
    scale = 1.0 / sqrt(2.0 * half)
    bend_scale = scale / sqrt(INNER_SPREAD)
    middle = sums[here : here + count]
    left_1, right_1 = sums[here - half : here - half + count], sums[here + half : here + half + count]
    left_2, right_2 = sums[here - 2 * half : here - 2 * half + count], sums[here + 2 * half : here + 2 * half + count]
    left_3, right_3 = sums[here - 3 * half : here - 3 * half + count], sums[here + 3 * half : here + 3 * half + count]
    left_5, right_5 = sums[here - 5 * half : here - 5 * half + count], sums[here + 5 * half : here + 5 * half + count]
    for i in range(count):
        contrast = 2.0 * middle[i] - left_1[i] - right_1[i]
        near = left_1[i] - left_3[i] - right_3[i] + right_1[i]
        far = left_3[i] - left_5[i] - right_5[i] + right_3[i]
        inverse = 1.0 / deviations[i]
        contrasts[i] = contrast * scale * inverse
        bends[i] = (contrast - NEAR * near - FAR * far) * bend_scale * inverse
    for i in range(count):
        classes[i] = class_of(
            left_2[i] - left_3[i], left_1[i] - left_2[i], right_2[i] - right_1[i], right_3[i] - right_2[i],
            deviations[i] / scale, half * centre,
        )  # fmt: skip


@kernel
def _near_an_end(
    sums: Floats, n: int, centre: float, level: int, deviation: float, gap: int
) -> tuple[float, float, int]:
    if gap == 0 or gap == n:
        return 0.0, 0.0, UNKNOWN  # mirror images cancel there
    half = 1 << (level - 1)
    here = zero_of(sums, n) + gap
    unit = deviation * sqrt(2.0 * half)
    contrast = 2.0 * sums[here] - sums[here - half] - sums[here + half]
    kind = UNKNOWN
    if gap >= 3 * half and n - gap >= 3 * half:
        kind = class_of(
            sums[here - 2 * half] - sums[here - 3 * half], sums[here - half] - sums[here - 2 * half],
            sums[here + 2 * half] - sums[here + half], sums[here + 3 * half] - sums[here + 2 * half], unit,
            half * centre,
        )  # fmt: skip
    bend = 0.0
    side = trend_side(gap, n, level)
    if side != NOWHERE and side != BOTH_SIDES:
        foreseen = foreseen_sideways(sums, here, gap, n, level, side)
        bend = (contrast - foreseen) / (unit * sqrt(bend_spread(gap, n, level, side)))
    return contrast / (unit * sqrt(leverage(gap, n, level))), bend, kind
