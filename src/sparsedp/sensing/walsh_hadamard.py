"""The Walsh–Hadamard transform H of a vector of 2^L numbers: in place, unnormalised, in natural (Hadamard) order.

H[i, j] = (−1)^popcount(i & j), so H Hᵀ = 2^L · I. Floats are added as floats; unsigned 64-bit integers wrap modulo
2⁶⁴, which is exact modulo 2⁶⁴. The work is L·2^L additions; what costs time is memory, so there are three rounds:

- a *block* of 4,096 consecutive numbers (first-level cache) goes through its first 12 stages;
- a *region* of 32 blocks (second-level cache) goes through the next 5, three and two at a time;
- the stages above pair numbers a region or more apart. Seen as a matrix with a region in each row, they transform its
  columns: strips of neighbouring columns are copied to a contiguous buffer, transformed there and copied back.

So a vector of up to 2²⁴ numbers is read from memory twice. Stages commute: a caller can fill a block just before its
stages (`transform_block`, `transform_region`, then `transform_across_regions`) or, in the opposite order, empty it just
after, while it is in cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsedp.arrays import Numbers
from sparsedp.jit import kernel

BLOCK = 4096
"""Numbers in a block: 32 KB, which fits the first-level cache of every processor of the last decade."""

REGION = 131072
"""Numbers in a region: 1 MB, which fits the second-level cache of most processors."""

STRIP = 65536
"""Numbers in a strip of columns across regions: 512 KB, with rows long enough for the memory to stream."""


@kernel
def walsh_hadamard(values: Numbers) -> None:
    """Replace `values` (float64 or uint64; a power of two of them, contiguous) by H · values."""
    n = len(values)
    for region in range(0, n, REGION):
        region_stop = min(region + REGION, n)
        for start in range(region, region_stop, BLOCK):
            transform_block(values, start, min(start + BLOCK, n))
        transform_region(values, region, region_stop)
    transform_across_regions(values)


@kernel
def transform_block(values: Numbers, start: int, stop: int) -> None:
    """The stages within the block values[start:stop], a power of two of at most `BLOCK` numbers."""
    if stop - start >= 64:
        _octets(values, start, stop)
        _octets_of_octets(values, start, stop)
        _stages(values, start, stop, 64)
    else:
        _stages(values, start, stop, 1)


@kernel
def transform_region(values: Numbers, start: int, stop: int) -> None:
    """The stages that pair blocks of the region values[start:stop]; none if it is one block."""
    _stages(values, start, stop, BLOCK)


@kernel
def transform_across_regions(values: Numbers) -> None:
    """The stages that pair regions; none if there is only one."""
    regions = len(values) // REGION
    if regions <= 1:
        return
    width = max(16, STRIP // regions)
    strip = np.empty(regions * width, values.dtype)
    for column in range(0, REGION, width):
        for i in range(regions):
            _copy(strip, i * width, values, column + i * REGION, width)
        if width < BLOCK:
            for start in range(0, len(strip), BLOCK):
                _stages(strip, start, min(start + BLOCK, len(strip)), width)
        _stages(strip, 0, len(strip), max(width, BLOCK))
        for i in range(regions):
            _copy(values, column + i * REGION, strip, i * width, width)


@kernel
def _copy(target: Numbers, to: int, source: Numbers, at: int, count: int) -> None:
    written = target[to : to + count]
    read = source[at : at + count]
    for i in range(count):
        written[i] = read[i]


# Every loop below runs over slices from zero: so the compiler sees that no index is negative, and vectorises it.


@kernel
def _stages(values: Numbers, start: int, stop: int, h: int) -> None:
    """The stages with distances h, 2h, 4h, … below stop − start, three, two or one at a time."""
    size = stop - start
    while 8 * h <= size:
        for base in range(start, stop, 8 * h):
            _radix_8(values, base, h)
        h *= 8
    if 4 * h <= size:
        for base in range(start, stop, 4 * h):
            _radix_4(values, base, h)
    elif 2 * h <= size:
        for base in range(start, stop, 2 * h):
            _radix_2(values, base, h)


@kernel
def _radix_8(values: Numbers, base: int, h: int) -> None:
    a = values[base : base + h]
    b = values[base + h : base + 2 * h]
    c = values[base + 2 * h : base + 3 * h]
    d = values[base + 3 * h : base + 4 * h]
    e = values[base + 4 * h : base + 5 * h]
    f = values[base + 5 * h : base + 6 * h]
    g = values[base + 6 * h : base + 7 * h]
    k = values[base + 7 * h : base + 8 * h]
    for i in range(h):
        s0, s1, s2, s3, s4, s5, s6, s7 = _hadamard_8(a[i], b[i], c[i], d[i], e[i], f[i], g[i], k[i])
        a[i], b[i], c[i], d[i], e[i], f[i], g[i], k[i] = s0, s1, s2, s3, s4, s5, s6, s7


@kernel
def _radix_4(values: Numbers, base: int, h: int) -> None:
    a = values[base : base + h]
    b = values[base + h : base + 2 * h]
    c = values[base + 2 * h : base + 3 * h]
    d = values[base + 3 * h : base + 4 * h]
    for i in range(h):
        p, q, r, s = a[i] + b[i], a[i] - b[i], c[i] + d[i], c[i] - d[i]
        a[i], b[i], c[i], d[i] = p + r, q + s, p - r, q - s


@kernel
def _radix_2(values: Numbers, base: int, h: int) -> None:
    a = values[base : base + h]
    b = values[base + h : base + 2 * h]
    for i in range(h):
        a[i], b[i] = a[i] + b[i], a[i] - b[i]


@kernel
def _octets(values: Numbers, start: int, stop: int) -> None:
    """The stages with distances 1, 2, 4."""
    v = values[start:stop]
    for octet in range((stop - start) // 8):
        i = 8 * octet
        s0, s1, s2, s3, s4, s5, s6, s7 = _hadamard_8(
            v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4], v[i + 5], v[i + 6], v[i + 7]
        )
        v[i], v[i + 1], v[i + 2], v[i + 3] = s0, s1, s2, s3
        v[i + 4], v[i + 5], v[i + 6], v[i + 7] = s4, s5, s6, s7


@kernel
def _octets_of_octets(values: Numbers, start: int, stop: int) -> None:
    """The stages with distances 8, 16, 32: as `_radix_8`, but with the short inner loop's length known."""
    for base in range(start, stop, 64):
        v = values[base : base + 64]
        for i in range(8):
            s0, s1, s2, s3, s4, s5, s6, s7 = _hadamard_8(
                v[i], v[i + 8], v[i + 16], v[i + 24], v[i + 32], v[i + 40], v[i + 48], v[i + 56]
            )
            v[i], v[i + 8], v[i + 16], v[i + 24] = s0, s1, s2, s3
            v[i + 32], v[i + 40], v[i + 48], v[i + 56] = s4, s5, s6, s7


@kernel
def _hadamard_8(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> tuple[Any, ...]:
    """The 8 × 8 Hadamard matrix times (a, …, h)."""
    a, b, c, d, e, f, g, h = a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h
    a, b, c, d, e, f, g, h = a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h
    return a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h
