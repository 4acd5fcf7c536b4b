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
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import leverage

Kind = TypeVar("Kind", bound=np.generic)

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
def _rows(seen: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """Without the axes after, of which there are none."""
    return seen.reshape(seen.shape[0], seen.shape[1])


@kernel
def merge(windows: Floats, width: int, unit: float, means: Floats, contrasts: Singles, first: int, last: int) -> None:
    """Windows of `width` cells along the axis into means and contrasts, in a `unit`, of windows of twice as many."""
    along, after = means.shape[1], means.shape[2]
    if after == 1:
        finer, wider, apart = _rows(windows), _rows(means), _rows(contrasts)
        for row in range(first // along, -(-last // along)):
            here, there = max(first - row * along, 0), min(last - row * along, along)
            _merge_row(finer[row], width, unit, wider[row], apart[row], here, there)
        return
    for line in range((first + after - 1) // after, (last + after - 1) // after):
        before, gap = divmod(line, along)
        left, right = _halves_of(gap, width, along - 1)
        _merge(windows[before, left], windows[before, right], unit, means[before, gap], contrasts[before, gap])


@kernel
def _merge_row(
    windows: Floats, width: int, unit: float, means: Floats, contrasts: Singles, first: int, last: int
) -> None:
    """The same for the gaps first ≤ number < last of one row, those in the middle all at once."""
    n, half = len(means) - 1, max(width // 2, 1)
    middle, end = min(max(first, half), last), max(first, min(last, n + 1 - half))
    for gap in range(first, last):
        if middle <= gap < end:
            continue
        left, right = _halves_of(gap, width, n)
        here = slice(gap, gap + 1)
        _merge(windows[left : left + 1], windows[right : right + 1], unit, means[here], contrasts[here])
    if middle < end:
        before, behind = middle - half, middle + (0 if width == 1 else half)
        _merge(windows[before:], windows[behind:], unit, means[middle:end], contrasts[middle:end])


@kernel
def _halves_of(gap: int, width: int, n: int) -> tuple[int, int]:
    """The windows of `width` cells before and after a gap; beyond an end, the mirror image."""
    if width == 1:
        return max(gap - 1, 0), min(gap, n - 1)
    return _inside(gap - width // 2, n)[0], _inside(gap + width // 2, n)[0]


@kernel
def _merge(ones: Floats, others: Floats, unit: float, means: Floats, contrasts: Singles) -> None:
    half = 0.5 / unit
    for i in range(len(means)):
        one, other = ones[i], others[i]
        means[i] = 0.5 * (one + other)
        contrasts[i] = half * (one - other)


@kernel
def narrow(means: Floats, contrasts: Singles, width: int, unit: float, windows: Floats, first: int, last: int) -> None:
    """Back again: windows of `width` cells, each the mean of what the two wider ones say of which it is a half."""
    along, after = windows.shape[1], windows.shape[2]
    if after == 1:
        wider, apart, finer = _rows(means), _rows(contrasts), _rows(windows)
        for row in range(first // along, -(-last // along)):
            here, there = max(first - row * along, 0), min(last - row * along, along)
            _narrow_row(wider[row], apart[row], width, unit, finer[row], here, there)
        return
    n = means.shape[1] - 1
    for line in range((first + after - 1) // after, (last + after - 1) // after):
        before, place = divmod(line, along)
        left, left_sign, right, right_sign = _wider_than(place, width, n)
        _narrow(
            means[before, left],
            contrasts[before, left],
            left_sign * unit,
            means[before, right],
            contrasts[before, right],
            right_sign * unit,
            windows[before, place],
        )


@kernel
def _narrow_row(
    means: Floats, contrasts: Singles, width: int, unit: float, windows: Floats, first: int, last: int
) -> None:
    """The same for the places first ≤ number < last of one row, those in the middle all at once."""
    n, half = len(means) - 1, width // 2
    middle, end = min(max(first, half), last), max(first, min(last, n + 1 - half))
    for place in range(first, last):
        if middle <= place < end:
            continue
        left, left_sign, right, right_sign = _wider_than(place, width, n)
        _narrow(
            means[left:],
            contrasts[left:],
            left_sign * unit,
            means[right:],
            contrasts[right:],
            right_sign * unit,
            windows[place : place + 1],
        )
    if middle < end:
        left, right = middle - half, middle + max(half, 1)
        _narrow(means[left:], contrasts[left:], unit, means[right:], contrasts[right:], unit, windows[middle:end])


@kernel
def _wider_than(place: int, width: int, n: int) -> tuple[int, float, int, float]:
    """The gaps of the two wider windows that one is a half of, and the signs of their contrasts."""
    if width == 1:
        return place, 1.0, place + 1, 1.0
    left, left_sign = _inside(place - width // 2, n)
    right, right_sign = _inside(place + width // 2, n)
    return left, left_sign, right, right_sign


@kernel
def _narrow(
    left_means: Floats,
    left_contrasts: Singles,
    left_unit: float,
    right_means: Floats,
    right_contrasts: Singles,
    right_unit: float,
    windows: Floats,
) -> None:
    for i in range(len(windows)):
        as_left = right_means[i] + right_unit * right_contrasts[i]
        as_right = left_means[i] - left_unit * left_contrasts[i]
        windows[i] = 0.5 * (as_left + as_right)


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
