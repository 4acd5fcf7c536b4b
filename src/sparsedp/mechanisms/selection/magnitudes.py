"""Exact sums of the largest of many integers: what is left of ‖x‖₁ after the S largest coefficients are taken out."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Integers

LOW_BITS = 32
LOW_MASK = np.int64(2**LOW_BITS - 1)


class LargestFirst:
    """The `most` largest of at most 2³¹ integers in [0, 2⁶³), in falling order, and exact sums of them.

    Sums are carried as two 64-bit halves, so none overflows: 2³¹ halves below 2³² stay below 2⁶³.
    """

    def __init__(self, magnitudes: Integers, most: int) -> None:
        self.total = _exact_sum(magnitudes)
        most = min(most, len(magnitudes))
        if most < len(magnitudes):
            magnitudes = np.partition(magnitudes, len(magnitudes) - most)[len(magnitudes) - most :]
        self.values: Integers = np.sort(magnitudes)[::-1]
        self._high = np.cumsum(self.values >> LOW_BITS)
        self._low = np.cumsum(self.values & LOW_MASK)

    def __len__(self) -> int:
        return len(self.values)

    def sum_of_rest(self, count: int) -> int:
        """The sum of all the integers but the `count` largest."""
        if count == 0:
            return self.total
        return self.total - (int(self._high[count - 1]) << LOW_BITS) - int(self._low[count - 1])


def _exact_sum(magnitudes: Integers) -> int:
    high = int((magnitudes >> LOW_BITS).sum(dtype=np.int64))
    return (high << LOW_BITS) + int((magnitudes & LOW_MASK).sum(dtype=np.int64))
