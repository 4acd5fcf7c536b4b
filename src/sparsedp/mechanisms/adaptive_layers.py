"""Which sums of blocks Adaptive measures, and with which shares: layers that make the sum over a random range least
uncertain, or that and a cell both.

Linear theory alone: what fusing the layers leaves of the noise (`recovery/layers/fusion.py`), before anything is
shrunk. `power`: the variance of the noise of a share falls with this power of it: 2 for Laplace noise, 1 for Gaussian.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from sparsedp.mechanisms.adaptive_shares import LEAST_CELLS, Shares

LAPLACE, GAUSSIAN = 2, 1

TOTAL, LEAST_TOTAL = Fraction(1, 20), Fraction(1, 50)
"""For the sum of all cells, of what is measured in regular layers; and where single cells count, without blocks."""

CELLS = tuple(Fraction(percent, 100) for percent in range(60, 95, 5))
"""For the cells, where they count as much as ranges do: the best of these."""

SMALL = 16
"""Fewer cells than this are measured by themselves."""

STEP_OF_TABLES = 1024
"""From one layer of blocks to the next in tables, where the first is given."""

MOST_BETWEEN = 3
"""Layers of blocks between the cells and their total."""

LEAST_OF_ROWS = 64
"""Of rows with many cells: sums of smaller blocks would be kept with noise that shrinking removes."""

RegularLayers = tuple[tuple[int, Fraction], ...]
"""Sizes of blocks, and their shares of what is left, finest first."""


def regular_layers(n: int, shares: Shares, power: int = LAPLACE) -> RegularLayers:
    """The cells, blocks of them, blocks of blocks, …, and all of them."""
    if n < SMALL:
        return ((1, Fraction(1)),)
    if shares.for_both:
        return _best_for_both(n, power)
    if shares.blocks is None:
        return _best_for_ranges(n, shares.cells, power)
    return layers_of_blocks(n, shares.cells, shares.blocks)


def layers_of_blocks(n: int, cells: Fraction, size: int) -> RegularLayers:
    """The cells, blocks of `size` of them, blocks of many of these, …, and all of them; 0: no blocks, and all that the
    cells leave is for the total.
    """
    if size == 0:
        return ((1, cells), (n, 1 - cells))
    sizes = []
    while size <= n // 4:
        sizes.append(size)
        size *= STEP_OF_TABLES
    return _layers(n, cells, sizes)


@lru_cache(maxsize=64)
def _best_for_ranges(n: int, cells: Fraction, power: int) -> RegularLayers:
    """Those of the least variance of the sum over a random range, given what the cells have if there are blocks."""
    return min([_layers(n, cells, []), *_in_blocks(n, cells)], key=lambda layers: range_variance(n, layers, power))


@lru_cache(maxsize=64)
def _best_for_both(n: int, power: int) -> RegularLayers:
    """Those of the least product of the variances of a random range and of a cell as it is measured.

    From `LEAST_CELLS` on there are blocks in any case, though a few hundred cells would do a little better without:
    where cells stand out, the sums of blocks tell which are busy.
    """
    found = [layers for cells in CELLS for layers in _in_blocks(n, cells)]
    if n < LEAST_CELLS:
        found.append(((1, 1 - LEAST_TOTAL), (n, LEAST_TOTAL)))
    return min(found, key=lambda layers: range_variance(n, layers, power) * float(layers[0][1]) ** -power)


def _in_blocks(n: int, cells: Fraction) -> list[RegularLayers]:
    """Layers of blocks that grow by one factor, the first no smaller than about √n or `LEAST_OF_ROWS`."""
    powers = [1 << exponent for exponent in range(1, (n // 2).bit_length())]
    found = []
    for first in powers:
        for factor in powers if 2 * first * first >= min(n, LEAST_OF_ROWS**2) else []:
            sizes = [first * factor**place for place in range(MOST_BETWEEN) if first * factor**place <= n // 2]
            found += [_layers(n, cells, sizes[:count]) for count in range(1, len(sizes) + 1)]
    return found


def _layers(n: int, cells: Fraction, sizes: list[int]) -> RegularLayers:
    """Blocks share what the cells and the total leave; without blocks the cells have it all."""
    if not sizes:
        return ((1, 1 - TOTAL), (n, TOTAL))
    between = (1 - cells - TOTAL) / len(sizes)
    return ((1, cells), *((size, between) for size in sizes), (n, TOTAL))


def range_variance(n: int, layers: RegularLayers, power: int) -> float:
    """Of the sum over a random range of n cells, all layers fused, in units of that of one cell with all shares.

    The last layer is the sum of all cells. Given the sum of a block, those of its f parts have the variance v that the
    finer layers leave them, less what their sum knows: a range that covers the shares c of them adds
    v·(Σc² − (Σc)²/f). That is nothing but where it ends: v·(f − 1)/6 in the mean, for each of two ends. Of the whole
    row, in which both ends lie, v·(f/6 − 1/3); and its sum counts by the mean square of the range's length, 1/6.
    """
    variance, fused = 0.0, float(layers[0][1]) ** -power
    for (finer, _), (size, share) in pairwise(layers):
        parts = size / finer
        if size >= n:
            variance += fused * ((n + 2) * (n - 1) / (6.0 * n) if finer == 1 else parts / 6.0 - 1.0 / 3.0)
        else:
            # A cell is covered or not, which is a little more than the mean over shares of it.
            variance += fused * (parts - 1.0 / parts if finer == 1 else parts - 1.0) / 3.0
        fused = 1.0 / (float(share) ** power + 1.0 / (parts * fused))
    return variance + fused / 6.0
