"""By how much are cells apart within groups that would make them alike? One noisy number, over runs of 16 cells.

Each run of a group counts by how much its largest cell exceeds its smallest beyond what the noise hides, up to `MOST`.
The groups are public. When one cell changes by 1, so may the largest of its run or the smallest, by at most 1, and both
only if there is no other cell in it: so how far they are apart changes by at most 1. Taking a minimum and a maximum
with constants keeps that. So the sum changes by at most 1, and noise for sensitivity `distance` makes it private.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.jit import kernel
from sparsedp.mechanisms.partition.standing_out import LEAST_DEVIATION, hidden
from sparsedp.mechanisms.partition.unevenness import BLOCK, MOST_COUNT

MOST = 100.0
"""What a run counts for at most, in deviations of the noise on one cell."""


def hiding(starts: Integers, row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """By how much the groups that begin at `starts` would hide, with noise, in units of `deviation`: of the noise that
    a whole budget puts on a cell, which is public.
    """
    cap = max(1, ceil(MOST * deviation))
    total = np.array([_spreads(row, starts, BLOCK, hidden(deviation), cap)], np.int64)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)


@kernel
def _spreads(row: Integers, starts: Integers, length: int, slack: int, cap: int) -> int:
    """Over every run of at most `length` cells of every group, by how much they are apart beyond `slack`, up to `cap`.

    Cells are cut to ±2³¹, which brings no two of them further apart.
    """
    together = 0
    for group in range(len(starts)):
        end = starts[group + 1] if group + 1 < len(starts) else len(row)
        for first in range(starts[group], end, length):
            smallest, largest = MOST_COUNT, -MOST_COUNT
            for i in range(first, min(first + length, end)):
                cell = min(max(row[i], -MOST_COUNT), MOST_COUNT)
                smallest, largest = min(smallest, cell), max(largest, cell)
            together += min(max(largest - smallest - slack, 0), cap)
    return together
