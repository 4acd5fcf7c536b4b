"""From the noise removed from each coefficient to that removed from each cell: the frame's inverse, level by level.

The inverse averages over all shifts. It is linear, so it is applied to what is *removed*: where nothing is, the cells
come back exactly as observed.
"""

from __future__ import annotations

from math import exp, sqrt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import Classes, leverage, window_spread
from sparsedp.recovery.shrinkage.mixture_prior import MOST, look_up
from sparsedp.recovery.shrinkage.trend_bends import NOWHERE, bend_spread, trend, trend_side


@kernel
def remove_from_windows(values: Floats, level: int, deviations: Floats, removed: Floats, out: Floats) -> None:
    """Noise in the means of the coarsest windows, from their normalised differences to the mean of all cells."""
    n = len(values) - 1
    for gap in range(n + 1):
        out[gap] = _noise(values[gap], removed) * sqrt(window_spread(gap, n, level)) * deviations[gap]


@kernel
def remove_from_level(
    contrasts: Floats,
    bends: Floats,
    classes: Classes,
    level: int,
    deviations: Floats,
    own_removed: Floats,
    own_density: Floats,
    bent_removed: Floats,
    bent_density: Floats,
    smooth: Floats,
    means: Floats,
) -> None:
    """Overwrite the normalised contrasts with the noise in them, in units of a mean: (left mean − right mean)/2.

    `means[c]` is the noise already removed from the mean of the window around gap c. If the contrast follows the trend,
    what the windows around it lost is lost from its prediction too.
    """
    n = len(contrasts) - 1
    width = 1 << level
    scale = 1.0 / sqrt(float(width))
    for gap in range(1, n):
        kind = classes[gap]
        value = contrasts[gap]
        unit = deviations[gap] * scale
        spread = leverage(gap, n, level)
        noise = _noise(value, own_removed[kind]) * sqrt(spread) * unit
        side = trend_side(gap, n, level)
        if side != NOWHERE and smooth[kind] > 0.0:
            bend = bends[gap]
            wider = bend_spread(gap, n, level, side)
            bent = _noise(bend, bent_removed[kind]) * sqrt(wider) * unit + trend(means, gap, n, level, side)
            odds = look_up(bent_density[kind], abs(bend)) - look_up(own_density[kind], abs(value))
            ratio = smooth[kind] * exp(min(max(odds, -50.0), 50.0)) * sqrt(spread / wider)
            noise += (bent - noise) * ratio / (1.0 - smooth[kind] + ratio)
        contrasts[gap] = noise


@kernel
def _noise(value: float, removed: Floats) -> float:
    return look_up(removed, abs(value)) * value if abs(value) < MOST else 0.0


@kernel
def narrow_windows(means: Floats, differences: Floats, level: int, out: Floats) -> None:
    """Means over windows of 2^(level−1) cells around each gap: each is half of two windows of 2^level."""
    n = len(means) - 1
    quarter = 1 << (level - 2)
    for gap in range(n + 1):
        right, right_sign = gap + quarter, 1.0
        if right > n:
            right, right_sign = 2 * n - right, -1.0
        left, left_sign = gap - quarter, 1.0
        if left < 0:
            left, left_sign = -left, -1.0
        as_left_half = means[right] + right_sign * differences[right]
        as_right_half = means[left] - left_sign * differences[left]
        out[gap] = 0.5 * (as_left_half + as_right_half)


@kernel
def cells_from_gaps(means: Floats, differences: Floats, out: Floats) -> None:
    """The last step: cell i is the left half of the pair around gap i + 1 and the right half of that around gap i."""
    for i in range(len(out)):
        out[i] = 0.5 * (means[i + 1] + differences[i + 1] + means[i] - differences[i])
