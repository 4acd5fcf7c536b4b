"""Contrasts and bends of one level of a row, at every gap, and the classes of what surrounds them."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage.mixture_prior import (
    UNKNOWN,
)
from sparsedp.jit import kernel

# The translation-invariant Haar frame of n cells, indexed by the gaps between cells.
#
# On level j, half = 2^(j−1), the contrast at gap c (between cells c−1 and c) is the sum of the `half` cells left of the
# gap minus the sum of the `half` cells right of it: over all levels and gaps, every shift of every Haar detail. Cells
# beyond an end are the mirror image of those inside, so no end is joined to the other one, every n has all its shifts,
# and reversing the cells only changes signs. All is read off one vector of sums, so no level is ever stored.
#
# A contrast that overlaps its own mirror image counts some cells twice and others not at all: `leverage` is the exact
# variance of its noise, relative to one that does not.

Classes = npt.NDArray[np.uint8]

OCCUPIED = 4
"""From a class to the same with counts around."""

RING_SEEN, NEIGHBOURS_SEEN, COUNTS_SEEN = 2.5, 2.0, 2.5
"""In standard deviations of the noise: what is taken for a sign of signal nearby."""


@kernel
def mirrored_sums(cells: Floats, centre: float, margin: int) -> Floats:
    """`sums[margin + i]` is the sum of the mirrored (cells − centre) 0 ≤ … < i, for −margin ≤ i ≤ n + margin."""
    n = len(cells)
    sums = np.empty(n + 1 + 2 * margin)
    total = sums[margin] = 0.0
    for i in range(n):
        total += cells[i] - centre
        sums[margin + i + 1] = total
    mirror(sums, margin)
    return sums


@kernel
def mirror(sums: Floats, margin: int) -> None:
    """Fill in the sums beyond the ends."""
    last = len(sums) - 1 - margin
    for i in range(1, margin + 1):
        sums[margin - i] = -sums[margin + i]
        sums[last + i] = 2.0 * sums[last] - sums[last - i]


@kernel
def zero_of(sums: Floats, n: int) -> int:
    """The place of gap 0 in the sums of n cells."""
    return (len(sums) - 1 - n) // 2


@kernel
def leverage(gap: int, n: int, level: int) -> float:
    """1 − A(distance to the mirror image at either end), A being the autocorrelation of the Haar detail."""
    return 1.0 - _autocorrelation(2 * gap, level) - _autocorrelation(2 * (n - gap), level)


@kernel
def _autocorrelation(lag: int, level: int) -> float:
    width = 1 << level
    if lag >= width:
        return 0.0
    share = lag / width
    return 1.0 - 3.0 * share if 2 * lag <= width else share - 1.0


@kernel
def class_of(before: float, left: float, right: float, after: float, unit: float, centre: float) -> int:
    """Is there signal in the cells around a contrast, none of which the contrast uses?

    The arguments are sums of `half` cells, the contrast lying between `left` and `right`. The ring compares these two:
    a jump at the gap, or a slope, shows there too. The neighbours are the contrasts next to it on either side: they
    show that the region is rough. And all four together show whether there is anything at all: counts scatter, and
    where there are none nothing does. `centre` was taken off each of the four. None shares a cell with the contrast,
    whose noise therefore has the same law in every class.
    """
    first, second = before - left, right - after
    counts = abs(before + left + right + after + 4.0 * centre) > COUNTS_SEEN * sqrt(2.0) * unit
    ring = abs(left - right) > RING_SEEN * unit
    rough = first * first + second * second > 2.0 * (NEIGHBOURS_SEEN * unit) ** 2
    return 1 + OCCUPIED * int(counts) + 2 * int(ring) + int(rough)


@kernel
def window_spread(gap: int, n: int, level: int) -> float:
    """Variance of (mean of the 2^level cells around the gap − mean of all cells), cells having variance 1."""
    width = float(1 << level)
    overlap = max(0.0, width - 2 * gap) + max(0.0, width - 2 * (n - gap))
    spread = (1.0 + overlap / width) / width - 1.0 / n
    return spread if spread > 1e-9 / n else 0.0


@kernel
def windows(sums: Floats, level: int, deviations: Floats, out: Floats) -> None:
    """Means of the 2^level cells around every gap minus the mean of all, in standard deviations of their noise.

    `deviations`: of the noise in an orthonormal detail of the level at each gap, one period of them.
    """
    n = len(out) - 1
    zero = zero_of(sums, n)
    half = 1 << (level - 1)
    mean = sums[zero + n] / n
    for gap in range(n + 1):
        spread = window_spread(gap, n, level)
        difference = (sums[zero + gap + half] - sums[zero + gap - half]) / (2.0 * half) - mean
        out[gap] = difference / (sqrt(spread) * deviations[gap & (len(deviations) - 1)]) if spread > 0.0 else 0.0


# Bends: what is left of a contrast when the trend around it is taken off; small wherever the counts are smooth.
#
# A smooth trend's contrast can be read off the means of windows as wide as itself: of the two on either side (exact for
# quartic polynomials), or, where these do not fit before an end, of the two on the inner side (exact for straight
# lines, the mirror image beyond the end included). None of the windows shares a cell with the contrast.

NEAR, FAR = 22 / 128, -3 / 128
"""Weights of the windows next to the contrast, and of those beyond, in its prediction from both sides."""

INNER_SPREAD = 1.0 + 2.0 * (NEAR * NEAR + FAR * FAR)
"""The variance of a bend's noise away from the ends, relative to that of its contrast."""

