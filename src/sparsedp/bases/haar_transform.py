"""The orthonormal Haar transform of N = 2^L floats: O(N) work and one pass over memory.

Coefficients are in heap order: index 0 is the total times 2^(−L/2); index 2^j + b (0 ≤ b < 2^j) is the difference
(left half's sum − right half's sum) over the b-th of the 2^j equal intervals of cells, times 2^(−(L−j)/2). So the
children of coefficient i ≥ 1 are 2i and 2i + 1, the parent of i is i // 2, and the finest details come last.

Blocks of cells that fit the cache go through all their levels before the next block is touched; the
levels above see one sum a block. Sums are carried unscaled and each coefficient is scaled once.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

BLOCK = 8192
"""Cells in a block: 64 KB; they, their coefficients and the scratch stay in the second-level cache."""


@kernel
def haar_analyze(signal: Floats, coefficients: Floats) -> None:
    """Write the N coefficients of the N cells of `signal`; both contiguous, N a power of two."""
    block = min(len(signal), BLOCK)
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
    block = min(size, BLOCK)
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
