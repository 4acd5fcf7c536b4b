"""Rows that repeat themselves after a period (`period.py`), shrunk cycle beside cycle.

A frame knows a cell by its neighbours. Laid out as a table of a cycle a line, a row has the cells of the cycles before
and after it among them, and these first: windows are long across cycles, and narrow within. What that table's frame
makes of a cell is taken, but the sums of boxes stay as the row's own frame has them: it knows the noise of long sums.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Mask
from sparsedp.laws import IndependentLaw
from sparsedp.recovery.shrinkage.lone_cells import beside_lone_cells
from sparsedp.recovery.shrinkage.shrink_table import shrink_table

LONGER = 16.0
"""Windows across cycles, beside those within one."""

BOX = 64
"""Cells in a row whose sum stays."""

ALIKE, BUT_FOR = 20.0, 0.01
"""Variances of the noise, of which it alone has two: where cycles differ by more in the mean square, but for this share
of the cells, every cell is known better by itself."""


def are_alike(rows: Floats, law: IndependentLaw, period: int, measured: Mask | None = None) -> bool:
    """Whether cycles of rows of noisy counts differ by little more than their noise, where both were measured."""
    squares = (rows[:, period:] - rows[:, :-period]) ** 2
    if measured is not None:
        squares = squares[measured[:, period:] & measured[:, :-period]]
    bounded = np.minimum(squares, np.quantile(squares, 1.0 - BUT_FOR))
    return bool(bounded.mean() <= ALIKE * law.variance)


def beside_other_cycles(row: Floats, shrunk: Floats, law: IndependentLaw, period: int) -> Floats:
    """A `shrunk` row of noisy counts, with noise of `law`, nearer to what is at the same place in the cycles around."""
    table = beside_lone_cells(in_cycles(row, period), law, lambda others: shrink_table(others, law, LONGER))
    change = table.reshape(-1)[: len(row)] - shrunk
    starts = np.arange(0, len(row), BOX)
    sizes = np.diff(starts, append=len(row))
    return np.asarray(shrunk + change - np.repeat(np.add.reduceat(change, starts) / sizes, sizes))


def in_cycles(row: Floats, period: int) -> Floats:
    """A table of a cycle a line; the last one is filled up with the end of the one before."""
    beyond = np.arange(len(row), -(-len(row) // period) * period) - period
    return np.append(row, row[beyond]).reshape(-1, period)


def mean_of_other_cycles(rows: Floats, period: int, reach: int, measured: Mask | None = None) -> Floats:
    """Of the cells at the same place in so many cycles before and after, as far as there are any that were measured;
    the mean of all cells, if there are none.
    """
    known = np.ones_like(rows) if measured is None else measured.astype(np.float64)
    sums, many, cells = np.zeros_like(rows), np.zeros_like(rows), rows * known
    for lag in range(period, reach * period + 1, period):
        sums[:, lag:] += cells[:, :-lag]
        sums[:, :-lag] += cells[:, lag:]
        many[:, lag:] += known[:, :-lag]
        many[:, :-lag] += known[:, lag:]
    return np.where(many > 0.0, sums / np.maximum(many, 1.0), cells.sum() / known.sum())
