"""Rows that repeat themselves after a period (`period.py`), shrunk cycle beside cycle.

A frame knows a cell by its neighbours. Laid out as a table of a cycle a line, a row has the cells of the cycles before
and after it among them. What that table's frame makes of a cell is taken, but the sums of boxes stay as the row's own
frame has them: it knows the noise of long sums.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.noise.law import IndependentLaw
from sparsedp.recovery.shrinkage.lone_cells import beside_lone_cells
from sparsedp.recovery.shrinkage.shrink_table import shrink_table

BOX = 64
"""Cells in a row whose sum stays."""

ALIKE = 20.0
"""Variances of the noise, of which it alone has two: where cycles differ by more in the mean square, every cell is
known better by itself."""


def beside_other_cycles(row: Floats, shrunk: Floats, law: IndependentLaw, period: int) -> Floats:
    """A `shrunk` row of noisy counts, with noise of `law`, nearer to what is at the same place in the cycles around."""
    if np.mean((row[period:] - row[:-period]) ** 2) > ALIKE * law.variance:
        return shrunk
    table = beside_lone_cells(in_cycles(row, period), law, lambda others: shrink_table(others, law))
    change = table.reshape(-1)[: len(row)] - shrunk
    starts = np.arange(0, len(row), BOX)
    sizes = np.diff(starts, append=len(row))
    return np.asarray(shrunk + change - np.repeat(np.add.reduceat(change, starts) / sizes, sizes))


def in_cycles(row: Floats, period: int) -> Floats:
    """A table of a cycle a line; the last one is filled up with the end of the one before."""
    beyond = np.arange(len(row), -(-len(row) // period) * period) - period
    return np.append(row, row[beyond]).reshape(-1, period)


def mean_of_other_cycles(rows: Floats, period: int, reach: int) -> Floats:
    """Of the cells at the same place in so many cycles before and after, as far as there are any: for every cell of
    rows of more than `reach` cycles.
    """
    sums, many = np.zeros_like(rows), np.zeros(rows.shape[1])
    for cycles in range(1, reach + 1):
        lag = cycles * period
        sums[:, lag:] += rows[:, :-lag]
        sums[:, :-lag] += rows[:, lag:]
        many[lag:] += 1.0
        many[:-lag] += 1.0
    return np.asarray(sums / many)
