"""Boxes of a table: windows that double along one axis at a time, their contrasts, classes and what is removed."""

from __future__ import annotations

from math import sqrt
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.shrinkage.mixture_prior import CLASSES, GRID, NO_CLASS, count, removed_share
from sparsedp.jit import kernel

# Windows that are boxes: the translation-invariant Haar frame of a table, one axis at a time.
#
# Every axis has a width, 1 at first. A step doubles the width of one axis: windows next to one another along it become
# one, and their *contrast*, (mean before − mean after)/2, is what tells them apart. A window is known by its centre: on
# an axis of width 1 by the cell, on any other by one of the n + 1 gaps between cells, the ends included. Beyond an end
# the table is its own mirror image, so a window at gap −c is that at gap c, and a contrast there is minus that one.
#
# Arrays are seen as (before, along, after): the axis that is worked on, and all axes before and after it as one. Work
# on first ≤ number < last of their elements means on the lines along `after` that begin there.

Kind = TypeVar("Kind", bound=np.generic)

Singles = npt.NDArray[np.float32]
"""Of contrasts a few digits do: where the noise in one is hardly any of it, next to nothing is removed."""


Classes = npt.NDArray[np.uint8]
"""Of what is around each contrast: `NO_CLASS`, or 1 and more."""


@kernel
def _autocorrelation(lag: int, level: int) -> float:
    width = 1 << level
    if lag >= width:
        return 0.0
    share = lag / width
    return 1.0 - 3.0 * share if 2 * lag <= width else share - 1.0


@kernel
def leverage(gap: int, n: int, level: int) -> float:
    """1 − A(distance to the mirror image at either end), A being the autocorrelation of the Haar detail."""
    return 1.0 - _autocorrelation(2 * gap, level) - _autocorrelation(2 * (n - gap), level)


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


# The contrasts of one step of a table's frame: what surrounds them, how they are spread, and what of them is noise.
#
# Contrasts are in standard deviations of their noise. What surrounds one are those next to it that share no cell with
# it: along the axis, and beside it on every other axis, where an edge that goes on has the same sign; and the counts in
# their windows, for where there are none nothing scatters.

OCCUPIED = 4
"""From a class to the same with counts around."""

COUNTS_DETECTED, JUMP_DETECTED, ROUGH = 2.5, 2.5, 2.0
"""In standard deviations of the noise: what is taken for counts around a contrast; on a single axis, for a jump between
the windows on either side of it, and for contrasts before and after it that differ from zero."""

QUIET, NORMAL, LIVELY = 0.64, 1.44, 4.0
"""On several axes, mean squares of the contrasts around, which are 1 if there is noise alone: below, between and above
these are the classes 1 to 4, or 5 to 8 if there are counts around; 0 is that of contrasts with none around.
"""


@kernel
def classify_and_count_row(
    contrasts: Singles, heights: Floats, unit: float, centre: float, apart: int, classes: Classes, first: int, last: int
) -> Floats:
    """The class of each contrast of a single axis, first ≤ number < last, and counts by class and magnitude; without
    those at the ends, which are 0 by symmetry.

    A class says whether the windows on either side differ, as they do beside a jump; whether the contrasts before and
    after are rough; and whether there are counts around. None of these share a cell with the contrast. The arguments
    are those of `classify_and_count`.
    """
    counts = np.zeros((CLASSES, len(GRID) + 1))
    jump, rough = 2.0 * (JUMP_DETECTED * unit) ** 2, np.float32(2.0 * ROUGH**2)
    occupied, twice, end = 2.0 * (COUNTS_DETECTED * unit) ** 2, 2.0 * centre, len(contrasts)
    for i in range(first, last):
        if i < apart or i + apart >= end:
            classes[i] = NO_CLASS
            continue
        before, after = contrasts[i - apart], contrasts[i + apart]
        left, right = heights[i - apart], heights[i + apart]
        differ, both = left - right, left + right + twice
        kind = 1 + int(before * before + after * after > rough) + 2 * int(differ * differ > jump)
        classes[i] = kind + OCCUPIED * int(both * both > occupied)
    _count(contrasts, classes, max(first, 1), min(last, end - 1), counts)
    return counts[:, :-1].copy()


