"""Private tests: one noisy number by which Adaptive decides what to measure."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.mechanisms._private_tree import BLOCK, MOST_COUNT, block_excesses

# In how many places do cells stand out from those beside them? One noisy number, over blocks of 16 cells.
#
# Each block counts by how much its cells are apart beyond what the noise hides, up to `MOST_OF_A_BLOCK`: many places
# count, not how high one of them is. The sum changes by at most 1 when one cell changes by 1 (`_private_tree.py`; the
# minimum with a constant keeps that), so noise for sensitivity `distance` makes it private.

HIDDEN_BETWEEN_CELLS, MOST_OF_A_BLOCK = 2.0, 50.0
"""In deviations of the noise on one cell: what two cells may be apart unseen, and what a block counts for at most."""

LEAST_DEVIATION = 1e-9
"""Noise of a huge budget has none in floating point; it is taken for this."""


def standing_out(row: Ints, deviation: float, add_noise: Callable[[Ints], None]) -> float:
    """By how much cells stand out, with noise, in units of `deviation`: of the noise that a whole budget puts on a
    cell, which is public.
    """
    cap = max(1, ceil(MOST_OF_A_BLOCK * deviation))
    total = np.array([np.minimum(block_excesses(row, BLOCK, hidden(deviation)), cap).sum()], np.int64)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)


def hidden(deviation: float) -> int:
    """What two cells may be apart unseen."""
    return ceil(HIDDEN_BETWEEN_CELLS * deviation)


# How many records lie in cells that are seen one by one? One noisy number.
#
# A cell counts for what it has beyond one deviation of the noise on a cell: less is hidden by it, and seen better in
# sums. Where that comes to little, all cells together, single cells are not worth measuring, however the records lie.
#
# A cell's part changes by at most 1 when its count does so, and by nothing when another's does. So the sum changes by
# at most the L1 distance of two tables, and noise for that sensitivity makes it private. Cells are first cut to 2³¹,
# which brings no two of them further apart, so that the sum of 2³¹ cells cannot leave 64 bits.

HIDDEN_IN_A_CELL = 1.0
"""In deviations of the noise on one cell: what a cell has that is not seen."""


def detected_alone(row: Ints, deviation: float, add_noise: Callable[[Ints], None]) -> float:
    """How much is seen in single cells, with noise, in units of `deviation`: of the noise that a whole budget puts on
    a cell, which is public.
    """
    below = min(ceil(HIDDEN_IN_A_CELL * deviation), MOST_COUNT)
    total = np.array([(np.clip(row, below, MOST_COUNT) - below).sum()], np.int64)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)
