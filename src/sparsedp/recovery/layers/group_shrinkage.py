"""Chosen groups halved for nothing are joined again: empirical Bayes on how each half differs from an even split.

The private look halves a group when it *may* not be flat. Once the groups' sums are measured, each halving says how far
it was needed: the left part's sum against its share of the whole by size, in deviations of the noise. All halvings
together teach a prior (zero, or Gaussian of some scale), and every difference is replaced by its posterior mean.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, noise_nodes
from sparsedp.recovery.shrinkage.magnitude_grid import GRID, count
from sparsedp.recovery.shrinkage.noise_removal import removed_share
from sparsedp.recovery.shrinkage.scale_mixture import COLUMNS, VAGUE, Evidence, fit, tables

PRIOR_COUNT = 4.0
"""How many halvings the vague prior (even odds that a halving was needless) counts for."""


def shrink_groups(starts: Integers, sums: Floats, variances: Floats, n: int) -> Floats:
    """The sums of the groups, shrunk towards flat halves; the total is kept.

    `starts` are the leaves of a tree of aligned halves over n cells in a row; `sums` have independent errors.
    """
    if len(starts) < 3:
        return sums.copy()
    ends = np.append(starts[1:], n)
    seen = np.zeros((1, len(GRID) + 1))
    _halve(starts, ends, sums, variances, n, np.zeros((len(GRID), COLUMNS)), seen, np.empty(len(sums)))
    evidence = Evidence.of(*noise_nodes(GAUSSIAN_FROM))
    weights = fit(seen[0, :-1], evidence, VAGUE, PRIOR_COUNT * VAGUE, 0.0)
    (table,) = tables(evidence, weights[None])
    shrunk = np.empty(len(sums))
    _halve(starts, ends, sums, variances, n, table, np.zeros_like(seen), shrunk)
    return shrunk


@kernel
def _halve(
    starts: Integers,
    ends: Integers,
    sums: Floats,
    variances: Floats,
    n: int,
    table: Floats,
    seen: Floats,
    out: Floats,
) -> None:
    """From the root down, split each whole between its halves; count the magnitudes of the differences in `seen`."""
    size = 1
    while size < n:
        size *= 2
    # A stack of wholes: the groups first … last − 1, the size of the aligned run they fill, and their total.
    firsts, lasts = np.empty(len(starts) + 64, np.int64), np.empty(len(starts) + 64, np.int64)
    sizes, totals = np.empty(len(starts) + 64, np.int64), np.empty(len(starts) + 64)
    above = np.concatenate((np.zeros(1), np.cumsum(variances)))
    running = np.concatenate((np.zeros(1), np.cumsum(sums)))
    firsts[0], lasts[0], sizes[0], totals[0] = 0, len(starts), size, running[-1]
    depth = 1
    while depth > 0:
        depth -= 1
        first, last, size, total = firsts[depth], lasts[depth], sizes[depth], totals[depth]
        if last - first == 1:
            out[first] = total
            continue
        half = size // 2
        middle_cell = starts[first] // size * size + half
        cells = last - first == size
        middle = first + (half if cells else np.searchsorted(starts[first:last], middle_cell))
        if middle == last:  # the right half is beyond the last cell
            firsts[depth], lasts[depth], sizes[depth], totals[depth] = first, last, half, total
            depth += 1
            continue
        left_sum, right_sum = running[middle] - running[first], running[last] - running[middle]
        left_var, right_var = above[middle] - above[first], above[last] - above[middle]
        both = max(left_var + right_var, 1e-300)
        left = left_sum + left_var / both * (total - left_sum - right_sum)
        deviation = max(np.sqrt(left_var * right_var / both), 1e-150)
        even = total * (middle_cell - starts[first]) / (ends[last - 1] - starts[first])
        score = (left - even) / deviation
        count(score, seen, 0)
        left -= removed_share(table, score) * score * deviation
        firsts[depth], lasts[depth], sizes[depth], totals[depth] = middle, last, half, total - left
        firsts[depth + 1], lasts[depth + 1], sizes[depth + 1], totals[depth + 1] = first, middle, half, left
        depth += 2
