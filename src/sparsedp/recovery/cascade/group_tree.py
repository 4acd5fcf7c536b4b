"""A binary tree over groups of cells in a row, in which every group that was measured is one node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel

NONE = -1


@dataclass(frozen=True)
class GroupTree:
    """Nodes, wholes before their parts: the leaves first … last − 1 of each, and its two parts, NONE for a leaf."""

    starts: Integers
    n: int
    first: Integers
    last: Integers
    left: Integers
    right: Integers

    @classmethod
    def over(cls, starts: Integers, n: int, coarser: list[Integers], *, halves: bool) -> GroupTree:
        """Over the leaves that begin at `starts`; wholes are parted between groups of the coarsest layer they have.

        `halves`: of several such places at the one that halves an aligned run of 2^k cells; else at the one that leaves
        as many leaves on both sides. A tree that looks for what stands out leaves chains of groups, each half as wide
        as the next: that a pile is in one end of it is one event so, and not one on each level.
        """
        depth = np.zeros(len(starts), np.int64)
        for place, layer in enumerate(coarser, start=1):
            depth[np.searchsorted(starts, layer)] = place
        return cls(starts, n, *_parted(starts, depth, halves))

    @cached_property
    def width_of_left(self) -> Floats:
        """The share of each whole's cells that its left part has; ½ for leaves."""
        ends = np.append(self.starts, self.n)
        whole, share = np.flatnonzero(self.left != NONE), np.full(len(self.first), 0.5)
        begin = self.starts[self.first[whole]]
        share[whole] = (ends[self.last[self.left[whole]]] - begin) / (ends[self.last[whole]] - begin)
        return share

    def nodes_of(self, starts: Integers, ends: Integers) -> Integers:
        """The nodes that are the groups of these first cells, and of these first cells beyond them."""
        bounds = np.append(self.starts, self.n)
        keys = self.first * len(bounds) + self.last
        order = np.argsort(keys)
        wanted = np.searchsorted(bounds, starts) * len(bounds) + np.searchsorted(bounds, ends)
        found: Integers = order[np.searchsorted(keys, wanted, sorter=order)]
        return found

    def within(self, layer: Integers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which nodes lie in one group of the layer that begins at these cells."""
        group = np.searchsorted(layer, self.starts, side="right")
        return np.asarray(group[self.first] == group[self.last - 1])


@kernel
def _parted(starts: Integers, depth: Integers, halves: bool) -> tuple[Integers, Integers, Integers, Integers]:
    """`depth`: the coarsest layer of which a group begins where that leaf does."""
    nodes = 2 * len(starts) - 1
    first, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    left, right = np.full(nodes, NONE), np.full(nodes, NONE)
    last[0] = len(starts)
    known = 1
    for node in range(nodes):
        begin, end = first[node], last[node]
        if end - begin == 1:
            continue
        middle, coarsest, best = begin, NONE, np.int64(NONE)
        for leaf in range(begin + 1, end):
            # The lowest bit of a cell's number says how long an aligned run it halves.
            score = starts[leaf] & -starts[leaf] if halves else end - begin - abs(2 * leaf - begin - end)
            if depth[leaf] > coarsest or (depth[leaf] == coarsest and score > best):
                middle, coarsest, best = leaf, depth[leaf], score
        left[node], right[node] = known, known + 1
        first[known], last[known], first[known + 1], last[known + 1] = begin, middle, middle, end
        known += 2
    return first, last, left, right
