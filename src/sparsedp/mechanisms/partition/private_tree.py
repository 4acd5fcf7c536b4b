"""Where are the cells flat? A private binary tree: a group is halved while it seems to be uneven.

The idea is PrivTree's (Zhang, Xiao, Xie 2016), whose noise does not grow with the depth of the tree, applied to how
uneven a group is (`unevenness.py`) instead of to its count, with coins that ask for less (`halving.py`). Guarantee and
proof: `private_tree.md`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.unevenness import Unevenness

TOWARDS_THE_FIRST = 3
"""Halvings towards the first cell, after which something seems to be there: cells that are even have one in 64 times
as many."""

Coins = Callable[[Integers], npt.NDArray[np.bool_]]
"""For every score a coin of its own: whether the group is halved (`halving.halved`)."""


def flat_groups(row: Integers, slack: int, decay: int, coins: Coins, least: int = 1) -> Integers:
    """The first cells of the tree's leaves: groups of cells in a row. Groups of at most `least` cells are not halved.

    A node of depth d is halved with the chance that the score max(unevenness − d·decay, 0) has. The coins of a depth
    are tossed together. `slack`: by which cells may be apart unseen.
    """
    n = len(row)
    unevenness = Unevenness(row, slack)
    size = 1 << max(n - 1, 0).bit_length()
    nodes = np.zeros(1, np.int64)
    leaves: list[Integers] = []
    depth = 0
    while size > least:
        nodes = nodes[nodes * size < n]
        halved = coins(np.maximum(unevenness.of(nodes, size) - depth * decay, 0))
        leaves.append(nodes[~halved] * size)
        nodes = np.concatenate([2 * nodes[halved], 2 * nodes[halved] + 1])
        size //= 2
        depth += 1
        if len(nodes) == 0:
            break
    nodes = nodes[nodes * size < n]
    leaves.append(nodes * size)
    return np.sort(np.concatenate(leaves))


def singled(starts: Integers, n: int, most: int) -> Integers:
    """The same groups of n cells, but those of at most `most` cells taken apart into cells: post-processing."""
    return taken_apart(starts, n, np.diff(starts, append=n) <= most)


def down_to_the_first(starts: Integers, n: int) -> Integers:
    """The same groups of n cells, but the first of them cut by halves, and the first half again, down to the first
    cell, if the tree itself went some way there: post-processing.
    """
    root = 1 << max(n - 1, 0).bit_length()
    end = int(starts[1]) if len(starts) > 1 else root
    if end > root >> TOWARDS_THE_FIRST:
        return starts
    halves: Integers = 1 << np.arange(end.bit_length() - 1, dtype=np.int64)
    return np.concatenate([starts[:1], halves, starts[1:]])


def taken_apart(starts: Integers, n: int, which: npt.NDArray[np.bool_]) -> Integers:
    """The same groups of n cells, but some of them taken apart into cells."""
    parts = np.where(which, np.diff(starts, append=n), 1)
    before = np.cumsum(parts) - parts
    return np.repeat(starts - before, parts) + np.arange(int(parts.sum()))
