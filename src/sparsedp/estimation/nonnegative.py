"""The nearest cells without a negative one, in the metric of the noise: sums that were measured well hardly move.

Clipping at zero would make every long sum too large: it turns noise of mean zero into noise above zero. The nearest
point in the metric of the noise (the constrained least-squares fit) spreads what clipping adds over the cells around,
just as far as the sums around are uncertain.
"""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

MOST_ALTERNATIONS = 60
NEARLY_NONNEGATIVE = 1e-3
"""Rounds end when no cell is further below zero than this many deviations of the finest noise."""


def nearest_nonnegative(row: Floats, level_variances: Floats, total_variance: float) -> Floats:
    """The cells z ≥ 0 that minimise Σ (Haar detail of z − row)² / its variance, and the same of the total.

    `level_variances[j − 1]` is that of an orthonormal aligned detail of 2^j cells, `total_variance` that of the
    orthonormal sum of all. By the alternating direction method of multipliers: one round is one Haar transform.
    """
    n = len(row)
    if n == 0 or float(row.min()) >= 0.0:
        return row.copy()
    if float(row.max()) <= 0.0:
        return np.zeros(n)
    levels = max(n - 1, 1).bit_length()
    floor = 1e-6 * float(max(level_variances.max(), total_variance, 1e-12))
    precisions = 1.0 / np.maximum(np.append(level_variances[:levels], total_variance), floor)
    penalty = exp(sum(map(log, precisions[: min(levels, 6)])) / min(levels, 6))
    padded = np.zeros(1 << levels)
    padded[:n] = row
    return _alternate(padded, n, precisions / penalty, NEARLY_NONNEGATIVE * sqrt(1.0 / precisions[0]))[:n]


@kernel
def _alternate(row: Floats, n: int, precisions: Floats, settled: float) -> Floats:
    """`precisions` by level, finest first, and of the total last, in units of the penalty. Cells beyond n stay zero."""
    size = len(row)
    z, dual, work, sums = np.maximum(row, 0.0), np.zeros(size), np.empty(size), np.empty(size)
    for _ in range(MOST_ALTERNATIONS):
        # The minimum over free cells is a Haar filter: what is to be changed of `row` is (z − dual − row), shrunk.
        for i in range(size):
            work[i] = z[i] - dual[i] - row[i]
        _filter(work, sums, precisions)
        lowest = 0.0
        for i in range(size):
            free = row[i] + work[i]
            lowest = min(lowest, free if i < n else -abs(free))
            z[i] = max(free + dual[i], 0.0) if i < n else 0.0
            dual[i] += free - z[i]
        if lowest > -settled:
            break
    return z


@kernel
def _filter(cells: Floats, sums: Floats, precisions: Floats) -> None:
    """Multiply every Haar detail of level j by 1/(1 + precisions[j]), in place."""
    size = len(cells)
    levels = len(precisions) - 1
    # Means over aligned blocks, level by level, are kept in `sums`: those of level j at its offset.
    offset, width = 0, size
    source = cells
    start = 0
    for _ in range(levels):
        width //= 2
        for i in range(width):
            sums[offset + i] = 0.5 * (source[start + 2 * i] + source[start + 2 * i + 1])
        source = sums
        start = offset
        offset += width
    # Down again: a block's filtered mean plus its filtered deviation from it.
    filtered = sums[start] / (1.0 + precisions[levels])
    sums[start] = filtered - sums[start]  # from here on: by how much the mean changed
    for level in range(levels, 0, -1):
        keep = 1.0 / (1.0 + precisions[level - 1])
        parents = start
        if level > 1:
            start = parents - (size >> (level - 1))
            for i in range(size >> level):
                left, right = sums[start + 2 * i], sums[start + 2 * i + 1]
                half = 0.5 * (left - right)
                change = sums[parents + i]
                sums[start + 2 * i] = change + (keep - 1.0) * half
                sums[start + 2 * i + 1] = change - (keep - 1.0) * half
        else:
            for i in range(size // 2):
                half = 0.5 * (cells[2 * i] - cells[2 * i + 1])
                change = sums[parents + i] + 0.5 * (cells[2 * i] + cells[2 * i + 1])
                cells[2 * i] = change + keep * half
                cells[2 * i + 1] = change - keep * half
