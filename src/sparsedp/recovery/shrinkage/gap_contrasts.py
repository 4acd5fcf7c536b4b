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

UNKNOWN, SURROUNDINGS = 0, 5
"""Classes of surroundings: 0 if they do not fit between the ends; else 1 to 4."""

RING_SEEN, NEIGHBOURS_SEEN = 2.5, 2.0
"""In standard deviations of the noise: what is taken for a sign of signal nearby."""


@kernel
def mirrored_sums(cells: Floats) -> Floats:
    """`sums[n + i]` is the sum of the mirrored cells 0 ≤ … < i, for −n ≤ i ≤ 2n."""
    n = len(cells)
    sums = np.empty(3 * n + 1)
    sums[n] = 0.0
    for i in range(n):
        sums[n + i + 1] = sums[n + i] + cells[i]
    for i in range(1, n + 1):
        sums[n - i] = -sums[n + i]
        sums[2 * n + i] = 2.0 * sums[2 * n] - sums[2 * n - i]
    return sums


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
def contrasts(sums: Floats, level: int, deviations: Floats, out: Floats) -> None:
    """The contrasts at gaps 0 … n, in standard deviations of their noise; `deviations`: of an orthonormal detail's."""
    n = len(out) - 1
    half = 1 << (level - 1)
    scale = 1.0 / sqrt(2.0 * half)
    out[0] = out[n] = 0.0  # mirror images cancel there
    for gap in range(1, n):
        here = n + gap
        difference = 2.0 * sums[here] - sums[here - half] - sums[here + half]
        out[gap] = difference * scale / (deviations[gap] * sqrt(leverage(gap, n, level)))


@kernel
def surroundings(sums: Floats, level: int, deviations: Floats, out: Classes) -> None:
    """The class of every gap: is there signal in the cells around its contrast, none of which the contrast uses?

    The ring compares the `half` cells beyond the contrast on the left with those on the right: a jump at the gap, or
    a slope, shows there too. The neighbours are the contrasts next to it on either side: they show that the region
    is rough. Neither shares a cell with the contrast, whose noise therefore has the same law in every class.
    """
    n = len(out) - 1
    half = 1 << (level - 1)
    out[:] = UNKNOWN
    for gap in range(3 * half, n + 1 - 3 * half):
        here = n + gap
        unit = deviations[gap] * sqrt(2.0 * half)
        left = sums[here - half] - sums[here - 2 * half]
        right = sums[here + 2 * half] - sums[here + half]
        before = sums[here - 2 * half] - sums[here - 3 * half] - left
        after = right - sums[here + 3 * half] + sums[here + 2 * half]
        kind = 1
        if abs(left - right) > RING_SEEN * unit:
            kind += 2
        if before * before + after * after > 2.0 * (NEIGHBOURS_SEEN * unit) ** 2:
            kind += 1
        out[gap] = kind


@kernel
def window_spread(gap: int, n: int, level: int) -> float:
    """Variance of (mean of the 2^level cells around the gap − mean of all cells), cells having variance 1."""
    width = float(1 << level)
    overlap = max(0.0, width - 2 * gap) + max(0.0, width - 2 * (n - gap))
    spread = (1.0 + overlap / width) / width - 1.0 / n
    return spread if spread > 1e-9 / n else 0.0


@kernel
def windows(sums: Floats, level: int, deviations: Floats, out: Floats) -> None:
    """Means of the 2^level cells around every gap minus the mean of all, in standard deviations of their noise."""
    n = len(out) - 1
    half = 1 << (level - 1)
    mean = sums[2 * n] / n
    for gap in range(n + 1):
        spread = window_spread(gap, n, level)
        difference = (sums[n + gap + half] - sums[n + gap - half]) / (2.0 * half) - mean
        out[gap] = difference / (sqrt(spread) * deviations[gap]) if spread > 0.0 else 0.0
