"""Least-squares consistency of a noisy tree of sums, in O(n) (Hay, Rastogi, Miklau, Suciu 2010, for every n)."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput
from sparsedp.jit import kernel
from sparsedp.laws import NoiseLaw
from sparsedp.recovery.solution import Solution, Status
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.tree import Tree


def tree_consistency(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The cells whose sums are nearest, in least squares, to the noisy sums of every node.

    All nodes carry noise of the same variance, so this is the best linear unbiased estimate. It equals least squares
    on the materialised tree, incomplete nodes included: a node that has fewer children than `branching`, or only
    one, is weighted by the children it has.
    """
    if not isinstance(sensing, Tree):
        raise InvalidInput("recovery", "'tree_consistency'", "it needs tree sensing")
    starts = np.array([*sensing.level_starts, sensing.rows])
    return Solution(_fit(values.astype(np.float64), starts, sensing.branching), Status.DIRECT, {})


@kernel
def _fit(sums: Floats, starts: Integers, branching: int) -> Floats:
    """Two passes over the nodes; `starts` are the levels' first rows, the root's first, and then the end.

    Up: `best` is the best estimate of a node's sum from its subtree, `variance` that of its error (noise = 1). The
    children's total, of variance C, and the node's own measurement combine to variance C/(C + 1).
    Down: what the node's final value adds to its children's total is shared in proportion to their variances.
    """
    levels = len(starts) - 1
    best = sums.copy()
    variance = np.ones(len(sums))
    total = np.zeros(len(sums))
    spread = np.zeros(len(sums))
    for level in range(levels - 2, -1, -1):
        for node in range(starts[level], starts[level + 1]):
            first = starts[level + 1] + (node - starts[level]) * branching
            for child in range(first, min(first + branching, starts[level + 2])):
                total[node] += best[child]
                spread[node] += variance[child]
            best[node] = (total[node] + spread[node] * sums[node]) / (spread[node] + 1.0)
            variance[node] = spread[node] / (spread[node] + 1.0)
    for level in range(levels - 1):
        for node in range(starts[level], starts[level + 1]):
            first = starts[level + 1] + (node - starts[level]) * branching
            excess = (best[node] - total[node]) / spread[node]
            for child in range(first, min(first + branching, starts[level + 2])):
                best[child] += variance[child] * excess
    return best[starts[levels - 1] :].copy()
