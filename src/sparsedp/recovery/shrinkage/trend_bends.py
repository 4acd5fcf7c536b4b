"""Bends: what is left of a contrast when the trend around it is taken off; small wherever the counts are smooth.

A smooth trend's contrast can be read off the means of windows as wide as itself: of the two on either side (exact for
quartic polynomials), or, where these do not fit before an end, of the two on the inner side (exact for straight lines,
the mirror image beyond the end included). None of the windows shares a cell with the contrast.
"""

from __future__ import annotations

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import leverage

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
