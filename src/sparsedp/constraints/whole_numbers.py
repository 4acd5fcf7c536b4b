"""Whole counts out of fractional ones, without chance, moving no sum of nearby cells by as much as one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.constraints.halving import Halving
from sparsedp.constraints.margin import Margin
from sparsedp.jit import kernel


def rounded(table: Floats, margin: Margin | None) -> Integers:
    """Whole cells with exactly the margin's totals; without a margin, the total is rounded to the nearest.

    Every node of the halving becomes its own sum rounded up or down; the half with the larger fraction goes up
    (largest remainder). So in one dimension every aligned dyadic sum is off by less than one, and every range by less
    than 2·log₂ n. `table` is non-negative and has the totals up to rounding errors; cells that are zero stay zero.
    """
    halving = Halving(table.shape, () if margin is None else margin.axes)
    sums = halving.sums(table)
    parents = np.rint(sums[-1]).astype(np.int64) if margin is None else margin.totals.ravel()
    for level in range(len(halving.views) - 1, -1, -1):
        view = halving.views[level]
        children = np.empty(view, np.int64)
        _round_halves(parents, sums[level].reshape(view), children)
        parents = children.ravel()
    return parents.reshape(table.shape)


@kernel
def _round_halves(parents: Integers, sums: Floats, children: Integers) -> None:
    before, along, after = sums.shape
    half = (along + 1) // 2
    for b in range(before):
        for i in range(along // 2):
            for c in range(after):
                total = parents[(b * half + i) * after + c]
                left, right = sums[b, 2 * i, c], sums[b, 2 * i + 1, c]
                share = np.int64(np.floor(left))
                spare = total - share - np.int64(np.floor(right))
                if right == 0.0:
                    share = total
                elif left == 0.0:
                    share = np.int64(0)
                elif spare == 1:
                    share += left - np.floor(left) >= right - np.floor(right)
                else:
                    share += spare // 2  # both up, or none; sums beyond a float's digits may leave more to share
                children[b, 2 * i, c] = min(max(share, 0), total)
                children[b, 2 * i + 1, c] = total - children[b, 2 * i, c]
        if along % 2:
            for c in range(after):
                children[b, along - 1, c] = parents[(b * half + half - 1) * after + c]


def rounded_monotone(table: Floats, margin: Margin | None, monotone: Mapping[int, int]) -> Integers:
    """Whole cells with exactly the margin's totals, still monotone; the margin has none of the monotone axes.

    Under each total the largest fractions are rounded up and, of equal ones, those further up their lines: cells in
    order stay in order. Ranges are not looked after: of equal cells, those at one end are rounded up. Without a margin
    the grand total is rounded to the nearest.
    """
    nearest = np.rint(table)
    table = np.where(np.abs(table - nearest) <= 1e-9 + 1e-14 * table, nearest, table)
    whole = np.floor(table).astype(np.int64)
    fractions = table - whole
    if margin is None:
        margin = Margin((), np.asarray(whole.sum() + round(float(fractions.sum()))))
    upwards = np.zeros(table.shape, np.int64)
    for axis, sign in monotone.items():
        upwards += sign * np.arange(table.shape[axis]).reshape([-1 if a == axis else 1 for a in range(table.ndim)])
    groups = margin.groups(table.shape).ravel()
    spare = (margin.totals - margin.of(whole)).ravel()
    ranked = np.lexsort((-upwards.ravel(), -fractions.ravel(), groups))
    sizes = np.bincount(groups, minlength=len(spare))
    rank = np.arange(table.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole.ravel()[ranked] += rank < np.repeat(spare, sizes)
    return whole
