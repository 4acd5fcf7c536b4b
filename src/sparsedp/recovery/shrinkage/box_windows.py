"""Windows that are boxes: the translation-invariant Haar frame of a table, one axis at a time.

Every axis has a width, 1 at first. A step doubles the width of one axis: windows next to one another along it become
one, and their *contrast*, (mean before − mean after)/2, is what tells them apart. A window is known by its centre: on
an axis of width 1 by the cell, on any other by one of the n + 1 gaps between cells, the ends included. Beyond an end
the table is its own mirror image, so a window at gap −c is that at gap c, and a contrast there is minus that one.

Arrays are seen as (before, along, after): the axis that is worked on, and all axes before and after it as one. Work on
first ≤ number < last of their elements means on the lines along `after` that begin there.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import leverage

Singles = npt.NDArray[np.float32]
"""Of contrasts a few digits do: where the noise in one is hardly any of it, next to nothing is removed."""


@kernel
def _inside(gap: int, n: int) -> tuple[int, float]:
    """The gap that is the same by reflection at the ends, at most once, and the sign that a contrast has there."""
    if gap < 0:
        return -gap, -1.0
    if gap > n:
        return 2 * n - gap, -1.0
    return gap, 1.0


@kernel
def merge(windows: Floats, width: int, means: Floats, contrasts: Singles, first: int, last: int) -> None:
    """Windows of `width` cells along the axis into means and contrasts of windows of twice as many."""
    along, after = means.shape[1], means.shape[2]
    n = along - 1
    before, gap = divmod((first + after - 1) // after, along)
    gap -= 1
    for _ in range((first + after - 1) // after, (last + after - 1) // after):
        gap += 1
        if gap == along:
            before, gap = before + 1, 0
        if width == 1:
            left, right = max(gap - 1, 0), min(gap, n - 1)
        else:
            left, right = _inside(gap - width // 2, n)[0], _inside(gap + width // 2, n)[0]
        for i in range(after):
            one, other = windows[before, left, i], windows[before, right, i]
            means[before, gap, i] = 0.5 * (one + other)
            contrasts[before, gap, i] = 0.5 * (one - other)


@kernel
def narrow(means: Floats, contrasts: Singles, width: int, windows: Floats, first: int, last: int) -> None:
    """Back again: windows of `width` cells, each the mean of what the two wider ones say of which it is a half."""
    along, after = windows.shape[1], windows.shape[2]
    n = means.shape[1] - 1
    before, place = divmod((first + after - 1) // after, along)
    place -= 1
    for _ in range((first + after - 1) // after, (last + after - 1) // after):
        place += 1
        if place == along:
            before, place = before + 1, 0
        if width == 1:
            left, left_sign, right, right_sign = place, 1.0, place + 1, 1.0
        else:
            left, left_sign = _inside(place - width // 2, n)
            right, right_sign = _inside(place + width // 2, n)
        for i in range(after):
            as_left = means[before, right, i] + right_sign * contrasts[before, right, i]
            as_right = means[before, left, i] - left_sign * contrasts[before, left, i]
            windows[before, place, i] = 0.5 * (as_left + as_right)


@kernel
def contrast_deviations(n: int, width: int) -> Floats:
    """Of the noise of a contrast of `width` cells around each gap, relative to one far from the ends; 0 at the ends.

    Exact: a contrast that overlaps its mirror image counts some cells twice and others not at all.
    """
    level = 0
    while 1 << level < width:
        level += 1
    found = np.empty(n + 1)
    for gap in range(n + 1):
        found[gap] = sqrt(max(leverage(gap, n, level), 0.0))
    return found


def window_deviations(n: int, width: int) -> Floats:
    """The same for the mean of a window; 1 for cells."""
    if width == 1:
        return np.ones(n)
    gaps = np.arange(n + 1)
    overlap = np.maximum(0, width - 2 * gaps) + np.maximum(0, width - 2 * (n - gaps))
    return np.sqrt(1.0 + overlap / width)
