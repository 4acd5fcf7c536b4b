"""Cells that are not like their neighbours, but have the values that cells in such surroundings have.

A frame knows a cell by how it differs from those around it. Rough counts (rounded amounts, records of few people) have
no smooth course; yet many of them are zero, none is below, and a busy place has busy cells. So cells are told apart by
the mean of the cells around them, near and far, themselves left out; and each kind teaches two priors: of the cells'
values, and of how they differ from that mean. The latter is what a frame believes. Which explains a cell better says
how far its shrunk count is moved towards the posterior mean of its value.

No kind depends on the noise of the cell itself, so each prior is learnt from independent noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.noise.law import IndependentLaw
from sparsedp.recovery.shrinkage.cells_around import mean_around
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, noise_nodes, variance_shape
from sparsedp.recovery.shrinkage.gap_chunks import Chunks, chunks_of
from sparsedp.recovery.shrinkage.magnitude_grid import GRID, count, place_of
from sparsedp.recovery.shrinkage.scale_mixture import DENSITY, VAGUE, Evidence, fit, tables
from sparsedp.recovery.shrinkage.value_prior import BINS, LEAST, MOST, STEP, ValuePrior

Kinds = npt.NDArray[np.uint8]
Singles = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

FEWEST = 256
"""In fewer cells no prior is learnt."""

LEAST_VARIANCE = 1.0
"""Of the noise: where it is mostly 0, one unit of it is many deviations."""

MANY = 1 << 18
"""From so many cells on fewer reaches are tried, to save time."""

REACHES_OF_ROWS, REACHES = {False: (1, 4, 16, 64), True: (1, 8, 64)}, {False: (1, 3, 8), True: (2,)}
"""How far the cells around one reach, along one axis, and along each of several; whether they are many."""

CUTS = (0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 0.975)
"""Kinds of surroundings end at these shares of all cells: there are more of them where there is more in the cells."""

PSEUDO_COUNT, DEVIATION_GATE = 3.0, 4.0
"""Deviations imagined beside those of one kind, as all are, and the nats that speak for any."""

MOST_WEIGHT = 0.65
"""Of the posterior mean of a cell's value, where it surely has one of those: the frame's estimate is independent enough
of it for a mean of the two to be nearer than either.
"""

WIDTHS = (64, 8, 4)
"""Sides of the boxes whose sums stay as they are, on one axis, two, and more: a prior of values says little of sums."""

FADES = 4.0
"""Deviations below `MOST` from which on the values count for less."""

TAUGHT_BY = 1 << 17
"""Cells that teach the priors, if there are more."""

SAMPLE, SHARE_ROUNDS = 1 << 12, 60
"""Cells that tell where kinds end and how often each prior is right, and rounds of EM for the latter."""


def towards_usual_values(observed: Floats, shrunk: Floats, law: IndependentLaw, measured: Mask | None = None) -> Floats:
    """Shrunk cells of tables, one for each place on the first axis, moved towards the values that cells like them have.

    `observed`: the same cells with their noise, of `law`; those that were not `measured` teach nothing and stay.
    """
    learning = observed.size if measured is None else int(measured.sum())
    sides = observed.shape[1:]
    tried = (REACHES_OF_ROWS if len(sides) == 1 else REACHES)[observed.size >= MANY]
    reaches = [reach for reach in tried if reach < max(sides)]
    if learning < FEWEST or not reaches or not LEAST_VARIANCE < law.variance < inf:
        return shrunk
    deviation = sqrt(law.variance)
    heights = observed / deviation
    with chunks_of(heights.size) as chunks:
        cells = _Cells(heights, reaches, measured, chunks)
        if cells.learning.sum() < FEWEST:
            return shrunk
        change = cells.change(variance_shape(law), shrunk.reshape(-1) / deviation)
    kept = _without_sums(change.reshape(shrunk.shape), cells.learning.reshape(shrunk.shape))
    return np.asarray(shrunk + deviation * kept)


class _Cells:
    """Heights of cells, in deviations of their noise; of each, by reach, the kind of its surroundings and how far it is
    above the mean of these.
    """

    def __init__(self, heights: Floats, reaches: Sequence[int], measured: Mask | None, chunks: Chunks) -> None:
        self.heights = heights.reshape(-1)
        n = len(self.heights)
        self.learning = self.heights < MOST
        if measured is not None:
            self.learning &= measured.reshape(-1)
        self.kinds = np.empty((len(reaches), n), np.uint8)
        self.above = np.empty((len(reaches), n), np.float32)
        many = (2.0 * np.array(reaches) + 1.0) ** (heights.ndim - 1) - 1.0
        self.spreads = np.sqrt(1.0 + 1.0 / many)
        self._chunks = chunks
        # What a huge cell adds to sums must not swallow the others.
        bounded = np.clip(heights, -2.0 * MOST, 2.0 * MOST)
        for at, reach in enumerate(reaches):
            around = mean_around(bounded, reach, chunks).reshape(-1)
            cuts = np.quantile(around[:: max(1, n // SAMPLE)], CUTS)
            given = self.heights, around, cuts, self.spreads[at], self.kinds[at], self.above[at]
            chunks.run(partial(_tell_apart, *given), n)

    def change(self, shape: float, shrunk: Floats) -> Floats:
        """What moves shrunk heights; `shape`: of the noise (`variance_shape`)."""
        kinds, learning = len(CUTS) + 1, np.flatnonzero(self.learning)
        teaching = learning[:: max(1, len(learning) // TAUGHT_BY)]
        work = partial(_count, self.heights, self.kinds, self.above, kinds, teaching)
        found = self._chunks.run(work, len(teaching))
        values = ValuePrior.learn(np.sum([one for one, _ in found], axis=0), gaussian=shape >= GAUSSIAN_FROM)
        deviations = _deviation_tables(np.sum([one for _, one in found], axis=0), shape, self.spreads)
        given = self.heights, self.kinds, self.above, kinds, values.density, deviations
        shares = _shares(_densities(*given, learning[:: max(1, len(learning) // SAMPLE)]))
        out = np.zeros(len(self.heights))
        move = partial(_move, *given, self.learning, values.mean, values.trust, shares, shrunk, out)
        self._chunks.run(move, len(out))
        return out


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


@kernel
def _tell_apart(
    heights: Floats, around: Floats, cuts: Floats, spread: float, kinds: Kinds, above: Singles, start: int, stop: int
) -> None:
    """Into kinds of surroundings; and how far above them cells are, in deviations of the noise of that."""
    for i in range(start, stop):
        kind = 0
        for cut in cuts:
            kind += int(around[i] > cut)
        kinds[i] = kind
        above[i] = (heights[i] - around[i]) / spread


@kernel
def bin_of(height: float) -> int:
    """The bin of an observed value; of those beyond, the first or the last."""
    return min(max(int((height - LEAST) / STEP), 0), BINS - 1) if height > LEAST else 0


@kernel
def _count(
    heights: Floats, kinds: Kinds, above: Singles, kinds_of_one: int, teaching: Places, start: int, stop: int
) -> tuple[Floats, Floats]:
    """Those that teach by kind and bin, the first row being all; and by kind and how far they are above the others."""
    reaches = len(kinds)
    values = np.zeros((1 + reaches * kinds_of_one, BINS))
    deviations = np.zeros((reaches * kinds_of_one, len(GRID) + 1))
    for i in teaching[start:stop]:
        place = bin_of(heights[i])
        values[0, place] += 1.0
        for at in range(reaches):
            row = at * kinds_of_one + kinds[at, i]
            values[1 + row, place] += 1.0
            count(float(above[at, i]), deviations, row)
    return values, deviations[:, :-1].copy()


def _deviation_tables(counts: Floats, shape: float, spreads: Floats) -> Floats:
    """One for each kind of each reach; densities are of heights, so they are less where deviations have more noise."""
    kinds = len(counts) // len(spreads)
    evidence = Evidence.of(*noise_nodes(shape))
    weights = np.empty((len(counts), len(VAGUE)))
    for first in range(0, len(counts), kinds):
        of_all = fit(counts[first : first + kinds].sum(axis=0), evidence, VAGUE, PSEUDO_COUNT * VAGUE, DEVIATION_GATE)
        start, pseudo = 0.5 * (of_all + VAGUE), PSEUDO_COUNT * of_all
        for row in range(first, first + kinds):
            weights[row] = fit(counts[row], evidence, start, pseudo, DEVIATION_GATE)
    found = tables(evidence, weights)
    found[:, :, DENSITY:] /= np.repeat(spreads, kinds)[:, None, None]
    return found


@kernel
def _densities(
    heights: Floats,
    kinds: Kinds,
    above: Singles,
    kinds_of_one: int,
    values: Floats,
    deviations: Floats,
    sample: Places,
) -> Floats:
    """Of cells, a column each: by the values of all cells, by those of each kind, and by the deviations of each."""
    reaches = len(kinds)
    found = np.empty((1 + 2 * reaches, len(sample)))
    for column in range(len(sample)):
        i = sample[column]
        place = bin_of(heights[i])
        found[0, column] = values[0, place]
        for at in range(reaches):
            row = at * kinds_of_one + kinds[at, i]
            found[1 + at, column] = values[1 + row, place]
            found[1 + reaches + at, column] = _density(deviations[row], float(above[at, i]))
    return found


@kernel
def _density(table: Floats, value: float) -> float:
    place, part = place_of(value)
    return float(table[place, DENSITY] + part * table[place, DENSITY + 1])


def _shares(densities: Floats) -> Floats:
    """How often each of the priors is right, by EM."""
    shares = np.full(len(densities), 1.0 / len(densities))
    for _ in range(SHARE_ROUNDS):
        chances = shares[:, None] * densities
        shares = (chances / chances.sum(axis=0)).mean(axis=1)
    return shares


@kernel
def _move(
    heights: Floats,
    kinds: Kinds,
    above: Singles,
    kinds_of_one: int,
    values: Floats,
    deviations: Floats,
    learning: Mask,
    means: Floats,
    trust: Floats,
    shares: Floats,
    shrunk: Floats,
    out: Floats,
    start: int,
    stop: int,
) -> None:
    """From shrunk heights towards the posterior means of their values, as far as these are to be trusted."""
    reaches = len(kinds)
    for i in range(start, stop):
        if not learning[i]:
            continue
        place = bin_of(heights[i])
        usual = shares[0] * values[0, place]
        like_those_around, mean, trusted = 0.0, usual * means[0, place], usual * trust[0, place]
        for at in range(reaches):
            row = at * kinds_of_one + kinds[at, i]
            chance = shares[1 + at] * values[1 + row, place]
            usual += chance
            mean += chance * means[1 + row, place]
            trusted += chance * trust[1 + row, place]
            like_those_around += shares[1 + reaches + at] * _density(deviations[row], float(above[at, i]))
        if usual > 0.0:
            fading = min((MOST - heights[i]) / FADES, 1.0)
            weight = MOST_WEIGHT * fading * trusted / (usual + like_those_around)
            out[i] = weight * (mean / usual - shrunk[i])
