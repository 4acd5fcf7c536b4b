"""What is cut further of the groups that a private tree chose: functions of these alone, so post-processing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.sensing.parts_of_blocks import cut_to_the_first

TOWARDS_AN_END = 3
"""Halvings towards the first or the last cell after which something is taken to be there. Even cells are halved so far
once in about 64 times, a quarter of them at each (`halving.py`)."""


def singled(starts: Integers, n: int, most: int) -> Integers:
    """The same groups of n cells, but those of at most `most` cells taken apart into cells: post-processing."""
    return taken_apart(starts, n, np.diff(starts, append=n) <= most)


def down_to_the_ends(starts: Integers, n: int) -> Integers:
    """The same groups of n cells, but the first of them cut by halves, and the first half again, down to the first
    cell, if the tree itself went some way there; and the last of them down to the last cell: post-processing.
    """
    root = 1 << max(n - 1, 0).bit_length()
    most = root >> TOWARDS_AN_END
    last = int(starts[-1])
    if n - last <= most and last & -last <= most:  # by halves, not because the row ends there
        towards = [(n - 1) >> level << level for level in range((n - last - 1).bit_length())]
        starts = np.concatenate([starts, np.unique(np.array(towards, np.int64))])
    first = int(starts[1]) if len(starts) > 1 else root
    return starts if first > most else cut_to_the_first(starts)


def taken_apart(starts: Integers, n: int, which: npt.NDArray[np.bool_]) -> Integers:
    """The same groups of n cells, but some of them taken apart into cells."""
    parts = np.where(which, np.diff(starts, append=n), 1)
    before = np.cumsum(parts) - parts
    return np.repeat(starts - before, parts) + np.arange(int(parts.sum()))
