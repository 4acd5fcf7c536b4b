"""Tables laid in a row for mechanisms that take rows alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from sparsedp.arrays import Floats, Ints


def along_the_curve(counts: Ints, publish: Callable[[Ints], Floats]) -> Floats:
    """What `publish` makes of the cells in a row, in the counts' shape; square tables of a power of two only."""
    if counts.ndim == 1:
        return publish(counts)
    order = hilbert_curve(counts.shape)
    values = np.empty(counts.size)
    values[order] = publish(counts.reshape(-1)[order])
    return values.reshape(counts.shape)


@cache
def hilbert_curve(shape: tuple[int, ...]) -> Ints:
    """The cells of a square table, in the order of the curve; a cell's number is that of its row and column."""
    side = shape[0]
    if shape != (side, side) or side & (side - 1):
        raise ValueError(f"a square table of a power of two is needed, not {shape}")
    cells = np.empty(side * side, np.int64)
    for number in range(side * side):
        x = y = 0
        rest, width = number, 1
        while width < side:
            right, down = 1 & (rest // 2), 1 & (rest ^ (rest // 2))
            if not down:
                if right:
                    x, y = width - 1 - x, width - 1 - y
                x, y = y, x
            x, y = x + width * right, y + width * down
            rest, width = rest // 4, 2 * width
        cells[number] = y * side + x
    return cells
