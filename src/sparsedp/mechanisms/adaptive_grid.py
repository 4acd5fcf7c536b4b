"""Which sums of a table Adaptive measures where cells do not stand out: a grid that follows the counts.

Adaptive grids (Qardaji, Yang and Li 2013), with blocks and parts that are runs of 2^k cells along the row: boxes of the
table. First blocks, all alike, and as many as their sums are seen above the noise in the mean. Then parts of each, so
many that their sums are some deviations of the noise: where records are dense, parts are small. Functions of noisy sums
alone.
"""

from __future__ import annotations

from math import log2

import numpy as np

from sparsedp.arrays import Floats, Integers

STEP, LEAST_BLOCKS = 4, 16
"""Blocks have some cells at least, or so many times more, and so on; but not so many that there are fewer of them."""

SEEN = 0.6
"""Mean sum of blocks, in deviations of their noise, for blocks not to be larger."""

OF_PARTS = 5.0
"""Sums of parts, in deviations of their noise, that blocks are cut for. The optimum is flat."""


def block_size(total: float, n: int, size: int, deviation: float) -> int:
    """How many cells the blocks of n in a row should have, `size` at least, given about how many records there are."""
    while size * STEP * LEAST_BLOCKS <= n and total * size < SEEN * deviation * n:
        size *= STEP
    return size


def parts(sums: Floats, size: int, n: int, deviation: float) -> Integers:
    """The first cells of the parts of blocks of `size` cells, a power of two, given about what the blocks' sums are."""
    wanted = np.log2(np.maximum(sums, 1.0)) - log2(max(OF_PARTS * deviation, 1e-300))
    most = size.bit_length() - 1
    sizes = np.left_shift(1, (most - np.clip(np.rint(wanted), 0, most)).astype(np.int64))
    firsts = np.arange(len(sums), dtype=np.int64) * size
    counts = -(-np.minimum(size, n - firsts) // sizes)
    before = np.cumsum(counts) - counts
    starts: Integers = np.repeat(firsts, counts) + (np.arange(int(counts.sum())) - np.repeat(before, counts)) * (
        np.repeat(sizes, counts)
    )
    return starts
