"""Is there structure nearly everywhere, and do single cells stand out? One number each, over blocks of 16 cells.

The share of blocks that deviate as much as the noise hides: each counts by its deviation, up to `cap`. And by how much
cells stand out from their block beyond the noise, all blocks together. Both sums change by at most 1 when one cell
changes by 1 (`deviation.py`; taking a minimum with a constant keeps that), so noise for sensitivity `distance` makes
them private.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.deviation import capped_deviations

BLOCK = 16

NO_CAP = 2**62
"""More than all cells together can deviate by: they are cut to ±2³¹, and are 2³¹ at most."""

NOISE_DEVIATIONS = 14.0
"""A block is rough if its cells deviate by this many deviations of the noise on one cell, together."""


STANDS_OUT = 5.0
"""A cell is seen beside its block if it is further off than this many deviations of the noise on one cell."""

LEAST_DEVIATION = 1e-9


def rough_share(row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """The noisy share of rough blocks. `deviation`: of the noise that a whole budget puts on a cell; public."""
    cap = max(1, ceil(NOISE_DEVIATIONS * deviation))
    total = np.array([capped_deviations(row, BLOCK, cap)], np.int64)
    add_noise(total)
    return float(total[0]) / cap / ceil(len(row) / BLOCK)


def standing_out(row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """By how much cells stand out, all together and with noise, in units of `deviation` (as for `rough_share`)."""
    slack = ceil(STANDS_OUT * deviation)
    total = np.array([capped_deviations(row, BLOCK, NO_CAP, slack)], np.int64)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)
