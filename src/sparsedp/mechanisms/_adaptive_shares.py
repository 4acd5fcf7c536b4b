"""How Adaptive divides its budget: public functions of the workload and of the table's shape.

The constants were chosen by trials on synthetic shapes and on histograms of public data sets; the optimum is flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import pow, prod

# How Adaptive divides its budget: public functions of the workload and of the table's shape.
#
# The constants were chosen by trials on synthetic shapes and on histograms of public data sets; the optimum is flat.

LEAST_BLOCK = 64
"""Cells of the smallest blocks of a table."""

SMALL_TABLE, SMALL_BLOCK = 2048, 16
"""The grid of a table with fewer cells has smaller blocks."""

LEAST_CELLS = 4 * LEAST_BLOCK
"""Smaller rows and tables are measured in regular layers, whatever their cells are."""

FEW_RECORDS, DETECTED_ALONE = 300.0, 40.0
"""In deviations of the noise on a cell, whatever their number: with fewer records in all, sums show more of single
cells than cells do, unless so many of them are seen one by one (`_private_tests.py`)."""

TEST_DETECTED = 2.0
"""Of a test's own noise (if it is Laplace; more, if it is Gaussian): less is not taken for a detection."""


@dataclass(frozen=True)
class Shares:
    """For one workload. In rows, `test`: for one number, by how much cells stand out.

    `few`, `growth`: cells stand out in few places if it is by less than `few`·n^`growth` deviations of the noise on a
    cell, all together. Over ranges the noise of n cells adds up, so for "ranges" it is in proportion to n; more is seen
    of single cells from a few dozen deviations on, whatever n is; and "any" is half way between, by √n. If cells stand
    out in more places they are measured, those of dense blocks (`_adaptive_grid.py`), beside layers of blocks.
    If in few, groups of cells that seem flat are measured, found with the share `tree`. Groups of at most
    `singled` cells are measured cell by cell: something stands out there, and to find which cell it is would cost more.

    In tables, `grid`: how many cells the smallest blocks of a grid have that follows the counts
    (`_adaptive_grid.py`); 0 for none.

    `few_records`: for cells and a total alone, the shares of a test, and of the groups or the grid that are measured in
    place of the cells if the total is below `FEW_RECORDS` and few are detected in single cells; None for cells always.

    `cells`: of what is left, for the cells, or for the parts of the grid; 0 for what is best for both cells and
    ranges, with blocks that are so too.
    `blocks`: how many cells the smallest blocks have; 0 for no blocks, None for blocks that are best for ranges.
    """

    test: Fraction
    few: float
    tree: Fraction
    singled: int
    cells: Fraction
    blocks: int | None
    growth: float = 1.0
    grid: int = 0
    few_records: Shares | None = None

    @property
    def for_both(self) -> bool:
        """Whether layers are those that are best for cells and ranges at once."""
        return not self.cells

    def stands_out_from(self, n: int) -> float:
        """By how much the cells of a row have to stand out, all together, for cells to be measured."""
        return max(TEST_DETECTED / float(self.test), self.few * pow(n, self.growth))


def _hundredths(number: int) -> Fraction:
    return Fraction(number, 100)


NONE = Fraction(0)
TEST, TEST_OF_FEW_RECORDS = _hundredths(2), _hundredths(5)
"""Of rows, and of few records: there less has to be detected."""

ROWS: dict[str, Shares] = {
    "cells": Shares(NONE, 0.0, NONE, 1, _hundredths(98), 0),
    "any": Shares(TEST, 4.0, _hundredths(28), 4, NONE, None, growth=0.5),
    "ranges": Shares(TEST, 0.15, _hundredths(25), 1, _hundredths(50), None),
}
"""By workload, for cells along one ordered axis."""

UNORDERED = replace(ROWS["cells"], cells=_hundredths(95))
"""For "any" and "ranges" where no axis is ordered: cells, and a total that is worth more than to "cells"."""

_TABLE = Shares(
    test=NONE,
    few=0.0,
    tree=NONE,
    singled=1,
    cells=_hundredths(78),
    blocks=LEAST_BLOCK,
    grid=LEAST_BLOCK,
)

TABLES: dict[str, Shares] = {
    "cells": ROWS["cells"],
    "any": _TABLE,
    "ranges": replace(_TABLE, cells=_hundredths(74)),
}
"""For several: the edge of a box cuts so many groups that most has to be spent on cells, or small parts."""


def shares_for(workload: str, shape: Sequence[int], ordered: Sequence[bool]) -> Shares:
    """How the budget is divided over a table: a public fact.

    Groups of cells that differ on an unordered axis would smooth over it, so there no groups are looked for; and where
    nothing is ordered there are no ranges, only cells.
    """
    smooth = sum(is_ordered and side > 1 for side, is_ordered in zip(shape, ordered, strict=True))
    apart = any(not is_ordered and side > 1 for side, is_ordered in zip(shape, ordered, strict=True))
    if smooth == 0:
        return ROWS["cells"] if workload == "cells" else UNORDERED
    all_shares = ROWS if smooth == 1 else TABLES
    if apart or prod(shape) < LEAST_CELLS:
        return in_regular_layers(all_shares[workload])
    shares, for_ranges = (
        replace(each, grid=SMALL_BLOCK) if each.grid and prod(shape) < SMALL_TABLE else each
        for each in (all_shares[workload], all_shares["ranges"])
    )
    return replace(shares, few_records=replace(for_ranges, test=TEST_OF_FEW_RECORDS)) if workload == "cells" else shares


def in_regular_layers(shares: Shares) -> Shares:
    """The same, measured in regular layers whatever the cells are."""
    return replace(shares, test=NONE, tree=NONE, grid=0, few_records=None)


# Which sums of blocks Adaptive measures, and with which shares: layers that make the sum over a random range least
# uncertain, or that and a cell both.
#
# Linear theory alone: what fusing the layers leaves of the noise (`estimation/least_squares.py`), before anything is
# shrunk. `power`: the variance of the noise of a share falls with this power of it: 2 for Laplace noise, 1 for
# Gaussian.

LAPLACE, GAUSSIAN = 2, 1

TOTAL, LEAST_TOTAL = Fraction(1, 20), Fraction(1, 50)
"""For the sum of all cells, of what is measured in regular layers; and where single cells count, without blocks."""

CELLS = tuple(Fraction(percent, 100) for percent in range(60, 95, 5))
"""For the cells, where they count as much as ranges do: the best of these."""

SMALL_ROW = 16
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
    if n < SMALL_ROW:
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
    where cells stand out, the sums of blocks tell which are dense.
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
