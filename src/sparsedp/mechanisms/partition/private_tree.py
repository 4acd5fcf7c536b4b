"""Where are the cells flat? A private binary tree: a group is halved while it seems to deviate from its median.

The rule is PrivTree's (Zhang, Xiao, Xie 2016), whose noise does not grow with the depth of the tree, applied to the
deviation instead of the count, and with integers and discrete noise. Guarantee and proof: `private_tree.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.deviation import node_deviations

COST = Fraction(2607, 1000)
"""Of a change by 1, in units of 1/scale: proven in `private_tree.md` for halving and a decay of scale·ln 2."""


def tree_scale(distance: int, epsilon: Fraction) -> Fraction:
    """The noise scale λ that makes the tree ε-private for neighbours at that distance: 2.607·distance/ε."""
    return COST * distance / epsilon


def decay_of(scale: Fraction) -> int:
    """What is taken off the deviation at each further depth: at least λ·ln 2, whole, and at least 1."""
    return max(1, ceil(float(scale) * log(2) * (1 + 1e-9)))


def flat_groups(row: Integers, scale: Fraction, add_noise: Callable[[Integers], None], least: int = 1) -> Integers:
    """The first cells of the tree's leaves: groups of cells in a row. Groups of at most `least` cells are not halved.

    `add_noise` adds independent discrete Laplace noise of `scale` to every value. It is called once a depth.
    A node of depth d is halved if max(deviation − d·decay, −decay) plus noise exceeds 0.
    """
    n = len(row)
    decay = decay_of(scale)
    size = 1 << max(n - 1, 0).bit_length()
    nodes = np.zeros(1, np.int64)
    leaves: list[Integers] = []
    depth = 0
    while size > least:
        nodes = nodes[nodes * size < n]
        scores = np.maximum(node_deviations(row, nodes, size) - depth * decay, -decay)
        add_noise(scores)
        halved = scores > 0
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
