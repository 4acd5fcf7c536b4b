"""Means of the cells around every cell, and samples spread evenly over many."""

from __future__ import annotations

from functools import partial
from math import prod, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.shrinkage._chunks import Chunks
from sparsedp.jit import kernel

# Some of very many things, spread evenly over them and yet in no step with anything that repeats among them.

GOLDEN = (sqrt(5.0) - 1.0) / 2.0
"""Its multiples, less their whole parts, fill the unit interval evenly."""


def spread_sample(n: int, most: int) -> Ints:
    """At most so many of the places 0 … n − 1, rising: all, or one out of each of `most` stretches of equal length (of
    short ones, some are the same).

    A stride would meet the same columns of a table in every line, and the same hour of every day.
    """
    if n <= most:
        return np.arange(n)
    stretches = np.arange(most, dtype=np.float64)
    places = ((stretches + stretches * GOLDEN % 1.0) * (n / most)).astype(np.int64)
    return places[np.diff(places, prepend=-1) > 0]


# The mean of the cells around each cell, without itself: what it would be if it were like its neighbourhood.

LINES = 64
"""Neighbouring lines that are summed up together, so that they are read as they lie in memory."""


def mean_around(cells: Floats, reach: int, chunks: Chunks) -> Floats:
    """Of the box that reaches so far each way along every axis but the first, or to its end; cells that differ on the
    first axis are apart. Some other axis has more than one cell.
    """
    sums, many = cells, np.ones([1] * (cells.ndim - 1))
    for axis in range(1, cells.ndim):
        side = cells.shape[axis]
        place = np.arange(side)
        shape = [1] * (cells.ndim - 1)
        shape[axis - 1] = side
        many = many * (np.minimum(place + reach, side - 1) - np.maximum(place - reach, 0) + 1).reshape(shape)
        sums = _sums_along(sums, axis, reach, chunks)
    chunks.run(partial(_without_itself, sums.reshape(-1), cells.reshape(-1), many.reshape(-1)), cells.size)
    return sums


def _sums_along(cells: Floats, axis: int, reach: int, chunks: Chunks) -> Floats:
    """Over the cells that are no further off along an axis than that."""
    out = np.empty(cells.shape)
    if axis == cells.ndim - 1:
        chunks.run(
            partial(_slide_along_the_last, cells.reshape(-1), cells.shape[-1], reach, out.reshape(-1)), cells.size
        )
        return out
    seen = cells.reshape(-1, cells.shape[axis], prod(cells.shape[axis + 1 :]))
    chunks.run(partial(_slide, seen, reach, out.reshape(seen.shape)), cells.size)
    return out


@kernel
def _without_itself(sums: Floats, cells: Floats, many: Floats, start: int, stop: int) -> None:
    """Sums over so many cells, by the place in a table, made means of all but the cell itself, in place."""
    for i in range(start, stop):
        sums[i] = (sums[i] - cells[i]) / (many[i % len(many)] - 1.0)


@kernel
def _slide_along_the_last(cells: Floats, side: int, reach: int, out: Floats, start: int, stop: int) -> None:
    """Lines of `side` cells lie one after the other; a sum is taken anew where a line or the chunk begins."""
    i = start
    while i < stop:
        line = i - i % side
        end = min(line + side, stop)
        total = 0.0
        for near in range(max(i - reach, line), min(i + reach, line + side - 1) + 1):
            total += cells[near]
        out[i] = total
        for place in range(i + 1, end):
            if place + reach < line + side:
                total += cells[place + reach]
            if place - reach > line:
                total -= cells[place - reach - 1]
            out[place] = total
        i = end


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
