"""How Adaptive divides its budget: public functions of the workload and of the table's shape.

The constants were chosen by trials on synthetic shapes; the optimum is flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from sparsedp.mechanisms.partition.unevenness import BLOCK

LEAST_CELLS = 256
"""Smaller tables are measured in regular layers without a look."""

LEAST_SEEN = 100.0
"""In deviations of the noise on a cell: two deviations of a look's own noise if it is Laplace (14 if Gaussian)."""

PLENTY_BLOCK = 64
"""Cells of the blocks whose mean sum says whether there are plenty of records."""


@dataclass(frozen=True)
class Shares:
    """For one workload. `look`: for each number that is looked at; first, in how many places cells stand out.

    `few`: cells stand out in few places if it is by less than this in the mean over blocks of 16 cells, in deviations
    of the noise on a cell. Then groups of cells that seem flat are measured, found with the share `tree`. Groups of at
    most `singled` cells are measured cell by cell: something stands out there, and to find which cell it is would cost
    more. Else regular layers are measured.

    `plenty`: where cells stand out in few places, a second look sees whether the sums of blocks of 64 cells are this or
    more in the mean, in the same deviations. If so, regular layers are measured even there, with the share `calm`
    instead of `cells`. 0: it is not looked at.

    `cells`: of what is left, for the cells, if there are blocks beside them.
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
    plenty: float = 0.0
    calm: Fraction = Fraction(0)

    def stands_out_from(self, n: int) -> float:
        """By how much the cells of a row have to stand out, all together, for regular layers to be measured."""
        return max(LEAST_SEEN, self.few * n / BLOCK)

    def when_calm(self) -> Shares:
        """For regular layers of cells that do not stand out."""
        return replace(self, cells=self.calm)

    def are_plenty_from(self, n: int) -> float:
        """How many records a row of n cells has to have, in the same deviations, for regular layers to be measured."""
        return max(LEAST_SEEN, self.plenty * n / PLENTY_BLOCK)


def _hundredths(number: int) -> Fraction:
    return Fraction(number, 100)


NONE = Fraction(0)
LOOK = _hundredths(2)

ROWS: dict[str, Shares] = {
    "cells": Shares(NONE, 0.0, NONE, 1, _hundredths(95), 0, "layers"),
    "any": Shares(LOOK, 1.2, _hundredths(28), 4, _hundredths(60), None, "layers"),
    "ranges": Shares(LOOK, 2.4, _hundredths(25), 1, _hundredths(50), None, "layers_keeping_sums"),
}
"""By workload, for cells along one ordered axis."""

_TABLE = replace(ROWS["any"], blocks=64, recovery="layers_keeping_sums", plenty=4.0, calm=_hundredths(50))

TABLES: dict[str, Shares] = {
    "cells": ROWS["cells"],
    "any": replace(_TABLE, cells=_hundredths(75)),
    "ranges": replace(_TABLE, cells=_hundredths(65), tree=ROWS["ranges"].tree, singled=1),
}
"""For several: the edge of a box cuts so many groups that most has to be spent on cells; and regular layers, which are
shrunk in boxes at any place, are better than chosen groups as soon as there is something to see in small blocks."""


def shares_for(workload: str, shape: Sequence[int], ordered: Sequence[bool]) -> Shares:
    """How the budget is divided over a table: a public fact.

    Groups of cells that differ on an unordered axis would smooth over it, so there no groups are looked for; and where
    nothing is ordered there are no ranges, only cells.
    """
    smooth = sum(is_ordered and side > 1 for side, is_ordered in zip(shape, ordered, strict=True))
    apart = any(not is_ordered and side > 1 for side, is_ordered in zip(shape, ordered, strict=True))
    if smooth == 0:
        return ROWS["cells"]
    shares = (ROWS if smooth == 1 else TABLES)[workload]
    return without_a_look(shares) if apart or prod(shape) < LEAST_CELLS else shares


def without_a_look(shares: Shares) -> Shares:
    """Regular layers, whatever the cells are."""
    return replace(shares, look=NONE, tree=NONE)
