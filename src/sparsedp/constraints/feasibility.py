"""Whether any table at all has the wanted totals, zeros and monotone axis: a linear program, solved before spending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, vstack

from sparsedp.arrays import Integers, Mask
from sparsedp.constraints.margin import Margin
from sparsedp.constraints.nearest_with_totals import GOAL, nearest_with_totals
from sparsedp.errors import SparsedpError


def is_feasible(free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int]) -> bool:
    """Whether a non-negative table, zero where not `free` and monotone, has all these margins.

    The margins agree with each other where they overlap, and none has a total above zero without a free cell.
    """
    if all(not set(monotone) & set(margin.axes) for margin in margins):
        if len(margins) <= 1:
            return True  # equal free cells under each total: nothing falls along an axis that the totals sum over
        if _disjoint(margins) and not monotone and _only_zero_totals(free, margins):
            return True  # the product of the margins
    grand = float(margins[0].totals.sum())
    if not _program(free, margins, monotone, max(grand, 1.0)):
        return False
    # The program's tolerance forgives small contradictions in large totals; what will be run has the last word. Totals
    # that contradict each other by one person leave at least one of them wrong by more than this.
    least = 0.25 / sum(margin.totals.size for margin in margins)
    try:
        table = nearest_with_totals(np.zeros(free.shape), np.ones(free.shape), free, margins, monotone)
    except SparsedpError:
        return False
    return all(float(np.abs(margin.of(table) - margin.totals).max()) <= least + GOAL * grand for margin in margins)


def _disjoint(margins: Sequence[Margin]) -> bool:
    axes = [axis for margin in margins for axis in margin.axes]
    return len(axes) == len(set(axes))


def _only_zero_totals(free: Mask, margins: Sequence[Margin]) -> bool:
    """Whether every cell is free that has no total of zero."""
    above = np.ones(free.shape, np.bool_)
    for margin in margins:
        above &= margin.over(free.ndim, margin.totals) > 0
    return bool(free[above].all())


def _program(free: Mask, margins: Sequence[Margin], monotone: Mapping[int, int], grand: float) -> bool:
    """In shares of the grand total, so that the solver's tolerances mean the same at every size."""
    numbers = np.full(free.shape, -1, np.int64)
    cells = int(free.sum())
    numbers[free] = np.arange(cells)
    if cells == 0:
        return all(not margin.totals.any() for margin in margins)
    sums = vstack([_sums(margin.groups(free.shape)[free], margin.totals.size, cells) for margin in margins])
    totals = np.concatenate([margin.totals.ravel() for margin in margins]) / grand
    rules = [LinearConstraint(sums, totals, totals)]
    rules += [LinearConstraint(_steps(numbers, axis, sign, cells), -np.inf, 0.0) for axis, sign in monotone.items()]
    return bool(milp(np.zeros(cells), constraints=rules).status == 0)


def _sums(groups: Integers, size: int, cells: int) -> csr_array:
    return coo_array((np.ones(cells), (groups, np.arange(cells))), (size, cells)).tocsr()


def _steps(numbers: Integers, axis: int, sign: int, cells: int) -> csr_array:
    """Rows x_low − x_high ≤ 0 for neighbouring free cells; a cell that is not free never lies above a free one."""
    lines = np.moveaxis(numbers, axis, 0)
    low, high = (lines[:-1], lines[1:]) if sign > 0 else (lines[1:], lines[:-1])
    both = (low >= 0) & (high >= 0)
    low, high = low[both], high[both]
    row = np.arange(len(low))
    entries = np.concatenate([np.ones(len(low)), -np.ones(len(low))])
    return coo_array((entries, (np.tile(row, 2), np.concatenate([low, high]))), (len(low), cells)).tocsr()
