"""The Haar basis: piecewise-constant counts have few coefficients in it.

The basis first, then its transform, then the same along one axis of a table.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis, cells_or_padded
from sparsedp.jit import kernel
from sparsedp.validate import MAX_CELLS, whole

_CACHED_CELLS = 8192
"""Cells in a block: 64 KB; they, their coefficients and the scratch stay in the second-level cache."""

_TILE = 16384
"""Numbers in the scratch of a tile: 128 KB, unless a single cache line of rows takes more."""


class Haar(Basis):
    """Orthonormal Haar wavelets on n cells, padded with public zeros to `size` = N = 2^L.

    Coefficients are in heap order: [total, coarsest detail, …, finest details]. The 2^j coefficients 2^j … 2^(j+1) − 1
    are the differences (left half − right half) over the 2^j equal intervals of N/2^j cells, left to right; the
    children of i ≥ 1 are 2i and 2i + 1.
    """

    name = "haar"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self._size = 1 << (self.n - 1).bit_length()

    @property
    def size(self) -> int:
        """N: the least power of two that is at least n."""
        return self._size

    def analyze(self, signal: Floats) -> Floats:
        """Ψᵀ: n or N cells to N coefficients."""
        coefficients = np.empty(self._size)
        haar_analyze(cells_or_padded(self, signal), coefficients)
        return coefficients

    def synthesize(self, coefficients: Floats) -> Floats:
        """Ψ: N coefficients to n cells."""
        cells = np.empty(self.n)
        haar_synthesize(float_vector("coefficients", coefficients, self._size), cells)
        return cells

    @property
    def row_sum_bound(self) -> Fraction:
        """2^(−L/2) + Σ_{l=1..L} 2^(−l/2), rounded up by less than 10⁻³⁰: reached by every cell."""
        levels = self._size.bit_length() - 1
        bound = _inverse_root_of_power_above(levels)
        for exponent in range(1, levels + 1):
            bound += _inverse_root_of_power_above(exponent)
        return bound


def _inverse_root_of_power_above(exponent: int) -> Fraction:
    """A rational just above 2^(−exponent/2); exact for even exponents."""
    if exponent % 2 == 0:
        return Fraction(1, 1 << exponent // 2)
    root_of_two_above = Fraction(isqrt(2 << 240) + 1, 1 << 120)
    return root_of_two_above / (1 << (exponent + 1) // 2)


# ---- the transform of N = 2^L floats: O(N) work and one pass over memory
#
# Coefficients are in heap order: index 0 is the total times 2^(−L/2); index 2^j + b (0 ≤ b < 2^j) is the difference
# (left half's sum − right half's sum) over the b-th of the 2^j equal intervals of cells, times 2^(−(L−j)/2). So the
# children of coefficient i ≥ 1 are 2i and 2i + 1, the parent of i is i // 2, and the finest details come last.
#
# Blocks of cells that fit the cache go through all their levels before the next block is touched; the
# levels above see one sum a block. Sums are carried unscaled and each coefficient is scaled once.


@kernel
def haar_analyze(signal: Floats, coefficients: Floats) -> None:
    """Write the N coefficients of the N cells of `signal`; both contiguous, N a power of two."""
    block = min(len(signal), _CACHED_CELLS)
    blocks = len(signal) // block
    room = max(block, blocks)
    ping, pong = np.empty(room), np.empty(room)
    sums = np.empty(blocks)
    for b in range(blocks):
        cells = signal[b * block : (b + 1) * block]
        sums[b] = _analyze_levels(cells, coefficients, b, blocks, 1, ping, pong)
    coefficients[0] = _analyze_levels(sums, coefficients, 0, 1, block, ping, pong) / sqrt(len(signal))


@kernel
def _analyze_levels(
    cells: Floats, coefficients: Floats, place: int, places: int, width: int, ping: Floats, pong: Floats
) -> float:
    """The details over `cells`, the place-th of `places` equal parts, each cell a sum of `width`; returns the sum."""
    half = len(cells) // 2
    if half == 0:
        return float(cells[0])
    _analyze_level(cells, coefficients, place, places, width, half, ping)
    while half > 1:
        half //= 2
        width *= 2
        _analyze_level(ping, coefficients, place, places, width, half, pong)
        ping, pong = pong, ping
    return float(ping[0])


@kernel
def _analyze_level(
    cells: Floats, coefficients: Floats, place: int, places: int, width: int, half: int, sums: Floats
) -> None:
    first = (places + place) * half
    details = coefficients[first : first + half]
    scale = 1.0 / sqrt(2 * width)
    for i in range(half):
        left, right = cells[2 * i], cells[2 * i + 1]
        sums[i] = left + right
        details[i] = (left - right) * scale


@kernel
def haar_synthesize(coefficients: Floats, signal: Floats) -> None:
    """Write the first len(signal) ≤ N cells of the signal that has these N coefficients; both contiguous."""
    size = len(coefficients)
    block = min(size, _CACHED_CELLS)
    blocks = size // block
    room = max(block, blocks)
    ping, pong, means = np.empty(room), np.empty(room), np.empty(blocks)
    _synthesize_levels(coefficients[0] / sqrt(size), coefficients, 0, 1, block, ping, pong, means)
    for b in range(blocks):
        start = b * block
        stop = start + block
        if stop <= len(signal):
            _synthesize_levels(means[b], coefficients, b, blocks, 1, ping, pong, signal[start:stop])
        elif start < len(signal):
            last = np.empty(block)
            _synthesize_levels(means[b], coefficients, b, blocks, 1, ping, pong, last)
            signal[start:] = last[: len(signal) - start]


@kernel
def _synthesize_levels(
    mean: float,
    coefficients: Floats,
    place: int,
    places: int,
    width: int,
    ping: Floats,
    pong: Floats,
    cells: Floats,
) -> None:
    """The inverse of `_analyze_levels`: `cells` from their mean and the details over them."""
    if len(cells) == 1:
        cells[0] = mean
        return
    half = 1
    width *= len(cells) // 2
    ping[0] = mean
    while 2 * half < len(cells):
        _synthesize_level(ping, coefficients, place, places, width, half, pong)
        ping, pong = pong, ping
        half *= 2
        width //= 2
    _synthesize_level(ping, coefficients, place, places, width, half, cells)


@kernel
def _synthesize_level(
    means: Floats, coefficients: Floats, place: int, places: int, width: int, half: int, cells: Floats
) -> None:
    first = (places + place) * half
    details = coefficients[first : first + half]
    scale = 1.0 / sqrt(2 * width)
    for i in range(half):
        step = details[i] * scale
        cells[2 * i] = means[i] + step
        cells[2 * i + 1] = means[i] - step


# ---- every row along the middle axis of a block of shape (before, N, after)
#
# Rows that are contiguous go through the kernels above one by one; others go side by side in tiles of neighbouring rows
# that fit the cache, so that memory is read in order.


@kernel
def haar_analyze_rows(cells: Floats, coefficients: Floats) -> None:
    """Write the N coefficients of each of the before × after rows of N cells; both contiguous."""
    before, size, after = cells.shape
    if after == 1:
        for b in range(before):
            haar_analyze(cells[b, :, 0], coefficients[b, :, 0])
        return
    width = min(after, max(8, 2 * _TILE // size))
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
    width = min(after, max(8, 2 * _TILE // size))
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