BOTH_SIDES, LEFT, RIGHT, NOWHERE = 0, 1, 2, 3


@kernel
def trend_reach(level: int) -> int:
    """How far from an end the windows on both sides fit."""
    return 5 << (level - 1)


@kernel
def trend_side(gap: int, n: int, level: int) -> int:
    """Where the two windows fit: on both sides, on one only, or on none."""
    reach = trend_reach(level)
    if gap >= reach:
        return BOTH_SIDES if n - gap >= reach else LEFT
    return RIGHT if n - gap >= reach else NOWHERE


@kernel
def one_sided_weight(gap: int, n: int, level: int) -> float:
    """Of the difference of the two inner windows' means: a quarter, less where the contrast is part mirror image."""
    room = min(gap, n - gap) / (1 << (level - 1))
    return 0.25 * room * (2.0 - room) if room < 1.0 else 0.25


@kernel
def bend_spread(gap: int, n: int, level: int, side: int) -> float:
    """The variance of a bend's noise, relative to that of a contrast away from the ends."""
    if side == BOTH_SIDES:
        return leverage(gap, n, level) + INNER_SPREAD - 1.0
    weight = one_sided_weight(gap, n, level)
    return leverage(gap, n, level) + 2.0 * weight * weight


@kernel
def trend(means: Floats, gap: int, n: int, level: int, side: int) -> float:
    """The contrast, as (left mean − right mean)/2, that follows from `means[c]` over the windows around gaps c."""
    width = 1 << level
    if side == BOTH_SIDES:
        near = means[gap - width] - means[gap + width]
        return float(NEAR * near + FAR * (means[gap - 2 * width] - means[gap + 2 * width]))
    weight = one_sided_weight(gap, n, level)
    if side == LEFT:
        return float(weight * (means[gap - 2 * width] - means[gap - width]))
    return float(weight * (means[gap + width] - means[gap + 2 * width]))


@kernel
def foreseen_sideways(sums: Floats, here: int, gap: int, n: int, level: int, side: int) -> float:
    """The contrast that follows from the sums of the windows on one side; `here` is the gap's place in `sums`."""
    half = 1 << (level - 1)
    inwards = -half if side == LEFT else half
    inner = 2.0 * sums[here + 3 * inwards] - sums[here + 5 * inwards] - sums[here + inwards]
    return float(one_sided_weight(gap, n, level) * inner)


# The coefficients of one level at a run of gaps: contrast, bend and class of neighbourhood, in one pass.
#
# Both are in standard deviations of their noise. `deviations` are those of an orthonormal detail of the level at each
# gap: one period of them, a power of two of at least `BLOCK`; runs begin at multiples of `BLOCK` and are no longer.

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
