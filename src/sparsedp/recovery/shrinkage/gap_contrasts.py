"""The translation-invariant Haar frame of n cells, indexed by the gaps between cells.

On level j, half = 2^(j−1), the contrast at gap c (between cells c−1 and c) is the sum of the `half` cells left of
the gap minus the sum of the `half` cells right of it: over all levels and gaps, every shift of every Haar detail.
Cells beyond an end are the mirror image of those inside, so no end is joined to the other one, every n has all its
shifts, and reversing the cells only changes signs. All is read off one vector of sums, so no level is ever stored.

A contrast that overlaps its own mirror image counts some cells twice and others not at all: `leverage` is the exact
variance of its noise, relative to one that does not.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

Classes = npt.NDArray[np.uint8]

UNKNOWN, SURROUNDINGS = 0, 9
"""Classes of surroundings: 0 if they do not fit between the ends; else 1 to 4, or 5 to 8 with counts in them."""

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