@kernel
def classify_and_count(
    contrasts: Singles,
    heights: Floats,
    unit: float,
    centre: float,
    sides: Ints,
    apart: Ints,
    axis: int,
    classes: Classes,
    first: int,
    last: int,
) -> Floats:
    """The class of each contrast, and counts by class and magnitude; without those at the ends of the axis, which are 0
    by symmetry.

    `contrasts` of a table of such `sides`, one after the other, and the `heights` of their windows: the means less
    `centre`, whose noise has the deviation `unit` (more near the ends, where windows are mirrored). `apart`: how far on
    each axis the next one is that shares no cell with it. Work is on the rows, along the last axis, that begin at
    first ≤ number < last.
    """
    counts = np.zeros((CLASSES, len(GRID) + 1))
    length, beyond, along = sides[-1], apart[-1], axis == len(sides) - 1
    squares, together, around, in_row = np.empty(length), np.empty(length), np.empty(length), np.zeros(length)
    in_row[beyond:] += 1.0
    in_row[: max(length - beyond, 0)] += 1.0
    for row in range((first + length - 1) // length, (last + length - 1) // length):
        here = slice(row * length, (row + 1) * length)
        weight = _beside_the_row(contrasts, sides, apart, axis, row, squares)
        _heights_beside_the_row(heights, sides, apart, row, together)
        _add_in_the_row(contrasts[here], heights[here], beyond, along, squares, together)
        for i in range(length):
            around[i] = weight + in_row[i]
        _classify(squares, together, around, unit, centre, classes[here])
        if along:
            _count(contrasts[here], classes[here], 1, length - 1, counts)
        elif not _is_end(row, sides, axis):
            _count(contrasts[here], classes[here], 0, length, counts)
    return counts[:, :-1].copy()


@kernel
def _classify(squares: Floats, together: Floats, around: Floats, unit: float, centre: float, classes: Classes) -> None:
    """By the squares, and by the counts, of so many around each."""
    seen = (COUNTS_DETECTED * unit) ** 2
    for i in range(len(classes)):
        square, many = squares[i], around[i]
        height = together[i] + many * centre
        kind = 1 + int(square > QUIET * many) + int(square > NORMAL * many) + int(square > LIVELY * many)
        kind += OCCUPIED * int(height * height > seen * many)
        classes[i] = kind if many > 0.0 else NO_CLASS


@kernel
def _count(contrasts: Singles, classes: Classes, first: int, last: int, counts: Floats) -> None:
    for i in range(first, last):
        count(float(contrasts[i]), counts, classes[i])


@kernel
def _add_in_the_row(
    contrasts: Singles, heights: Floats, beyond: int, along: bool, squares: Floats, together: Floats
) -> None:
    """What is around each contrast on the last axis, which is that of the contrasts or not."""
    others = max(len(squares) - beyond, 0)  # so many have one before them, and as many one after them
    _add(together[len(squares) - others :], heights[:others])
    _add(together[:others], heights[len(squares) - others :])
    both = 0 if along else max(len(squares) - 2 * beyond, 0)
    if both:
        _add_squares_of_sums(squares[beyond:others], contrasts[:both], contrasts[2 * beyond :])
    _add_squares(squares[len(squares) - others + both :], contrasts[both:others])
    _add_squares(squares[: others - both], contrasts[len(squares) - others : len(squares) - both])


@kernel
def _add(to: Floats, values: Floats) -> None:
    for i in range(len(to)):
        to[i] += values[i]


@kernel
def _add_squares(to: Floats, values: Singles) -> None:
    for i in range(len(to)):
        to[i] += values[i] * values[i]


@kernel
def _add_squares_of_sums(to: Floats, values: Singles, others: Singles) -> None:
    for i in range(len(to)):
        both = values[i] + others[i]
        to[i] += both * both


@kernel
def _is_end(row: int, sides: Ints, axis: int) -> bool:
    """Whether a row is at an end of an axis before the last."""
    for other in range(len(sides) - 2, axis, -1):
        row //= sides[other]
    place = row % sides[axis]
    return bool(place == 0 or place == sides[axis] - 1)


@kernel
def _beside_the_row(contrasts: Singles, sides: Ints, apart: Ints, axis: int, row: int, squares: Floats) -> int:
    """Squares of what is around each contrast of a row on the axes before the last, and of how many they are."""
    squares[:] = 0.0
    length = len(squares)
    weight, rest, stride = 0, row, length
    for other in range(len(sides) - 2, -1, -1):
        place, rest = rest % sides[other], rest // sides[other]
        before, after = row * length - apart[other] * stride, row * length + apart[other] * stride
        there_before, there_after = place >= apart[other], place + apart[other] < sides[other]
        if other != axis and there_before and there_after:
            _add_squares_of_sums(squares, contrasts[before:], contrasts[after:])
        else:
            if there_before:
                _add_squares(squares, contrasts[before:])
            if there_after:
                _add_squares(squares, contrasts[after:])
        weight += int(there_before) + int(there_after)
        stride *= sides[other]
    return weight


@kernel
def _heights_beside_the_row(heights: Floats, sides: Ints, apart: Ints, row: int, together: Floats) -> None:
    """The heights around each contrast of a row on the axes before the last, added up."""
    together[:] = 0.0
    length = len(together)
    rest, stride, start = row, length, row * length
    for other in range(len(sides) - 2, -1, -1):
        place, rest = rest % sides[other], rest // sides[other]
        if place >= apart[other]:
            _add(together, heights[start - apart[other] * stride :])
        if place + apart[other] < sides[other]:
            _add(together, heights[start + apart[other] * stride :])
        stride *= sides[other]


@kernel
def keep_noise(contrasts: Singles, classes: Classes, tables: Floats, first: int, last: int) -> None:
    """Of contrasts leave what is noise."""
    for i in range(first, last):
        contrasts[i] *= removed_share(tables[classes[i]], float(contrasts[i]))
