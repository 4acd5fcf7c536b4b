"""Between a frame of cells and the frame of their pairs: a coarse level needs no more than a few shifts a width.

Windows are known around the gaps between pairs, every second gap of the cells. The mean of a window around a gap c
between two of those is the mean of its neighbours' plus what the cells at its two edges differ by from the cells next
to them: (D(c + half) − D(c − half))/width, D(g) being the contrast of the two cells at gap g, as (left − right)/2. That
holds for the noise in them as for the cells themselves. D is taken off by the prior of its own, fine, level; so if all
the noise is removed from the windows around every second gap and from D, it is from those in between too.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.gap_contrasts import leverage, mirror, zero_of
from sparsedp.recovery.shrinkage.level_coefficients import BLOCK, coefficients
from sparsedp.recovery.shrinkage.noise_removal import removed_share


@kernel
def pair_sums(sums: Floats, n: int, pairs: int, margin: int) -> Floats:
    """The mirrored sums of pairs of the n cells, with those beyond the end that the sums know of if there are more."""
    zero = zero_of(sums, n)
    out = np.empty(pairs + 1 + 2 * margin)
    for i in range(pairs + 1):
        out[margin + i] = sums[zero + 2 * i]
    mirror(out, margin)
    return out


@kernel
def remove_from_pairs(
    sums: Floats, n: int, centre: float, deviations: Floats, tables: Floats, out: Floats, start: int, stop: int
) -> None:
    """The noise in the contrast of the two cells of each pair: `out[i]` at gap 2i + 1, start ≤ 2i + 1 < stop."""
    contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    unit = deviations[0] * sqrt(0.5)
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        coefficients(sums, n, centre, 1, deviations, begin, end, contrasts, bends, classes)
        for gap in range(begin + 1, end, 2):
            value = contrasts[gap - begin]
            share = removed_share(tables[classes[gap - begin]], value)
            out[gap // 2] = share * value * unit * sqrt(leverage(gap, n, 1))


@kernel
def between_pairs(means: Floats, details: Floats, level: int, n: int, out: Floats, start: int, stop: int) -> None:
    """Noise in the windows of 2^level cells around each gap of n cells, from that around the gaps between pairs.

    `means` are in units of a pair's sum, `out` in those of a cell; `details` are those of `remove_from_pairs`.
    """
    half = 1 << (level - 1)
    for gap in range(start, stop):
        if gap % 2 == 0:
            out[gap] = 0.5 * means[gap // 2]
        else:
            edges = _mirrored(details, gap + half, n) - _mirrored(details, gap - half, n)
            out[gap] = 0.25 * (means[gap // 2] + means[gap // 2 + 1]) + edges / (1 << level)


@kernel
def _mirrored(details: Floats, gap: int, n: int) -> float:
    if gap < 0:
        return float(-details[-gap // 2])
    if gap > n:
        return float(-details[(2 * n - gap) // 2])
    return float(details[gap // 2])
