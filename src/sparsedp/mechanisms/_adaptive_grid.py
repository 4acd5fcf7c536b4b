"""Into which parts Adaptive cuts the blocks of cells that it has measured: functions of their noisy sums alone.

Tables are measured in adaptive grids (Qardaji, Yang and Li 2013), with blocks and parts that are runs of 2^k cells
along the row: boxes of the table. First blocks, all alike, and as many as their sums are seen above the noise in the
mean. Then parts of each, so many that their halves would differ by no more than the noise: where records are dense,
parts are small. By how much halves differ is foretold by the blocks, which are halves of larger ones: what is lumpy
from afar is so from near by. And where records are dense enough that cells are not far below the noise, the parts are
cells: smaller parts show more of what is smooth, but of what is rough only cells do, and nobody knows which it is.

Those cells tell. So they are measured first. If they differ, within parts such as blocks half as dense would have, by
more than their noise, those blocks are measured in cells too, and so on. Rounded amounts, and records of few people,
are like that: most cells are empty, wherever they are, and the others are full.

If the block that holds the first cell is cut, its first part is cut further, down to that cell: numbers of events and
amounts are often zero, and a table of two of them has a pile in that corner, which is too low for its cells to be
parts. A handful of sums more are measured.

In rows in which cells stand out they are measured one by one, but for those of blocks in which nothing is seen: these
are measured whole. Little is lost there, and the noise of empty cells does not add up over long ranges.
"""

from __future__ import annotations

from math import log2, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.sensing.parts_of_blocks import cut_blocks, cut_to_the_first

STEP, LEAST_BLOCKS = 4, 16
"""Blocks have some cells at least, or so many times more, and so on; but not so many that there are fewer of them."""

MEAN_DETECTED = 0.6
"""Mean sum of blocks, in deviations of their noise, for blocks not to be larger."""

OF_PARTS = 1.73
"""By how much the halves of parts may differ, in deviations of the noise, for blocks not to be cut further. The optimum
is flat."""

EVENLY_DRAWN = 1.0 / 3.0
"""Mean square of the difference of two halves, as a share of their sum: if all ways to divide it are alike likely."""

LEAST_UNEVEN = 0.04
"""The same, at least: the blocks may happen to be alike."""

DENSE_BLOCK = 0.7
"""Mean count of a block's cells, in deviations of the noise on a part: from this on, its parts are cells."""

DETECTED = 3.0
"""In deviations of its noise: from which sum on the cells of a block are measured one by one."""


def block_size(total: float, n: int, size: int, deviation: float) -> int:
    """How many cells the blocks of n in a row should have, `size` at least, given about how many records there are."""
    while size * STEP * LEAST_BLOCKS <= n and total * size < MEAN_DETECTED * deviation * n:
        size *= STEP
    return size


def part_sizes(sums: Floats, size: int, deviation: float, of_sums: float) -> Ints:
    """How many cells the parts of blocks of `size` cells, a power of two, have, given about what the blocks' sums are.

    `deviation`: of the noise that parts will have; `of_sums`: that the sums have.
    """
    coarsest = OF_PARTS * deviation / sqrt(unevenness_of_halves(sums, of_sums))
    wanted = np.log2(np.maximum(sums, 1.0)) - log2(max(coarsest, 1e-300))
    most = size.bit_length() - 1
    sizes: Ints = np.left_shift(1, (most - np.clip(np.rint(wanted), 0, most)).astype(np.int64))
    return np.where(sums >= dense_from(size, deviation), 1, sizes)


def dense_from(size: int, deviation: float) -> float:
    """Which sum of a block makes its parts cells, in any case. `deviation`: of the noise that parts will have."""
    return DENSE_BLOCK * deviation * size


def cells_pay(cells: Floats, sums: Floats, part: int, expected: float, deviation: float) -> bool:
    """Whether it seems worth while to measure cells of blocks rather than parts of them, given cells of denser ones.

    `cells`: a row for each of the denser blocks, one at least, with noise of that `deviation`; `sums`: about what these
    blocks have. The others have about the sum `expected`, and would have parts of `part` cells. Cells pay if the
    squares of what they have beyond the mean of their part, in proportion to the records, are more than those of the
    noise, and in half of the blocks at least: one that is full of it says little about others.
    """
    blocks, size = cells.shape
    within = (cells**2).sum(axis=1) - (cells.reshape(blocks, -1, part).sum(axis=2) ** 2).sum(axis=1) / part
    beyond_noise = within - deviation**2 * (size - size // part)
    pays = beyond_noise * expected >= deviation**2 * size * sums
    return bool(2 * np.count_nonzero(pays) >= blocks)


def unevenness_of_halves(sums: Floats, deviation: float) -> float:
    """How two halves differ, in the mean square over blocks by twos, and these by twos again, as a share of their sums.

    Noise of this `deviation` is taken off. What it leaves unsure counts for the mean over all ways to divide a sum.
    """
    differences, wholes, unsure, variance = 0.0, 0.0, 1e-300, deviation**2
    for _ in range(2):
        by_twos = sums[: len(sums) // 2 * 2].reshape(-1, 2)
        noise = 2.0 * variance * len(by_twos)
        differences += max(float(np.sum((by_twos[:, 0] - by_twos[:, 1]) ** 2)) - noise, 0.0)
        wholes += max(float(np.sum((by_twos[:, 0] + by_twos[:, 1]) ** 2)) - noise, 0.0)
        unsure += 4.0 * variance * sqrt(len(by_twos))
        sums, variance = by_twos.sum(axis=1), 2.0 * variance
    found = (differences + EVENLY_DRAWN * unsure) / (wholes + unsure)
    return min(max(found, LEAST_UNEVEN), 1.0)


def towards_the_first(starts: Ints, size: int) -> Ints:
    """The same parts of blocks of `size` cells, but the first of them cut down to the first cell, if the block is."""
    return cut_to_the_first(starts) if len(starts) > 1 and starts[1] < size else starts


def cells_of_dense_blocks(sums: Floats, size: int, n: int, deviation: float) -> Ints:
    """The first cells of those groups: all cells of the blocks in which something is seen, and the other blocks.

    `deviation`: of the noise in the blocks' sums.
    """
    return cut_blocks(np.where(sums >= DETECTED * deviation, 1, size), size, n)
