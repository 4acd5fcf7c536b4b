"""The kernels of randomised Hadamard sensing: shuffle and sign each block while it is in cache for the transform.

`order` is the permutation within each block of at most 2,048 cells: place t of a block takes the cell order[t] of that
block. `signs` has one bit a place, 64 a word, the lowest first; a set bit means −1. Unsigned integers wrap modulo
2⁶⁴. A vector shorter than the transform stands for one padded with zeros.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers, Numbers
from sparsedp.jit import kernel
from sparsedp.sensing.walsh_hadamard import (
    BLOCK,
    REGION,
    transform_across_regions,
    transform_block,
    transform_region,
)

SHUFFLED_CELLS = 2048
"""The cells that one permutation mixes: 16 KB, so a shuffled block never leaves the first-level cache."""

Order = npt.NDArray[np.uint16]
Words = npt.NDArray[np.uint64]


@kernel
def shuffle_sign_transform(cells: Numbers, order: Order, signs: Words, out: Numbers) -> None:
    """out ← H · diag(±1) · P · cells."""
    size = len(out)
    block = min(size, BLOCK)
    padded = np.empty(len(order), out.dtype)
    for region in range(0, size, REGION):
        region_stop = min(region + REGION, size)
        for start in range(region, region_stop, block):
            for inner in range(start, start + block, len(order)):
                target = out[inner : inner + len(order)]
                if inner + len(order) <= len(cells):
                    _shuffle_sign(cells[inner : inner + len(order)], order, signs, inner, target)
                else:
                    _pad(cells, inner, padded)
                    _shuffle_sign(padded, order, signs, inner, target)
            transform_block(out, start, start + block)
        transform_region(out, region, region_stop)
    transform_across_regions(out)


@kernel
def transform_sign_unshuffle(work: Numbers, order: Order, signs: Words, cells: Numbers) -> None:
    """cells ← the first len(cells) cells of Pᵀ · diag(±1) · H · work; `work` is overwritten."""
    size = len(work)
    block = min(size, BLOCK)
    transform_across_regions(work)
    padded = np.empty(len(order), work.dtype)
    for region in range(0, size, REGION):
        region_stop = min(region + REGION, size)
        transform_region(work, region, region_stop)
        for start in range(region, min(region_stop, len(cells)), block):
            transform_block(work, start, start + block)
            for inner in range(start, min(start + block, len(cells)), len(order)):
                source = work[inner : inner + len(order)]
                if inner + len(order) <= len(cells):
                    _sign_unshuffle(source, order, signs, inner, cells[inner : inner + len(order)])
                else:
                    _sign_unshuffle(source, order, signs, inner, padded)
                    cells[inner:] = padded[: len(cells) - inner]


@kernel
def pick_rows(work: Numbers, chosen: Integers, values: Numbers) -> None:
    """values ← R · work."""
    for i in range(len(chosen)):
        values[i] = work[chosen[i]]


@kernel
def spread_rows(values: Numbers, chosen: Integers, work: Numbers) -> None:
    """work ← Rᵀ · values."""
    work[:] = 0
    for i in range(len(chosen)):
        work[chosen[i]] = values[i]


# Moving and signing are two loops: the second is vectorised, and both stay in the first-level cache.


@kernel
def _shuffle_sign(cells: Numbers, order: Order, signs: Words, first: int, out: Numbers) -> None:
    for i in range(len(order)):
        out[i] = cells[order[i]]
    _sign(out, signs, first)


@kernel
def _sign_unshuffle(work: Numbers, order: Order, signs: Words, first: int, cells: Numbers) -> None:
    _sign(work, signs, first)
    for i in range(len(order)):
        cells[order[i]] = work[i]


@kernel
def _sign(values: Numbers, signs: Words, first: int) -> None:
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
