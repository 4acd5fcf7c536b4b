"""How many records are there? One noisy number.

Of counts that may be negative it is what they add up to. The sum of all cells changes by at most as much as the cells
do together, so noise for sensitivity `distance` makes it private.
"""

from __future__ import annotations

from collections.abc import Callable

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.standing_out import LEAST_DEVIATION


def records(row: Integers, deviation: float, add_noise: Callable[[Integers], None]) -> float:
    """The noisy sum of all cells, in units of `deviation`, which is public."""
    total = row.sum(keepdims=True)
    add_noise(total)
    return float(total[0]) / max(deviation, LEAST_DEVIATION)
