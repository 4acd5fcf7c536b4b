"""Where are the cells flat? A private binary tree: a group is halved while it seems to deviate from its median.

The idea is PrivTree's (Zhang, Xiao, Xie 2016), whose noise does not grow with the depth of the tree, applied to the
deviation instead of the count, with coins that ask for less of it (`halving.py`). Guarantee and proof:
`private_tree.md`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.deviation import node_deviations

Coins = Callable[[Integers], npt.NDArray[np.bool_]]
"""For every score a coin of its own: whether the group is halved (`halving.halved`)."""


def flat_groups(row: Integers, decay: int, coins: Coins, least: int = 1) -> Integers:
    """The first cells of the tree's leaves: groups of cells in a row. Groups of at most `least` cells are not halved.

    A node of depth d is halved with the chance that the score max(deviation − d·decay, 0) has. The coins of a depth are
    tossed together.
    """
    n = len(row)
    size = 1 << max(n - 1, 0).bit_length()
    nodes = np.zeros(1, np.int64)
    leaves: list[Integers] = []
    depth = 0
    while size > least:
        nodes = nodes[nodes * size < n]
        halved = coins(np.maximum(node_deviations(row, nodes, size) - depth * decay, 0))
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
    sizes = np.diff(starts, append=n)
    parts = np.where(sizes <= most, sizes, 1)
    before = np.cumsum(parts) - parts
    return np.repeat(starts - before, parts) + np.arange(int(parts.sum()))
