"""From the noise removed from each coefficient to that removed from each cell: the frame's inverse, level by level.

The inverse averages over all shifts. It is linear, so it is applied to what is *removed*: where nothing is, the cells
come back exactly as observed. Chunks are start ≤ gap, or cell, < stop.
"""

from __future__ import annotations

from math import sqrt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import window_spread
from sparsedp.recovery.shrinkage.magnitude_grid import place_of
from sparsedp.recovery.shrinkage.scale_mixture import REMOVED


@kernel
def removed_share(table: Floats, value: float) -> float:
    """The share of a coefficient that is removed."""
    place, part = place_of(value)
    return float(table[place, REMOVED] + part * table[place, REMOVED + 1])


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
