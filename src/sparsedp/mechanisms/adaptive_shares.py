"""How Adaptive divides its budget: public constants, chosen by trials on synthetic shapes and the paper's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

LADDER_STEP = 16
"""Blocks of the regular layers grow by this factor: a tree of that fan-out is near the best for ranges."""

FEW_GROUPS = 24
"""Chosen groups beyond this many are measured in two layers: the groups, and every few of them together."""

LEAST_CELLS = 256
"""Smaller tables are measured in regular layers without a look; those smaller than a block, by their cells alone."""


@dataclass(frozen=True)
class Calm:
    """What is done where few cells stand out: only groups are measured, and more is spent on finding them.

    `look`: costs so much, and is taken if less than `rough_below` of the blocks are rough.
    `below`: cells are few that stand out by less than this, all together, in deviations of the noise on one cell.
    `tree`: for finding the groups. Groups of at most `singled` cells are measured cell by cell: something stands out
    there, and to find which cell it is would cost the tree more than measuring all of them.
    """

    look: Fraction
    rough_below: float
    below: float
    tree: Fraction
    singled: int


@dataclass(frozen=True)
class Shares:
    """For one workload. A look, if there is one, costs `probe` and, if the cells are not rough everywhere, `tree`.

    `cells`, `total`: of what the looks leave, where regular layers are measured; the blocks between share the rest.
    `group_cells`: of what the looks leave, for single cells beside chosen groups; the groups have the rest.
    `rough_from`: the share of rough blocks from which on regular layers are measured.
    `least_group`: no chosen group is smaller.
    `calm`: what is done instead where few cells stand out, if anything.
    `recovery`: of regular layers: "layers" shrinks all cells, "layers_keeping_sums" within the blocks above them only,
    "fused_layers" not at all.
    """

    probe: Fraction
    tree: Fraction
    cells: Fraction
    total: Fraction
    group_cells: Fraction
    rough_from: float
    least_group: int
    recovery: str
    calm: Calm | None = None

    @property
    def looks(self) -> bool:
        """Whether anything is spent on looking."""
        return self.probe > 0


def _hundredths(number: int) -> Fraction:
    return Fraction(number, 100)


CALM = Calm(_hundredths(2), 0.5, 100.0, _hundredths(30), 4)

ROWS: dict[str, Shares] = {
    "cells": Shares(Fraction(0), Fraction(0), _hundredths(95), _hundredths(5), Fraction(0), 0.0, 1, "layers"),
    "any": Shares(
        _hundredths(1), _hundredths(12), _hundredths(60), _hundredths(10), _hundredths(55), 0.15, 16, "layers", CALM
    ),
    "ranges": Shares(
        _hundredths(2), _hundredths(25), _hundredths(20), _hundredths(20), Fraction(0), 0.25, 1, "layers_keeping_sums"
    ),
}
"""By workload, for cells along one ordered axis."""

TABLES: dict[str, Shares] = {
    "cells": ROWS["cells"],
    "any": replace(
        ROWS["any"], cells=_hundredths(75), total=_hundredths(5), rough_from=0.1, recovery="layers_keeping_sums"
    ),
    "ranges": replace(
        ROWS["ranges"], cells=_hundredths(70), total=_hundredths(5), rough_from=0.1, recovery="fused_layers"
    ),
}
"""For several: the edge of a box cuts so many groups that most has to be spent on cells."""


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
    if apart or prod(shape) < LEAST_CELLS:
        return replace(shares, probe=Fraction(0), tree=Fraction(0), calm=None)
    return shares


def regular_layers(n: int, shares: Shares) -> list[tuple[int, Fraction]]:
    """Sizes of blocks and their shares of what is left, finest first: cells, blocks of 16, 256, …, and all of them."""
    if n < LADDER_STEP:
        return [(1, Fraction(1))]
    middle = []
    size = LADDER_STEP
    # Where most is spent on cells, the blocks between have too little to be divided often.
    step = LADDER_STEP if shares.cells < Fraction(2, 3) else LADDER_STEP**2
    while shares.cells + shares.total < 1 and size * 4 <= n:
        middle.append(size)
        size *= step
    between = 1 - shares.cells - shares.total
    if not middle:
        return [(1, shares.cells + between), (n, shares.total)]
    return [(1, shares.cells), *((size, between / len(middle)) for size in middle), (n, shares.total)]


def group_layers(groups: int) -> tuple[int, Fraction]:
    """How many chosen groups to measure together besides one by one, and the share of the single ones; 0 for none.

    It minimises the variance of the sum over a random range of groups: whole bundles, and parts of two.
    """
    best, size, single = groups / 3, 0, Fraction(1)
    if groups <= FEW_GROUPS:
        return size, single
    for together in (4, 6, 8, 12, 16, 24, 32):
        for tenths in range(3, 8):
            alone, bundle = 1 / (tenths / 10) ** 2, 1 / (1 - tenths / 10) ** 2
            whole = 1 / (1 / bundle + 1 / (together * alone))
            slack = alone * (1 - whole / (together * alone)) / together
            part = sum(count * alone - count**2 * slack for count in range(together)) / together
            variance = groups / together / 3 * whole + 2 * part
            if variance < best:
                best, size, single = variance, together, Fraction(tenths, 10)
    return size, single
