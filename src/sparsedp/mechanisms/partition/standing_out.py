"""In how many places do cells stand out from those beside them? One noisy number, over blocks of 16 cells.

Each block counts by how much its cells are apart beyond what the noise hides, up to `MOST`: many places count, not how
high one of them is. The sum changes by at most 1 when one cell changes by 1 (`unevenness.py`; taking a minimum with a
constant keeps that), so noise for sensitivity `distance` makes it private.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.unevenness import BLOCK, block_excesses

HIDDEN, MOST = 2.0, 50.0
"""In deviations of the noise on one cell: what two cells may be apart unseen, and what a block counts for at most."""

LEAST_DEVIATION = 1e-9
"""Noise of a huge budget has none in floating point; it is taken for this."""


def standing_out(row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """By how much cells stand out, with noise, in units of `deviation`: of the noise that a whole budget puts on a
    cell, which is public.
    """
    cap = max(1, ceil(MOST * deviation))
    total = np.array([np.minimum(block_excesses(row, BLOCK, hidden(deviation)), cap).sum()], np.int64)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)


def hidden(deviation: float) -> int:
    """What two cells may be apart unseen."""
    return ceil(HIDDEN * deviation)
