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

from functools import lru_cache

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.jit import kernel

MOST_COUNT = 2**31

BLOCK = 16
"""Cells are compared pair by pair within aligned blocks of so many, or of less within smaller groups."""

LANES = 256
"""Blocks that are sorted side by side."""


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


def block_excesses(row: Integers, size: int, slack: int) -> Integers:
    """Of every group of `size` cells, a few, by how much pairs of its sorted cells are apart beyond `slack`; the last
    may have fewer cells.
    """
    whole = len(row) // size
    excesses = np.zeros(-(-len(row) // size), np.int64)
    _excesses(row, size, slack, sorting_network(size), excesses)
    if whole < len(excesses):
        rest = np.sort(np.clip(row[whole * size :], -MOST_COUNT, MOST_COUNT))
        pairs = len(rest) // 2
        excesses[whole] = np.maximum(rest[::-1][:pairs] - rest[:pairs] - slack, 0).sum()
    return excesses


@lru_cache(maxsize=8)
def sorting_network(size: int) -> Integers:
    """Which pairs of places to put in order, one after the other, to sort that many cells: Batcher's merge of odd and
    even places. The same steps for all counts.
    """
    pairs: list[tuple[int, int]] = []
    width = 1
    while width < size:
        step = width
        while step:
            for first in range(step % width, size - step, 2 * step):
                for place in range(first, min(first + step, size - step)):
                    if place // (2 * width) == (place + step) // (2 * width):
                        pairs.append((place, place + step))
            step //= 2
        width *= 2
    network = np.array(pairs, np.int64).reshape(-1, 2)
    network.setflags(write=False)
    return network


@kernel
def _excesses(row: Integers, size: int, slack: int, network: Integers, out: Integers) -> None:
    """Of the groups that are whole; `LANES` of them are sorted at once, so that all take the same steps."""
    whole = len(row) // size
    cells = np.empty((size, LANES), np.int64)
    for first in range(0, whole, LANES):
        lanes = min(LANES, whole - first)
        for lane in range(lanes):
            for place in range(size):
                cells[place, lane] = min(max(row[(first + lane) * size + place], -MOST_COUNT), MOST_COUNT)
        for pair in range(len(network)):
            lower, upper = cells[network[pair, 0]], cells[network[pair, 1]]
            for lane in range(lanes):
                least, most = min(lower[lane], upper[lane]), max(lower[lane], upper[lane])
                lower[lane], upper[lane] = least, most
        for place in range(size // 2):
            lower, upper = cells[place], cells[size - 1 - place]
            for lane in range(lanes):
                out[first + lane] += max(upper[lane] - lower[lane] - slack, 0)
