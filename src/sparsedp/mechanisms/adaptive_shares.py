"""How Adaptive divides its budget: public functions of the workload and of the table's shape.

The constants were chosen by trials on synthetic shapes and on histograms of public data sets; the optimum is flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import pow, prod

LEAST_BLOCK = 64
"""Cells of the smallest blocks of a table."""

SMALL_TABLE, SMALL_BLOCK = 2048, 16
"""The grid of a table with fewer cells has smaller blocks."""

LEAST_CELLS = 4 * LEAST_BLOCK
"""Smaller rows and tables are measured in regular layers, whatever their cells are."""

FAINT, SEEN_ALONE = 300.0, 40.0
"""In deviations of the noise on a cell, whatever their number: with fewer records in all, sums show more of single
cells than cells do, unless so many of them are seen one by one (`partition/seen_alone.py`)."""

DEVIATIONS = 2.0
"""Of a look's own noise (if it is Laplace; more, if it is Gaussian): less is not taken for something seen."""


@dataclass(frozen=True)
class Shares:
    """For one workload. In rows, `look`: for the number that is looked at: by how much cells stand out.

    `few`, `growth`: cells stand out in few places if it is by less than `few`·n^`growth` deviations of the noise on a
    cell, all together. Over ranges the noise of n cells adds up, so for "ranges" it is in proportion to n; more is seen
    of single cells from a few dozen deviations on, whatever n is; and "any" is half way between, by √n. If cells stand
    out in more places they are measured, those of busy blocks (`adaptive_grid.py`), beside layers of blocks.
    If in few, groups of cells that seem flat are measured, found with the share `tree`. Groups of at most
    `singled` cells are measured cell by cell: something stands out there, and to find which cell it is would cost more.

    In tables, `grid`: how many cells the smallest blocks of a grid have that follows the counts (`adaptive_grid.py`); 0
    for none.

    `faint`: for cells and a total alone, the shares of a look, and of the groups or the grid that are measured in place
    of the cells if the total is below `FAINT` and few records are seen in single cells; None for cells in any case.

    `cells`: of what is left, for the cells, or for the parts of the grid; 0 for what is best for both cells and
    ranges, with blocks that are so too.
    `blocks`: how many cells the smallest blocks have; 0 for no blocks, None for blocks that are best for ranges.
    `recovery`: of regular layers: "layers" shrinks all cells, "layers_keeping_sums" within the blocks above them only.
    """

    look: Fraction
    few: float
    tree: Fraction
    singled: int
    cells: Fraction
    blocks: int | None
    recovery: str
    growth: float = 1.0
    grid: int = 0
    faint: Shares | None = None

    @property
    def for_both(self) -> bool:
        """Whether layers are those that are best for cells and ranges at once."""
        return not self.cells

    def stands_out_from(self, n: int) -> float:
        """By how much the cells of a row have to stand out, all together, for cells to be measured."""
        return max(DEVIATIONS / float(self.look), self.few * pow(n, self.growth))


def _hundredths(number: int) -> Fraction:
    return Fraction(number, 100)


NONE = Fraction(0)
LOOK, FAINT_LOOK = _hundredths(2), _hundredths(5)
"""Of rows, and of what is faint: there less has to be seen."""

ROWS: dict[str, Shares] = {
    "cells": Shares(NONE, 0.0, NONE, 1, _hundredths(98), 0, "layers"),
    "any": Shares(LOOK, 4.0, _hundredths(28), 4, NONE, None, "layers", growth=0.5),
    "ranges": Shares(LOOK, 0.15, _hundredths(25), 1, _hundredths(50), None, "layers_keeping_sums"),
}
"""By workload, for cells along one ordered axis."""

UNORDERED = replace(ROWS["cells"], cells=_hundredths(95))
"""For "any" and "ranges" where no axis is ordered: cells, and a total that is worth more than to "cells"."""

_TABLE = Shares(
    look=NONE,
    few=0.0,
    tree=NONE,
    singled=1,
    cells=_hundredths(78),
    blocks=LEAST_BLOCK,
    recovery="layers_keeping_sums",
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
    shares, faint = (
        replace(each, grid=SMALL_BLOCK) if each.grid and prod(shape) < SMALL_TABLE else each
        for each in (all_shares[workload], all_shares["ranges"])
    )
    return replace(shares, faint=replace(faint, look=FAINT_LOOK)) if workload == "cells" else shares


def in_regular_layers(shares: Shares) -> Shares:
    """The same, measured in regular layers whatever the cells are."""
    return replace(shares, look=NONE, tree=NONE, grid=0, faint=None)
