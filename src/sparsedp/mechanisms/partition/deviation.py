"""How far cells are from being flat: the sum of their distances from their median. PRIVATE until noise is added.

For a set of cells, the deviation is min over a of Σ |xᵢ − a|. It changes by at most 1 when one cell changes by 1, and
no part of a set deviates more than the whole: for the best a of the whole, the part's sum has fewer terms. Integers all
through; cells are first cut to ±2³¹, which brings no two of them further apart, so that no sum can leave 64 bits.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.jit import kernel

MOST_COUNT = 2**31


@kernel
def deviation(row: Integers, start: int, stop: int) -> int:
    """Of the cells start, …, stop − 1."""
    cells = np.minimum(np.maximum(row[start:stop], -MOST_COUNT), MOST_COUNT)
    middle = len(cells) // 2
    median = np.partition(cells, middle)[middle]
    total = 0
    for cell in cells:
        total += abs(cell - median)
    return total


@kernel
def node_deviations(row: Integers, nodes: Integers, size: int) -> Integers:
    """Of the aligned groups of `size` cells with the given numbers; the last group of the row may have fewer."""
    out = np.empty(len(nodes), np.int64)
    for i in range(len(nodes)):
        start = nodes[i] * size
        out[i] = deviation(row, start, min(start + size, len(row)))
    return out


@kernel
def capped_deviations(row: Integers, size: int, cap: int) -> int:
    """Σ min(deviation, cap) over all groups of `size` cells: changes by at most 1 when one cell changes by 1.

    For small groups: they are sorted in place, one after the other, in a buffer of their own.
    """
    total = 0
    cells = np.empty(size, np.int64)
    for start in range(0, len(row), size):
        count = min(size, len(row) - start)
        for i in range(count):
            cell = min(max(row[start + i], -MOST_COUNT), MOST_COUNT)
            place = i
            while place > 0 and cells[place - 1] > cell:
                cells[place] = cells[place - 1]
                place -= 1
            cells[place] = cell
        group = 0
        for i in range(count // 2):
            group += cells[count - 1 - i] - cells[i]
        total += min(group, cap)
    return total
