"""Which groups of a private tree Adaptive takes apart, because a pile may hide in them: functions of noisy outputs.

To single a cell out, a tree has to halve a dozen times, and every halving asks for more. A pile that is too low for the
last few is left in a small group, and would be spread over it. Its sum gives it away: it is far above the noise that
the group's cells have together, and no more than a single cell could have without being found.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.mechanisms.partition.cut_leaves import taken_apart

SMALL = 32
"""Cells of a group that is taken apart, at most."""

FEW = 1.5
"""Groups that a tree has for each halving from all cells to one, at most, if it is all about one pile or two."""

SEEN = 3.5
"""Sum of a group that hides a pile, in deviations of the noise that its cells have together: at least."""

UNFOUND = 2.5
"""The same, in what the tree asks for at the group's depth: at most. More would have been halved, were it one pile."""

MOST_PILES = 2
"""If there are more groups like that, they are no piles."""


def may_hide_piles(starts: Integers, n: int) -> bool:
    """Whether the tree came down to a small group, and to no cell, with few other groups beside."""
    sizes = np.diff(starts, append=n)[_uncut(starts, n)]
    return bool(len(sizes) and 1 < sizes.min() <= SMALL and len(starts) <= FEW * (n - 1).bit_length())


def _uncut(starts: Integers, n: int) -> npt.NDArray[np.bool_]:
    """Which groups are as small as the tree made them: others may be so because the row ends there."""
    return np.asarray(starts < n - n % SMALL)


def piles_taken_apart(starts: Integers, n: int, sums: Floats, deviation: float, decay: int) -> Integers:
    """The first cells of the groups, but those that seem to hide a pile taken apart into cells.

    Given about what their `sums` are. `deviation`: of the noise that cells will have; `decay`: of the tree.
    """
    sizes = np.diff(starts, append=n)
    halvings = (n - 1).bit_length() - np.log2(sizes)
    seen = (sizes <= SMALL) & _uncut(starts, n) & (sums >= SEEN * deviation * np.sqrt(sizes))
    hides = seen & (sums <= UNFOUND * decay * (1.0 + halvings))
    return taken_apart(starts, n, hides) if hides.sum() <= MOST_PILES else starts
