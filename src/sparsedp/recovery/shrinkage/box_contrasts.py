"""The contrasts of one step of a table's frame: what surrounds them, how they are spread, and what of them is noise.

Contrasts are in standard deviations of their noise. What surrounds one are those next to it that share no cell with it:
along the axis, and beside it on every other axis, where an edge that goes on has the same sign.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import SURROUNDINGS, UNKNOWN, Classes
from sparsedp.recovery.shrinkage.magnitude_grid import GRID, count
from sparsedp.recovery.shrinkage.noise_removal import removed_share

QUIET, USUAL, LIVELY = 0.64, 1.44, 4.0
"""Mean squares of the contrasts around, which are 1 if there is noise alone: below, between and above these are the
classes 1 to 4; 0 is that of contrasts with none around.
"""

Weights = npt.NDArray[np.uint8]


@kernel
def add_along(contrasts: Floats, apart: int, squares: Floats, weights: Weights, first: int, last: int) -> None:
    """Add the squares of the next contrasts on the axis, in arrays seen as (before, along, after)."""
    along, after = contrasts.shape[1], contrasts.shape[2]
    before, place = divmod((first + after - 1) // after, along)
    place -= 1
    for _ in range((first + after - 1) // after, (last + after - 1) // after):
        place += 1
        if place == along:
            before, place = before + 1, 0
        for there in (place - apart, place + apart):
            if 0 <= there < along:
                for i in range(after):
                    squares[before, place, i] += contrasts[before, there, i] ** 2
                    weights[before, place, i] += 1


@kernel
def add_beside(contrasts: Floats, apart: int, squares: Floats, weights: Weights, first: int, last: int) -> None:
    """Add the square of the sum of the two next ones on another axis, or of the one that there is."""
    along, after = contrasts.shape[1], contrasts.shape[2]
    before, place = divmod((first + after - 1) // after, along)
    place -= 1
    for _ in range((first + after - 1) // after, (last + after - 1) // after):
        place += 1
        if place == along:
            before, place = before + 1, 0
        left, right = place - apart, place + apart
        if left >= 0 and right < along:
            for i in range(after):
                squares[before, place, i] += (contrasts[before, left, i] + contrasts[before, right, i]) ** 2
                weights[before, place, i] += 2
        elif left >= 0 or right < along:
            there = left if left >= 0 else right
            for i in range(after):
                squares[before, place, i] += contrasts[before, there, i] ** 2
                weights[before, place, i] += 1


@kernel
def classify_and_count(
    contrasts: Floats, squares: Floats, weights: Weights, classes: Classes, first: int, last: int
) -> Floats:
    """The class of each contrast, and counts by class and magnitude, without those that are 0 by symmetry."""
    counts = np.zeros((SURROUNDINGS, len(GRID) + 1))
    for i in range(first, last):
        kind = UNKNOWN
        if weights[i] > 0:
            mean = squares[i] / weights[i]
            kind = 1 + int(mean > QUIET) + int(mean > USUAL) + int(mean > LIVELY)
        classes[i] = kind
        if contrasts[i] != 0.0:
            count(contrasts[i], counts, kind)
    return counts[:, :-1].copy()


@kernel
def keep_noise(values: Floats, contrasts: Floats, classes: Classes, tables: Floats, first: int, last: int) -> None:
    """Of `values`, the same contrasts in units of a mean, leave what is noise."""
    for i in range(first, last):
        values[i] *= removed_share(tables[classes[i]], contrasts[i])
