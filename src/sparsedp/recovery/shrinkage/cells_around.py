"""The mean of the cells around each cell, without itself: what it would be if it were like its surroundings."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.chunks import Chunks

LINES = 64
"""Neighbouring lines that are summed up together, so that they are read as they lie in memory."""


def mean_around(cells: Floats, reach: int, chunks: Chunks) -> Floats:
    """Of the box that reaches so far each way along every axis but the first, or to its end; cells that differ on the
    first axis are apart. Some other axis has more than one cell.
    """
    sums, many = cells, np.ones([1] * cells.ndim)
    for axis in range(1, cells.ndim):
        side = cells.shape[axis]
        place = np.arange(side)
        shape = [1] * cells.ndim
        shape[axis] = side
        many = many * (np.minimum(place + reach, side - 1) - np.maximum(place - reach, 0) + 1).reshape(shape)
        sums = _sums_along(sums, axis, reach, chunks)
    sums -= cells
    sums /= many - 1.0
    return sums


def _sums_along(cells: Floats, axis: int, reach: int, chunks: Chunks) -> Floats:
    """Over the cells that are no further off along an axis than that."""
    if axis == cells.ndim - 1:
        return _sums_along_the_last(cells, reach)
    seen = np.ascontiguousarray(cells).reshape(-1, cells.shape[axis], prod(cells.shape[axis + 1 :]))
    out = np.empty_like(seen)
    chunks.run(partial(_slide, seen, reach, out), cells.size)
    return out.reshape(cells.shape)


def _sums_along_the_last(cells: Floats, reach: int) -> Floats:
    side = cells.shape[-1]
    running, out = np.zeros((*cells.shape[:-1], side + 1)), np.empty(cells.shape)
    np.cumsum(cells, axis=-1, out=running[..., 1:])
    within = max(side - reach, 0)
    out[..., :within] = running[..., reach + 1 :]
    out[..., within:] = running[..., -1:]
    out[..., side - within :] -= running[..., :within]
    return out


@kernel
def _slide(cells: Floats, reach: int, out: Floats, start: int, stop: int) -> None:
    """Lines (one for each place before and after the axis) are worked on whose first cell has its number, line after
    line, from start ≤ … < stop on: `LINES` of them at once.
    """
    _, side, after = cells.shape
    first, last = (start + side - 1) // side, (stop + side - 1) // side
    sums = np.empty(LINES)
    line = first
    while line < last:
        outer, inner = line // after, line % after
        count = min(LINES, after - inner, last - line)
        sums[:count] = 0.0
        for place in range(min(reach, side)):
            for i in range(count):
                sums[i] += cells[outer, place, inner + i]
        for place in range(side):
            if place + reach < side:
                for i in range(count):
                    sums[i] += cells[outer, place + reach, inner + i]
            if place > reach:
                for i in range(count):
                    sums[i] -= cells[outer, place - reach - 1, inner + i]
            for i in range(count):
                out[outer, place, inner + i] = sums[i]
        line += count
