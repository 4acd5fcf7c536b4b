"""The orthonormal Haar transform of every row along the middle axis of a block (before, N, after), N = 2^L.

Coefficients of a row are in heap order, as in `haar_transform.py`. Rows that are contiguous go through its kernels one
by one; others go side by side in tiles of neighbouring rows that fit the cache, so that memory is read in order.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.bases.haar_transform import haar_analyze, haar_synthesize
from sparsedp.jit import kernel

TILE = 16384
"""Numbers in the scratch of a tile: 128 KB, unless a single cache line of rows takes more."""


@kernel
def haar_analyze_rows(cells: Floats, coefficients: Floats) -> None:
    """Write the N coefficients of each of the before × after rows of N cells; both contiguous."""
    before, size, after = cells.shape
    if after == 1:
        for b in range(before):
            haar_analyze(cells[b, :, 0], coefficients[b, :, 0])
        return
    width = min(after, max(8, 2 * TILE // size))
    sums = np.empty((max(1, size // 2), width))
    for b in range(before):
        for first in range(0, after, width):
            rows = min(width, after - first)
            _analyze_tile(cells[b, :, first : first + rows], coefficients[b, :, first : first + rows], sums, rows)


@kernel
def _analyze_tile(cells: Floats, coefficients: Floats, sums: Floats, rows: int) -> None:
    size = cells.shape[0]
    half = size // 2
    scale = 1.0 / sqrt(2.0)
    for i in range(half):
        for j in range(rows):
            left, right = cells[2 * i, j], cells[2 * i + 1, j]
            sums[i, j] = left + right
            coefficients[half + i, j] = (left - right) * scale
    while half > 1:
        half //= 2
        scale = 1.0 / sqrt(float(size // half))
        for i in range(half):  # each sum lands on or before the pair it is made of
            for j in range(rows):
                left, right = sums[2 * i, j], sums[2 * i + 1, j]
                sums[i, j] = left + right
                coefficients[half + i, j] = (left - right) * scale
    total = cells if size == 1 else sums
    for j in range(rows):
        coefficients[0, j] = total[0, j] / sqrt(float(size))


@kernel
def haar_synthesize_rows(coefficients: Floats, cells: Floats) -> None:
    """Write the first n ≤ N cells of each row that has these N coefficients; both contiguous."""
    before, size, after = coefficients.shape
    if after == 1:
        for b in range(before):
            haar_synthesize(coefficients[b, :, 0], cells[b, :, 0])
        return
    width = min(after, max(8, 2 * TILE // size))
    means = np.empty((max(1, size // 2), width))
    for b in range(before):
        for first in range(0, after, width):
            rows = min(width, after - first)
            _synthesize_tile(coefficients[b, :, first : first + rows], cells[b, :, first : first + rows], means, rows)


@kernel
def _synthesize_tile(coefficients: Floats, cells: Floats, means: Floats, rows: int) -> None:
    size, n = coefficients.shape[0], cells.shape[0]
    for j in range(rows):
        means[0, j] = coefficients[0, j] / sqrt(float(size))
    if size == 1:
        cells[0] = means[0, :rows]
        return
    half = 1
    while 2 * half < size:
        scale = 1.0 / sqrt(float(size // half))
        for i in range(half - 1, -1, -1):  # from the end: children land behind the parents still to be read
            for j in range(rows):
                mean, step = means[i, j], coefficients[half + i, j] * scale
                means[2 * i, j] = mean + step
                means[2 * i + 1, j] = mean - step
        half *= 2
    scale = 1.0 / sqrt(2.0)
    for i in range((n + 1) // 2):
        for j in range(rows):
            mean, step = means[i, j], coefficients[half + i, j] * scale
            cells[2 * i, j] = mean + step
            if 2 * i + 1 < n:
                cells[2 * i + 1, j] = mean - step
