"""Tree sensing: the sums over every node of a tree whose leaves are the cells (Hay et al. 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints, Numbers, float_vector
from sparsedp.jit import kernel
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole


class Tree(Sensing):
    """The sums of blocks of 1, b, b², … cells, b = `branching`, up to one block that holds them all.

    Rows are level by level, the root first, left to right within a level: `level_sizes` is the number of rows of each
    level, `level_starts` the index of its first. On the level d steps above the leaves, row i is the sum of the cells
    i·bᵈ … (i + 1)·bᵈ − 1 that exist: the last node of a level may have fewer cells, and nodes with none have no row. So
    the children of node i of a level are the nodes b·i … b·i + b − 1 of the next that exist, and the last
    level is the cells themselves. There are 1 + ⌈log_b n⌉ levels; one cell is a tree of one level.
    """

    name = "tree"

    def __init__(self, n: int, branching: int = 2) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self.branching = whole("branching", branching, least=2, most=2**16)
        sizes = [self.n]
        while sizes[0] > 1:
            sizes.insert(0, -(-sizes[0] // self.branching))
        self.level_sizes = tuple(sizes)
        self.level_starts = tuple(int(start) for start in np.cumsum([0, *sizes[:-1]]))

    @property
    def levels(self) -> int:
        """1 + ⌈log_b n⌉: every cell is in one node of each level."""
        return len(self.level_sizes)

    @property
    def rows(self) -> int:
        """The number of nodes with at least one cell."""
        return sum(self.level_sizes)

    def apply(self, counts: Ints) -> Ints:
        """The sums over all nodes, exact modulo 2⁶⁴."""
        sums = np.empty(self.rows, np.uint64)
        sums[self.level_starts[-1] :] = exact_counts(counts, self.n).view(np.uint64)
        _add_up(sums, np.array(self.level_starts), self.branching)
        return sums.view(np.int64)

    def forward(self, signal: Floats) -> Floats:
        """The sums over all nodes."""
        sums = np.empty(self.rows)
        sums[self.level_starts[-1] :] = float_vector("signal", signal, self.n)
        _add_up(sums, np.array(self.level_starts), self.branching)
        return sums

    def adjoint(self, values: Floats) -> Floats:
        """For each cell, the sum of the values of the nodes that hold it."""
        totals = float_vector("values", values, self.rows).copy()
        _add_down(totals, np.array(self.level_starts), self.branching)
        return totals[self.level_starts[-1] :].copy()

    def materialize(self) -> Ints:
        """One at (node, cell) where the node's block holds the cell."""
        cells = np.arange(self.n)
        blocks = [cells // self.branching**depth for depth in reversed(range(self.levels))]
        levels = [np.arange(size)[:, None] == block for size, block in zip(self.level_sizes, blocks, strict=True)]
        return np.concatenate(levels).astype(np.int64)

    @property
    def max_column_l1(self) -> int:
        """The number of levels: each cell is counted once on each."""
        return self.levels

    @property
    def max_column_l2_squared(self) -> int:
        """The number of levels."""
        return self.levels

    def describe(self) -> dict[str, Any]:
        """Name, cells and branching."""
        return {"name": self.name, "n": self.n, "branching": self.branching}


@kernel
def _add_up(sums: Numbers, starts: Ints, branching: int) -> None:
    for level in range(len(starts) - 2, -1, -1):
        children = sums[starts[level + 1] : len(sums) if level + 2 == len(starts) else starts[level + 2]]
        nodes = sums[starts[level] : starts[level + 1]]
        for node in range(len(nodes)):
            first = node * branching
            total = children[first]
            for child in range(first + 1, min(first + branching, len(children))):
                total += children[child]
            nodes[node] = total


@kernel
def _add_down(totals: Floats, starts: Ints, branching: int) -> None:
    for level in range(len(starts) - 1):
        children = totals[starts[level + 1] : len(totals) if level + 2 == len(starts) else starts[level + 2]]
        nodes = totals[starts[level] : starts[level + 1]]
        for node in range(len(nodes)):
            first = node * branching
            for child in range(first, min(first + branching, len(children))):
                children[child] += nodes[node]
