"""Cells at or above zero without moving the sums: a deficit is taken from the nearest cells that can bear it."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sparsedp.arrays import Floats, Mask
from sparsedp.constraints.halving import Halving
from sparsedp.jit import kernel


def nonnegative_keeping_totals(values: Floats, variance: Floats | None = None) -> Floats:
    """Non-negative cells near `values` whose sums are those of `values` wherever those can be believed; O(n).

    From the total downwards, each half of the table gets the share nearest to its own sum (weighted by the inverse
    variance) that leaves both halves what they surely hold: the mass of their cells above the noise, the noise being
    judged by the negative cells. The total stays unless it is less than that mass. Nothing changes where no cell is
    negative. A table of several axes is halved along each in turn. `variance` is above zero everywhere.
    """
    values = np.asarray(values, np.float64)
    free = np.ones(values.shape, np.bool_)
    weights = np.ones(values.shape) if variance is None else np.asarray(variance, np.float64)
    return spread_totals(values, weights, free, (), None)


def spread_totals(values: Floats, weights: Floats, free: Mask, kept: tuple[int, ...], totals: Floats | None) -> Floats:
    """The same with the `totals` over the `kept` axes given, and zeros in the cells that are not `free`.

    `weights` are variances, above zero. A total above zero needs a free cell under it.
    """
    values = np.where(free, values, 0.0)
    if totals is None and (values >= 0.0).all():
        return values
    halving = Halving(values.shape, kept)
    sums = halving.sums(values)
    weight_sums = halving.sums(np.where(free, weights, 0.0))
    noise = _noise(values, weights, sums[-1], weight_sums[-1], totals)
    surely = halving.sums(np.maximum(values - noise * np.sqrt(weights), 0.0))
    parents = np.maximum(sums[-1], surely[-1]) if totals is None else totals.ravel().astype(np.float64)
    for level in range(len(halving.views) - 1, -1, -1):
        view = halving.views[level]
        children = np.empty(view)
        _share(
            parents, sums[level].reshape(view), surely[level].reshape(view), weight_sums[level].reshape(view), children
        )
        parents = children.ravel()
    return parents.reshape(values.shape)


def _noise(values: Floats, weights: Floats, sums: Floats, weight_sums: Floats, totals: Floats | None) -> float:
    """Above how many times the root of its weight a cell is no mere noise.

    The noise's variance, in units of the weights, is that of the negative cells or, if larger, that of the sums
    around their known totals. Of m cells of Laplace noise of scale b, less than b·√m together lies above ½ log(m)·b:
    what passes for signal is less than the noise of the sum. Two b more are a margin for small m.
    """
    count = int(np.count_nonzero(values < 0.0))
    squares = float(np.sum(np.minimum(values, 0.0) ** 2 / weights)) / count if count else 0.0
    if totals is not None:
        known = weight_sums > 0.0
        count = max(count, 1)
        off = (totals.ravel()[known] - sums[known]) ** 2 / weight_sums[known]
        squares = max(squares, float(off.mean()) if off.size else 0.0)
    return sqrt(squares / 2.0) * (2.0 + 0.5 * log(max(count, 1)))


@kernel
def _share(parents: Floats, sums: Floats, surely: Floats, weights: Floats, children: Floats) -> None:
    """Split each parent's total over its two children; one without weight has no free cell and gets nothing."""
    before, along, after = sums.shape
    half = (along + 1) // 2
    for b in range(before):
        for i in range(along // 2):
            for c in range(after):
                total = parents[(b * half + i) * after + c]
                left, right = 2 * i, 2 * i + 1
                left_weight, right_weight = weights[b, left, c], weights[b, right, c]
                left_least, right_least = surely[b, left, c], surely[b, right, c]
                if right_weight == 0.0:
                    share = total
                elif left_weight == 0.0:
                    share = 0.0
                elif left_least + right_least > total:
                    share = total * (left_least / (left_least + right_least))
                else:
                    excess = total - sums[b, left, c] - sums[b, right, c]
                    share = sums[b, left, c] + excess * (left_weight / (left_weight + right_weight))
                    share = min(max(share, left_least), total - right_least)
                share = min(max(share, 0.0), total)
                children[b, left, c] = share
                children[b, right, c] = total - share
        if along % 2:
            for c in range(after):
                children[b, along - 1, c] = parents[(b * half + half - 1) * after + c]
