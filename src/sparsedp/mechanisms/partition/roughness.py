"""Is there structure nearly everywhere? One number: the share of small blocks that deviate as much as the noise hides.

Blocks of 16 cells; each counts by its deviation, up to `cap`. The sum changes by at most 1 when one cell changes by 1
(`deviation.py`; taking a minimum with a constant keeps that), so noise for sensitivity `distance` makes it private.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.deviation import capped_deviations

BLOCK = 16

NOISE_DEVIATIONS = 14.0
"""A block is rough if its cells deviate by this many deviations of the noise on one cell, together."""


def rough_share(row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """The noisy share of rough blocks. `deviation`: of the noise that a whole budget puts on a cell; public."""
    cap = max(1, ceil(NOISE_DEVIATIONS * deviation))
    total = np.array([capped_deviations(row, BLOCK, cap)], np.int64)
    add_noise(total)
    return float(total[0]) / cap / ceil(len(row) / BLOCK)
