"""Randomised Hadamard sensing: ±1 entries as the paper's, in O(n log n) time and O(n) memory.

The matrix first, then the kernels that shuffle and sign the cells, then the Walsh–Hadamard transform itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints, Numbers, float_vector
from sparsedp.jit import kernel
from sparsedp.sensing.public_signs import SignSensing, public_bytes, public_permutation, public_subset

_SHUFFLED_CELLS = 2048
"""The cells that one permutation mixes: 16 KB, so a shuffled block never leaves the first-level cache."""

_Order = npt.NDArray[np.uint16]
_Words = npt.NDArray[np.uint64]

_BLOCK = 4096
"""Numbers in a block: 32 KB, which fits the first-level cache of every processor of the last decade."""

_REGION = 131072
"""Numbers in a region: 1 MB, which fits the second-level cache of most processors."""

_STRIP = 65536
"""Numbers in a strip of columns across regions: 512 KB, with rows long enough for the memory to stream."""


class Hadamard(SignSensing):
    """Φ = R · H · diag(±1) · P on the first n of N = 2^⌈log₂ n⌉ columns; every entry is exactly +1 or −1.

    P applies one public permutation within each block of 2,048 cells, so that the rows are incoherent with Haar
    wavelets; the signs are public, one a cell; H is the N × N Hadamard matrix in natural order; R keeps `rows`
    distinct rows of it, chosen at random. All three come from the public `seed` (`public_signs.py`, purposes
    "hadamard permutation", "hadamard signs" and "hadamard rows").

    When n is a power of two, Φ Φᵀ = n · I exactly.
    """

    name = "hadamard"

    def __init__(self, n: int, rows: int, seed: int) -> None:
        super().__init__(n, rows, seed)
        self.padded_size = 1 << (self.n - 1).bit_length()

    # Drawn when they are needed: whoever opens a file looks first at how many cells it speaks of.

    @cached_property
    def _order(self) -> npt.NDArray[np.uint16]:
        shuffled = min(self.padded_size, _SHUFFLED_CELLS)
        return public_permutation(self.seed, "hadamard permutation", shuffled).astype(np.uint16)

    @cached_property
    def _signs(self) -> npt.NDArray[np.uint64]:
        sign_bytes = public_bytes(self.seed, "hadamard signs", max(8, self.padded_size // 8))
        return sign_bytes.view("<u8").astype(np.uint64, copy=False)

    @cached_property
    def _chosen(self) -> Ints:
        return public_subset(self.seed, "hadamard rows", self.rows, self.padded_size)

    def _product(self, cells: Numbers) -> Numbers:
        """Φ · cells."""
        return self._transformed(cells, np.empty(self.padded_size, cells.dtype))

    def _transformed(self, cells: Numbers, work: Numbers) -> Numbers:
        _shuffle_sign_transform(cells, self._order, self._signs, work)
        values = np.empty(self.rows, cells.dtype)
        _pick_rows(work, self._chosen, values)
        return values

    def adjoint(self, values: Floats) -> Floats:
        """Φᵀ y: n cells."""
        cells = np.empty(self.n)
        self.adjoint_into(values, np.empty(self.padded_size), cells)
        return cells

    def forward_within(self, signal: Floats, work: Floats) -> Floats:
        """Φ s, using `work` (N floats): decoders call hundreds of times, and fresh memory costs as much as the sums."""
        return self._transformed(float_vector("signal", signal, self.n), work)

    def adjoint_into(self, values: Floats, work: Floats, cells: Floats) -> None:
        """cells ← Φᵀ y, using `work` (N floats)."""
        _spread_rows(float_vector("values", values, self.rows), self._chosen, work)
        _transform_sign_unshuffle(work, self._order, self._signs, cells)

    def materialize(self) -> Ints:
        """Entry by entry: (−1)^(bits shared by row and place) times the sign at the place that the cell moves to."""
        order = self._order.astype(np.int64)
        place_of = np.argsort(order)
        cells = np.arange(self.n)
        places = cells - cells % len(order) + place_of[cells % len(order)]
        parity = self._chosen[:, None] & places[None, :]
        for shift in (16, 8, 4, 2, 1):
            parity ^= parity >> shift
        negative = (self._signs[places // 64] >> (places % 64).astype(np.uint64)).astype(np.int64)
        return np.where((parity ^ negative) & 1, -1, 1)


# ---- shuffle and sign each block while it is in cache for the transform
#
# `order` is the permutation within each block of at most 2,048 cells: place t of a block takes the cell order[t] of
# that block. `signs` has one bit a place, 64 a word, the lowest first; a set bit means −1. Unsigned integers wrap
# modulo 2⁶⁴. A vector shorter than the transform stands for one padded with zeros.


@kernel
def _shuffle_sign_transform(cells: Numbers, order: _Order, signs: _Words, out: Numbers) -> None:
    """out ← H · diag(±1) · P · cells."""
    size = len(out)
    block = min(size, _BLOCK)
    padded = np.empty(len(order), out.dtype)
    for region in range(0, size, _REGION):
        region_stop = min(region + _REGION, size)
        for start in range(region, region_stop, block):
            for inner in range(start, start + block, len(order)):
                target = out[inner : inner + len(order)]
                if inner + len(order) <= len(cells):
                    _shuffle_sign(cells[inner : inner + len(order)], order, signs, inner, target)
                else:
                    _pad(cells, inner, padded)
                    _shuffle_sign(padded, order, signs, inner, target)
            _transform_block(out, start, start + block)
        _transform_region(out, region, region_stop)
    _transform_across_regions(out)


@kernel
def _transform_sign_unshuffle(work: Numbers, order: _Order, signs: _Words, cells: Numbers) -> None:
    """cells ← the first len(cells) cells of Pᵀ · diag(±1) · H · work; `work` is overwritten."""
    size = len(work)
    block = min(size, _BLOCK)
    _transform_across_regions(work)
    padded = np.empty(len(order), work.dtype)
    for region in range(0, size, _REGION):
        region_stop = min(region + _REGION, size)
        _transform_region(work, region, region_stop)
        for start in range(region, min(region_stop, len(cells)), block):
            _transform_block(work, start, start + block)
            for inner in range(start, min(start + block, len(cells)), len(order)):
                source = work[inner : inner + len(order)]
                if inner + len(order) <= len(cells):
                    _sign_unshuffle(source, order, signs, inner, cells[inner : inner + len(order)])
                else:
                    _sign_unshuffle(source, order, signs, inner, padded)
                    cells[inner:] = padded[: len(cells) - inner]


@kernel
def _pick_rows(work: Numbers, chosen: Ints, values: Numbers) -> None:
    """values ← R · work."""
    for i in range(len(chosen)):
        values[i] = work[chosen[i]]


@kernel
def _spread_rows(values: Numbers, chosen: Ints, work: Numbers) -> None:
    """work ← Rᵀ · values."""
    work[:] = 0
    for i in range(len(chosen)):
        work[chosen[i]] = values[i]


# Moving and signing are two loops: the second is vectorised, and both stay in the first-level cache.


@kernel
def _shuffle_sign(cells: Numbers, order: _Order, signs: _Words, first: int, out: Numbers) -> None:
    for i in range(len(order)):
        out[i] = cells[order[i]]
    _sign(out, signs, first)


@kernel
def _sign_unshuffle(work: Numbers, order: _Order, signs: _Words, first: int, cells: Numbers) -> None:
    _sign(work, signs, first)
    for i in range(len(order)):
        cells[order[i]] = work[i]


@kernel
def _sign(values: Numbers, signs: _Words, first: int) -> None:
    # Zero has the vector's own type: unsigned and signed integers would otherwise meet as floats, and round.
    zero = values.dtype.type(0)
    for start in range(0, len(values), 64):
        word = signs[(first + start) >> 6]
        part = values[start : start + 64]
        for i in range(len(part)):
            value = part[i]
            part[i] = zero - value if word >> np.uint64(i) & np.uint64(1) else value


@kernel
def _pad(cells: Numbers, first: int, padded: Numbers) -> None:
    padded[:] = 0
    for i in range(first, len(cells)):
        padded[i - first] = cells[i]


# ---- the Walsh–Hadamard transform H of a vector of 2^L numbers: in place, unnormalised, in natural (Hadamard) order
#
# H[i, j] = (−1)^popcount(i & j), so H Hᵀ = 2^L · I. Floats are added as floats; unsigned 64-bit integers wrap modulo
# 2⁶⁴, which is exact modulo 2⁶⁴. The work is L·2^L additions; what costs time is memory, so there are three rounds:
#
# - a *block* of 4,096 consecutive numbers (first-level cache) goes through its first 12 stages;
# - a *region* of 32 blocks (second-level cache) goes through the next 5, three and two at a time;
# - the stages above pair numbers a region or more apart. Seen as a matrix with a region in each row, they transform its
#   columns: strips of neighbouring columns are copied to a contiguous buffer, transformed there and copied back.
#
# So a vector of up to 2²⁴ numbers is read from memory twice. Stages commute: a block can be filled just before its
# stages (`_transform_block`, `_transform_region`, then `_transform_across_regions`) or, in the opposite order, emptied
# just after, while it is in cache.


@kernel
def walsh_hadamard(values: Numbers) -> None:
    """Replace `values` (float64 or uint64; a power of two of them, contiguous) by H · values."""
    n = len(values)
    for region in range(0, n, _REGION):
        region_stop = min(region + _REGION, n)
        for start in range(region, region_stop, _BLOCK):
            _transform_block(values, start, min(start + _BLOCK, n))
        _transform_region(values, region, region_stop)
    _transform_across_regions(values)


@kernel
def _transform_block(values: Numbers, start: int, stop: int) -> None:
    """The stages within the block values[start:stop], a power of two of at most `_BLOCK` numbers."""
    if stop - start >= 64:
        _octets(values, start, stop)
        _octets_of_octets(values, start, stop)
        _stages(values, start, stop, 64)
    else:
        _stages(values, start, stop, 1)


@kernel
def _transform_region(values: Numbers, start: int, stop: int) -> None:
    """The stages that pair blocks of the region values[start:stop]; none if it is one block."""
    _stages(values, start, stop, _BLOCK)


@kernel
def _transform_across_regions(values: Numbers) -> None:
    """The stages that pair regions; none if there is only one."""
    regions = len(values) // _REGION
    if regions <= 1:
        return
    width = max(16, _STRIP // regions)
    strip = np.empty(regions * width, values.dtype)
    for column in range(0, _REGION, width):
        for i in range(regions):
            _copy(strip, i * width, values, column + i * _REGION, width)
        if width < _BLOCK:
            for start in range(0, len(strip), _BLOCK):
                _stages(strip, start, min(start + _BLOCK, len(strip)), width)
        _stages(strip, 0, len(strip), max(width, _BLOCK))
        for i in range(regions):
            _copy(values, column + i * _REGION, strip, i * width, width)


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
