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


def deviation(cells: Integers) -> Integers:
    """Of each row of cells. numpy selects the median in linear time whatever the cells are."""
    cut = np.clip(cells, -MOST_COUNT, MOST_COUNT)
    middle = cut.shape[1] // 2
    median = np.partition(cut, middle, axis=1)[:, middle : middle + 1]
    deviations: Integers = np.abs(cut - median).sum(axis=1)
    return deviations


def node_deviations(row: Integers, nodes: Integers, size: int) -> Integers:
    """Of the aligned groups of `size` cells with the given numbers; the last group of the row may have fewer."""
    whole = len(row) // size
    out = np.empty(len(nodes), np.int64)
    full = nodes < whole
    out[full] = deviation(row[: whole * size].reshape(whole, size)[nodes[full]]) if full.any() else 0
    if not full.all():
        out[~full] = deviation(row[None, whole * size :])
    return out


@kernel
def capped_deviations(row: Integers, size: int, cap: int, slack: int = 0) -> int:
    """Σ min(deviation, cap) over all groups of `size` cells: changes by at most 1 when one cell changes by 1.

    A group's deviation is the sum of what its largest and its smallest cell are apart, the second largest and the
    second smallest, and so on. With `slack`, each pair counts by what it is apart beyond that. When one cell changes by
    1, one of the sorted cells does; so one pair counts by at most 1 more or less.
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
            group += max(cells[count - 1 - i] - cells[i] - slack, 0)
        total += min(group, cap)
    return total
