"""How many records lie in cells that are seen one by one? One noisy number.

A cell counts for what it has beyond one deviation of the noise on a cell: less is hidden by it, and seen better in
sums. Where that comes to little, all cells together, single cells are not worth measuring, however the records lie.

A cell's part changes by at most 1 when its count does so, and by nothing when another's does. So the sum changes by at
most the L1 distance of two tables, and noise for that sensitivity makes it private. Cells are first cut to 2³¹, which
brings no two of them further apart, so that the sum of 2³¹ cells cannot leave 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.standing_out import LEAST_DEVIATION
from sparsedp.mechanisms.partition.unevenness import MOST_COUNT

HIDDEN = 1.0
"""In deviations of the noise on one cell: what a cell has that is not seen."""


def seen_alone(row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """How much is seen in single cells, with noise, in units of `deviation`: of the noise that a whole budget puts on
    a cell, which is public.
    """
    hidden = min(ceil(HIDDEN * deviation), MOST_COUNT)
    total = np.array([(np.clip(row, hidden, MOST_COUNT) - hidden).sum()], np.int64)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)
