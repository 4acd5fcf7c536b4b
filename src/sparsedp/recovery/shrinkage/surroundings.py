"""Cells told apart by what is around them: the mean of the cells near and far, themselves left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers, Mask
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.cells_around import mean_around
from sparsedp.recovery.shrinkage.chunks import Chunks
from sparsedp.recovery.shrinkage.cycles import mean_of_other_cycles
from sparsedp.recovery.shrinkage.magnitude_grid import GRID, count
from sparsedp.recovery.shrinkage.spread_sample import spread_sample
from sparsedp.recovery.shrinkage.value_prior import BINS, MOST, bin_of

CUTS = (0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 0.975)
"""Kinds of surroundings end at these shares of all cells: there are more of them where there is more in the cells."""

KINDS = len(CUTS) + 1

SAMPLE = 1 << 12
"""Cells that tell where kinds end."""

CYCLES = 2
"""Before and after a cell: those whose cells are like it."""


class Surroundings(NamedTuple):
    """Heights of cells, in deviations of their noise; of each, a row for each reach, the kind of its surroundings, and
    how far it is above the mean of these, in deviations of the noise of that.

    No kind depends on the noise of the cell itself, but for where kinds end.
    """

    heights: Floats
    kinds: npt.NDArray[np.uint8]
    above: npt.NDArray[np.float32]


def surroundings_of(
    tables: Floats,
    reaches: Sequence[int],
    chunks: Chunks,
    period: int | None = None,
    measured: Mask | None = None,
) -> Surroundings:
    """Of heights in tables, one for each place on the first axis; `reaches`: along each of the others. In rows that
    repeat themselves after a `period`, also of cells at the same place in the cycles nearby, as far as these were
    `measured`.
    """
    # What a huge cell adds to sums must not swallow the others.
    bounded = np.clip(tables, -2.0 * MOST, 2.0 * MOST)
    means = [partial(mean_around, bounded, reach, chunks) for reach in reaches]
    if period is not None:
        means.append(partial(mean_of_other_cycles, bounded, period, CYCLES, measured))
    room = len(means), tables.size
    found = Surroundings(tables.reshape(-1), np.empty(room, np.uint8), np.empty(room, np.float32))
    for at, spread in enumerate(spreads_of(reaches, tables.ndim - 1, period)):
        around = means[at]().reshape(-1)
        cuts = np.quantile(around[spread_sample(len(around), SAMPLE)], CUTS)
        chunks.run(
            partial(_tell_apart, found.heights, around, cuts, spread, found.kinds[at], found.above[at]),
            tables.size,
        )
    return found


def spreads_of(reaches: Sequence[int], axes: int, period: int | None = None) -> Floats:
    """Of the noise of how far a cell is above those around it, in deviations of its own."""
    many = (2.0 * np.array(reaches) + 1.0) ** axes - 1.0
    if period is not None:
        many = np.append(many, 2.0 * CYCLES)
    return np.asarray(np.sqrt(1.0 + 1.0 / many))


def counted(cells: Surroundings, places: Integers, chunks: Chunks) -> tuple[Floats, Floats]:
    """The cells at some places by kind and bin of height, the first row being all; and by kind and how far above."""
    found = chunks.run(partial(_count, cells, places), len(places))
    return np.sum([heights for heights, _ in found], axis=0), np.sum([above for _, above in found], axis=0)


@kernel
def _tell_apart(
    heights: Floats,
    around: Floats,
    cuts: Floats,
    spread: float,
    kinds: npt.NDArray[np.uint8],
    above: npt.NDArray[np.float32],
    start: int,
    stop: int,
) -> None:
    for i in range(start, stop):
        kind = 0
        for cut in cuts:
            kind += int(around[i] > cut)
        kinds[i] = kind
        above[i] = (heights[i] - around[i]) / spread


@kernel
def row_of(cells: Surroundings, at: int, cell: int) -> int:
    """Where what was learnt from cells of its kind is, of those of one reach after those of the other."""
    return at * KINDS + int(cells.kinds[at, cell])


@kernel
def _count(cells: Surroundings, places: Integers, start: int, stop: int) -> tuple[Floats, Floats]:
    reaches = len(cells.kinds)
    heights = np.zeros((1 + reaches * KINDS, BINS))
    above = np.zeros((reaches * KINDS, len(GRID) + 1))
    for cell in places[start:stop]:
        place = bin_of(cells.heights[cell])
        heights[0, place] += 1.0
        for at in range(reaches):
            row = row_of(cells, at, cell)
            heights[1 + row, place] += 1.0
            count(float(cells.above[at, cell]), above, row)
    return heights, above[:, :-1].copy()
