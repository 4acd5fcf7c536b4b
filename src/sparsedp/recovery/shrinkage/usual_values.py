"""Cells that are not like their neighbours, but have the values that cells in such surroundings have.

A frame knows a cell by how it differs from those around it. Rough counts (rounded amounts, records of few people) have
no smooth course; yet many of them are zero, none is below, and a busy place has busy cells. So cells are told apart by
the mean of the cells around them, near and far (`surroundings.py`), and each kind teaches two priors: of the cells'
values (`value_prior.py`), and of how they differ from that mean. The latter is what a frame believes. Which explains a
cell better says how far its shrunk count is moved towards the posterior mean of its value (`value_or_deviation.py`).

A kind hardly depends on the noise of the cell itself, so each prior is learnt from independent noise. (Cells that were
fused with the sums of blocks have noise that goes together within these, a little.)
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from sparsedp.arrays import Floats, Mask
from sparsedp.laws import IndependentLaw
from sparsedp.recovery.shrinkage.chunks import chunks_of
from sparsedp.recovery.shrinkage.coefficient_noise import variance_shape
from sparsedp.recovery.shrinkage.surroundings import spreads_of, surroundings_of
from sparsedp.recovery.shrinkage.value_or_deviation import moves
from sparsedp.recovery.shrinkage.value_prior import MOST

FEWEST = 256
"""In fewer cells no prior is learnt."""

LEAST_VARIANCE = 1.0
"""Of the noise: where it is mostly 0, one unit of it is many deviations."""

MANY = 1 << 18
"""From so many cells on fewer reaches are tried, to save time."""

LARGEST_TABLE = 1 << 20
"""Tables of so many cells and more stay as they are: it would take a good part of the time of a whole release."""

IN_ROWS, IN_LONG_ROWS = (1, 4, 16, 64), (8,)
IN_TABLES, IN_LARGE_TABLES = (1, 3, 8), (2,)
"""How far the cells around one reach, along one axis, and along each of several."""

WIDTHS = (64, 8, 4)
"""Sides of the boxes whose sums stay as they are, on one axis, two, and more: a prior of values says little of sums."""


def are_learnt(cells: int, law: IndependentLaw, *, of_tables: bool) -> bool:
    """Whether so many cells, with noise of `law`, are moved at all."""
    return LEAST_VARIANCE < law.variance < inf and not (of_tables and cells >= LARGEST_TABLE)


def towards_usual_values(
    observed: Floats, shrunk: Floats, law: IndependentLaw, measured: Mask | None = None, period: int | None = None
) -> Floats:
    """Shrunk cells of tables, one for each place on the first axis, moved towards the values that cells like them have.

    `observed`: the same cells with their noise, of `law`; those that were not `measured` teach nothing and stay.
    `period`: after which rows repeat themselves, if they do.
    """
    sides = observed.shape[1:]
    few, many = (IN_ROWS, IN_LONG_ROWS) if len(sides) == 1 else (IN_TABLES, IN_LARGE_TABLES)
    reaches = [reach for reach in (few if observed.size < MANY else many) if reach < max(sides)]
    if not reaches or not are_learnt(observed.size, law, of_tables=len(sides) > 1):
        return shrunk
    deviation = sqrt(law.variance)
    heights = observed / deviation
    may_move = heights < MOST
    if measured is not None:
        measured = measured.reshape(may_move.shape)
        may_move &= measured
    if may_move.sum() < FEWEST:
        return shrunk
    with chunks_of(heights.size) as chunks:
        cells = surroundings_of(heights, reaches, chunks, period, measured)
        spreads = spreads_of(reaches, len(sides), period)
        given = may_move.reshape(-1), shrunk.reshape(-1) / deviation, chunks
        change = moves(cells, spreads, variance_shape(law), *given, by_cycles=period is not None)
    return np.asarray(shrunk + deviation * _without_sums(change.reshape(shrunk.shape), may_move))


def _without_sums(change: Floats, moved: Mask) -> Floats:
    """A change that leaves the sum of each box as it is: its mean over the cells that move is taken off these."""
    width = WIDTHS[min(change.ndim - 2, len(WIDTHS) - 1)]
    sums, cells = change, moved.astype(np.float64)
    for axis in range(1, change.ndim):
        starts = np.arange(0, change.shape[axis], width)
        sums, cells = np.add.reduceat(sums, starts, axis=axis), np.add.reduceat(cells, starts, axis=axis)
    means = sums / np.maximum(cells, 1.0)
    for axis in range(1, change.ndim):
        side = change.shape[axis]
        means = np.repeat(means, np.minimum(width, side - np.arange(0, side, width)), axis=axis)
    return np.asarray(change - means * moved)
