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

Coins = Callable[[Integers], npt.NDArray[np.bool_]]
"""For every score a coin of its own: whether the group is halved, of the chance that `halving.py` has."""


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
