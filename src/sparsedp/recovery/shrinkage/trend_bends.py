"""Bends: what is left of a contrast when the trend around it is taken off; small wherever the counts are smooth.

A smooth trend's contrast can be read off the means of windows as wide as itself: of the two on either side (exact for
quartic polynomials), or, where these do not fit before an end, of the two on the inner side (exact for straight lines,
the mirror image beyond the end included). None of the windows shares a cell with the contrast.
"""

from __future__ import annotations

from math import sqrt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import leverage

NEAR, FAR = 22 / 128, -3 / 128
"""Weights of the windows next to the contrast, and of those beyond, in its prediction from both sides."""

BOTH_SIDES, LEFT, RIGHT, NOWHERE = 0, 1, 2, 3


@kernel
def trend_side(gap: int, n: int, level: int) -> int:
    """Where the two windows fit: on both sides, on one only, or on none."""
    reach = 5 << (level - 1)
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
        return leverage(gap, n, level) + 2.0 * (NEAR * NEAR + FAR * FAR)
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
def bends(sums: Floats, level: int, deviations: Floats, out: Floats) -> None:
    """The bends at gaps 0 … n, in standard deviations of their noise; 0 where there is none."""
    n = len(out) - 1
    half = 1 << (level - 1)
    width = 2 * half
    scale = 1.0 / sqrt(float(width))
    out[0] = out[n] = 0.0
    for gap in range(1, n):
        side = trend_side(gap, n, level)
        if side == NOWHERE:
            out[gap] = 0.0
            continue
        here = n + gap
        contrast = 2.0 * sums[here] - sums[here - half] - sums[here + half]
        if side == BOTH_SIDES:
            near = sums[here - half] - sums[here - 3 * half] - sums[here + 3 * half] + sums[here + half]
            far = sums[here - 3 * half] - sums[here - 5 * half] - sums[here + 5 * half] + sums[here + 3 * half]
            foreseen = NEAR * near + FAR * far
        elif side == LEFT:
            inner = 2.0 * sums[here - 3 * half] - sums[here - 5 * half] - sums[here - half]
            foreseen = one_sided_weight(gap, n, level) * inner
        else:
            inner = 2.0 * sums[here + 3 * half] - sums[here + half] - sums[here + 5 * half]
            foreseen = one_sided_weight(gap, n, level) * inner
        out[gap] = (contrast - foreseen) * scale / (deviations[gap] * sqrt(bend_spread(gap, n, level, side)))
