"""The contrasts of one step of a table's frame: what surrounds them, how they are spread, and what of them is noise.

Contrasts are in standard deviations of their noise. What surrounds one are those next to it that share no cell with it:
along the axis, and beside it on every other axis, where an edge that goes on has the same sign; and the counts in their
windows, for where there are none nothing scatters.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.box_windows import Singles
from sparsedp.recovery.shrinkage.gap_contrasts import COUNTS_SEEN, OCCUPIED, SURROUNDINGS, UNKNOWN, Classes
from sparsedp.recovery.shrinkage.magnitude_grid import GRID, count
from sparsedp.recovery.shrinkage.noise_removal import removed_share

QUIET, USUAL, LIVELY = 0.64, 1.44, 4.0
"""Mean squares of the contrasts around, which are 1 if there is noise alone: below, between and above these are the
classes 1 to 4, or 5 to 8 if there are counts around; 0 is that of contrasts with none around.
"""


@kernel
def classify_and_count(
    contrasts: Singles,
    heights: Floats,
    unit: float,
    centre: float,
    sides: Integers,
    apart: Integers,
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
    counts = np.zeros((SURROUNDINGS, len(GRID) + 1))
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
    seen = (COUNTS_SEEN * unit) ** 2
    for i in range(len(classes)):
        square, many = squares[i], around[i]
        height = together[i] + many * centre
        kind = 1 + int(square > QUIET * many) + int(square > USUAL * many) + int(square > LIVELY * many)
        kind += OCCUPIED * int(height * height > seen * many)
        classes[i] = kind if many > 0.0 else UNKNOWN


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
def _is_end(row: int, sides: Integers, axis: int) -> bool:
    """Whether a row is at an end of an axis before the last."""
    for other in range(len(sides) - 2, axis, -1):
        row //= sides[other]
    place = row % sides[axis]
    return bool(place == 0 or place == sides[axis] - 1)


@kernel
def _beside_the_row(contrasts: Singles, sides: Integers, apart: Integers, axis: int, row: int, squares: Floats) -> int:
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
def _heights_beside_the_row(heights: Floats, sides: Integers, apart: Integers, row: int, together: Floats) -> None:
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
