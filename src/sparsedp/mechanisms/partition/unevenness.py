"""How uneven groups of cells are. PRIVATE until noise is added or coins are tossed.

Two measures, both whole numbers, both 0 if all cells are alike:
- *halves*: the largest difference between the sums of the two halves of any aligned group of 2^k cells within it;
- *excess*: by how much cells are apart within blocks of 16, the largest and the smallest, the second largest and the
  second smallest, and so on, each pair by what it is apart beyond a `slack`.

Counts of independent records scatter: the sums of halves by as little as the root of the sum, and pairs of cells by
less than the slack where counts are small beside the noise. So even counts are seen to be even, however few they are;
and what is uneven is seen if sums show it, or cells that stand out of the noise.

When one cell changes by 1, each measure of each group that holds it changes by at most 1: a difference of two sums
does, and the largest of several numbers if each does; one of the sorted cells of one block does, so one pair. And no
part of a group has more of either than the whole. Cells are first cut to ±2³¹, which brings no two of them further
apart, so that no sum can leave 64 bits.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.jit import kernel

MOST_COUNT = 2**31

BLOCK = 16
"""Cells are compared pair by pair within aligned blocks of so many, or of less within smaller groups."""


class Unevenness:
    """Of every aligned group of 2^k cells in a row: the larger of the two measures. O(n) time and memory."""

    def __init__(self, row: Integers, slack: int) -> None:
        cells = np.clip(row, -MOST_COUNT, MOST_COUNT)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(cells)])
        halves, excess, size = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64), 1
        self._of_size = {size: halves}
        while size < len(row):
            size *= 2
            halves = np.maximum(_merged(halves, np.maximum), _differences(before, size))
            excess = block_excesses(cells, size, slack) if size <= BLOCK else _merged(excess, np.add)
            self._of_size[size] = np.maximum(halves, excess)

    def of(self, groups: Integers, size: int) -> Integers:
        """Of the groups of `size` cells, a power of two, with these numbers; the last of the row may have fewer."""
        found: Integers = self._of_size[size][groups]
        return found


def _merged(parts: Integers, merge: np.ufunc) -> Integers:
    """Two by two; the last may be without a second one."""
    merged: Integers = merge.reduceat(parts, np.arange(0, len(parts), 2))
    return merged


def _differences(before: Integers, size: int) -> Integers:
    """Between the halves of every group. Where the row ends within the second half, it is compared with as many cells
    at the end of the first.
    """
    n = len(before) - 1
    middles = np.minimum(np.arange(0, n, size) + size // 2, n)
    ends = np.minimum(middles + size // 2, n)
    differences: Integers = np.abs(before[ends] - 2 * before[middles] + before[2 * middles - ends])
    return differences


@kernel
def block_excesses(row: Integers, size: int, slack: int) -> Integers:
    """Of every group of `size` cells, by how much pairs of its sorted cells are apart beyond `slack`.

    For small groups: they are sorted in place, one after the other, in a buffer of their own.
    """
    excesses = np.zeros((len(row) + size - 1) // size, np.int64)
    cells = np.empty(size, np.int64)
    for group in range(len(excesses)):
        start = group * size
        count = min(size, len(row) - start)
        for i in range(count):
            cell = min(max(row[start + i], -MOST_COUNT), MOST_COUNT)
            place = i
            while place > 0 and cells[place - 1] > cell:
                cells[place] = cells[place - 1]
                place -= 1
            cells[place] = cell
        for i in range(count // 2):
            excesses[group] += max(cells[count - 1 - i] - cells[i] - slack, 0)
    return excesses
