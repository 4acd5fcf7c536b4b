"""Which groups that a private tree chose Adaptive measures together besides one by one: a function of the tree alone.

Sums over long ranges add up the noise of every group in them; bundles of groups keep that low, at the cost of a share
of the budget. What that is worth depends on how wide the groups are: where a crowd of small ones stands in one place,
few ranges end in it, and nearly all hold the crowd whole or not at all. So its bundles are large, and cost little.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from sparsedp.arrays import Floats, Integers

FEW_GROUPS = 24
"""Up to so many chosen groups are measured one by one; more, also every few together if that helps."""

TOGETHER = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)
"""How many may be."""

ALONE = tuple(Fraction(twentieths, 20) for twentieths in range(8, 20))
"""What single groups may have of the share of all."""


def bundles(starts: Integers, n: int, power: int, *, for_cells: bool) -> tuple[int, Fraction]:
    """How many groups to measure together besides one by one, and the share of the single ones; 0 for none.

    `starts`: the groups' first cells, of n in a row. `power`: as in `adaptive_layers.py`. Of some sizes and shares,
    those of the least variance of the noise in the sum over a random range of cells; `for_cells`, of the least product
    of that and of the variance of a group's own noise, which its cells share.
    """
    none = (0, Fraction(1))
    if len(starts) <= FEW_GROUPS:
        return none
    of_groups = float(covered(starts, n, 1).sum())
    sizes = [size for size in TOGETHER if size < len(starts)]
    of_bundles = {size: (covered(starts, n, size), groups_of_bundles(len(starts), size)) for size in sizes}

    def cost(layers: tuple[int, Fraction]) -> float:
        size, alone = layers
        single = float(alone) ** -power
        variance = single * of_groups
        if size:
            # Given the sum of a bundle, those of its groups vary by single·(I − single·11ᵀ/(groups·single + bundle)).
            bundle = float(1 - alone) ** -power
            squares, groups = of_bundles[size]
            variance -= single**2 * float((squares / (groups * single + bundle)).sum())
        return variance * single if for_cells else variance

    return min([none, *product(sizes, ALONE)], key=cost)


def groups_of_bundles(groups: int, size: int) -> Integers:
    """How many are in each bundle: `size`, but for the last."""
    return np.diff(np.arange(0, groups, size), append=groups)


def covered(starts: Integers, n: int, size: int) -> Floats:
    """Of every `size` groups in a row: the mean square of how many of them a random range of the n cells covers.

    A part of a group counts as that part. How many groups of a bundle lie before a place rises from 0 to all of them
    along the bundle, evenly over each group; a range covers the difference between two places drawn at random, and the
    mean square of that is twice the variance at one.
    """
    widths = np.diff(starts, append=n) / n
    first = np.arange(0, len(starts), size)
    groups = groups_of_bundles(len(starts), size)
    before = np.arange(len(starts)) - np.repeat(first, groups)
    beyond = 1.0 - starts[first] / n - np.add.reduceat(widths, first)
    mean = np.add.reduceat(widths * (before + 0.5), first) + beyond * groups
    square = np.add.reduceat(widths * (before**2 + before + 1.0 / 3.0), first) + beyond * groups**2
    found: Floats = 2.0 * (square - mean**2)
    return found
