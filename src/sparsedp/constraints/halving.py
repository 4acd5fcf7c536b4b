"""Nested halves of a table: sums of neighbouring cells, one axis after the other (the order of a k-d tree)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sparsedp.arrays import Floats, Numbers
from sparsedp.jit import kernel


class Halving:
    """How the cells of a table are paired up, level by level, until one sum is left for each cell of `kept` axes.

    Every level pairs neighbours along one axis, the axes taking turns from the last to the first; the last of an odd
    number of neighbours stays alone. In one dimension the nodes are the aligned dyadic ranges.
    `views[j]` is level j (0: the cells) as (before, along the axis that is halved next, after).
    """

    def __init__(self, shape: Sequence[int], kept: Sequence[int] = ()) -> None:
        sizes = list(shape)
        self.shape = tuple(shape)
        self.views: list[tuple[int, int, int]] = []
        halved = [axis for axis in reversed(range(len(sizes))) if axis not in kept]
        while any(sizes[axis] > 1 for axis in halved):
            for axis in halved:
                if sizes[axis] > 1:
                    self.views.append((prod(sizes[:axis]), sizes[axis], prod(sizes[axis + 1 :])))
                    sizes[axis] = (sizes[axis] + 1) // 2
        self.roots = tuple(sizes)

    def sums(self, cells: Floats) -> list[Floats]:
        """Level by level, the cells first and the roots last, each flat; the cells are not copied."""
        levels = [np.ravel(cells)]
        for view in self.views:
            levels.append(_pair_sums(levels[-1].reshape(view)).ravel())
        return levels


@kernel
def _pair_sums(children: Numbers) -> Numbers:
    before, along, after = children.shape
    half = (along + 1) // 2
    parents = np.empty((before, half, after), children.dtype)
    for b in range(before):
        for i in range(along // 2):
            for c in range(after):
                parents[b, i, c] = children[b, 2 * i, c] + children[b, 2 * i + 1, c]
        if along % 2:
            parents[b, half - 1] = children[b, along - 1]
    return parents
