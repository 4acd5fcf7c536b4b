"""The value prior: nonparametric maximum likelihood for the counts of cells in like neighbourhoods, none negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtr

from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.estimation.shrinkage._chunks import Chunks, chunks_of
from sparsedp.estimation.shrinkage._neighbourhoods import mean_around, spread_sample
from sparsedp.estimation.shrinkage.cycles import mean_of_other_cycles
from sparsedp.estimation.shrinkage.mixture_prior import (
    DENSITY,
    GAUSSIAN_FROM,
    GRID,
    LEARNABLE_VARIANCE,
    POOLED_COUNT,
    VAGUE_WEIGHTS,
    Evidence,
    count,
    fit,
    grid_place,
    mixture_weights,
    noise_nodes,
    tables,
    variance_shape,
)
from sparsedp.jit import kernel
from sparsedp.laws import IndependentLaw

# Everything is in standard deviations of the noise. Observed values are counted in bins, and the prior sits on
# `VALUES`, close together near zero. What there is to know of a cell depends on its bin only, so it is tabulated.

LOWEST, BIN_WIDTH, BINS = -9.0, 0.2, 185
"""Where the first bin begins, how wide they are, and how many; what lies below is counted in the first."""

HIGHEST = LOWEST + BIN_WIDTH * BINS
"""Cells that are observed at this or above are left out: so large a count is known well enough."""

ROUNDS_OF_KIND, ROUNDS_OF_ALL = 40, 80
"""Of EM, for one kind of neighbourhood and for all cells together."""

VALUES_GATE, GATE_PER_CELL = 6.0, 0.003
"""Nats by which a prior must explain cells better than one value for all does, to be believed by half."""


def _values() -> Floats:
    """Steps of 0.1 at first, then of 0.06 of the value, of 0.35 at most; up to seven deviations beyond `HIGHEST`."""
    found = [0.0]
    while found[-1] < HIGHEST + 7.0:
        found.append(found[-1] + max(0.1, min(0.06 * found[-1], 0.35)))
    return np.array(found)


VALUES: Floats = _values()

SINGLE_VALUES: Floats = np.arange(0.0, HIGHEST, 0.05)
"""Closer together: one value that lies between two of the others would be taken for both of them."""


@dataclass(frozen=True)
class ValuePrior:
    """By kind of neighbourhood, a row each, and bin: the density of cells there and the posterior mean of their values;
    by kind, how far to trust these.
    """

    density: Floats
    mean: Floats
    trust: Floats

    @classmethod
    def learn(cls, counts: Floats, *, gaussian: bool, surely: int = 0) -> ValuePrior:
        """From counts by kind and bin, the first row being all cells together. The last so many kinds are `surely`
        believed, even if all of their cells have one value.
        """
        likelihood = likelihood_of(gaussian)
        every = _fit(counts[:1], likelihood, np.full(len(VALUES), 1.0 / len(VALUES)), 0.0, ROUNDS_OF_ALL)
        weights = np.concatenate([every, _fit(counts[1:], likelihood, every[0], POOLED_COUNT, ROUNDS_OF_KIND)])
        density = _times(weights, likelihood.T)
        mean = _times(weights * VALUES, likelihood.T) / density
        one_value = _times(counts, np.log(likelihood_of(gaussian, single=True))).max(axis=1)
        gain = (counts * np.log(density)).sum(axis=1) - one_value
        trust = expit(gain - VALUES_GATE - GATE_PER_CELL * counts.sum(axis=1))
        trust[len(trust) - surely :] = 1.0
        return cls(density / BIN_WIDTH, mean, trust)


@lru_cache(maxsize=4)
def likelihood_of(gaussian: bool, *, single: bool = False) -> Floats:
    """The chance of each bin, a row each, for each of `VALUES` or `SINGLE_VALUES`; noise is Gaussian, or Laplace."""
    edges = LOWEST + BIN_WIDTH * np.arange(BINS + 1)
    beyond = edges[:, None] - (SINGLE_VALUES if single else VALUES)
    below = ndtr(beyond) if gaussian else _laplace_below(beyond)
    below[0] = 0.0
    chances = np.diff(below, axis=0) + 1e-12
    chances.flags.writeable = False
    return chances


def _laplace_below(x: Floats) -> Floats:
    tail = 0.5 * np.exp(-sqrt(2.0) * np.abs(x))
    return np.where(x < 0.0, tail, 1.0 - tail)


def _fit(counts: Floats, likelihood: Floats, usual: Floats, pseudo: float, rounds: int) -> Floats:
    """The weights of the values, a row for each row of counts, beside so many imagined cells of the `usual` ones."""
    weights = np.empty((len(counts), len(usual)))
    for row, seen in enumerate(counts > 0.0):
        by_value = np.ascontiguousarray(likelihood[seen].T)
        weights[row] = mixture_weights(counts[row, seen], by_value, usual, pseudo * usual, rounds, 0.0)
    return weights


@kernel
def bin_of(height: float) -> int:
    """The bin of an observed value; of those beyond, the first or the last."""
    return min(max(int((height - LOWEST) / BIN_WIDTH), 0), BINS - 1) if height > LOWEST else 0


def _times(left: Floats, right: Floats) -> Floats:
    """A matrix product without a library's threads."""
    return np.asarray(np.einsum("ij,jk->ik", left, right))


# Cells told apart by what is around them: the mean of the cells near and far, themselves left out.

CUTS = (0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 0.975)
"""Kinds of neighbourhood end at these shares of all cells: there are more of them where there is more in the cells."""

KINDS = len(CUTS) + 1

CUT_SAMPLE = 1 << 12
"""Cells that tell where kinds end."""

CYCLES = 2
"""Before and after a cell: those whose cells are like it."""


class Neighbourhoods(NamedTuple):
    """Heights of cells, in deviations of their noise; of each, a row for each reach, the kind of its neighbourhood, and
    how far it is above the mean of these, in deviations of the noise of that.

    No kind depends on the noise of the cell itself, but for where kinds end.
    """

    heights: Floats
    kinds: npt.NDArray[np.uint8]
    above: npt.NDArray[np.float32]


def neighbourhoods_of(
    tables: Floats,
    reaches: Sequence[int],
    chunks: Chunks,
    period: int | None = None,
    measured: Mask | None = None,
) -> Neighbourhoods:
    """Of heights in tables, one for each place on the first axis; `reaches`: along each of the others. In rows that
    repeat themselves after a `period`, also of cells at the same place in the cycles nearby, as far as these were
    `measured`.
    """
    # What a huge cell adds to sums must not swallow the others.
    bounded = np.clip(tables, -2.0 * HIGHEST, 2.0 * HIGHEST)
    means = [partial(mean_around, bounded, reach, chunks) for reach in reaches]
    if period is not None:
        means.append(partial(mean_of_other_cycles, bounded, period, CYCLES, measured))
    room = len(means), tables.size
    found = Neighbourhoods(tables.reshape(-1), np.empty(room, np.uint8), np.empty(room, np.float32))
    for at, spread in enumerate(spreads_of(reaches, tables.ndim - 1, period)):
        around = means[at]().reshape(-1)
        cuts = np.quantile(around[spread_sample(len(around), CUT_SAMPLE)], CUTS)
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


def counted(cells: Neighbourhoods, places: Ints, chunks: Chunks) -> tuple[Floats, Floats]:
    """The cells at some places by kind and bin of height, the first row being all; and by kind and how far above."""
    found = chunks.run(partial(_count_kinds, cells, places), len(places))
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
def row_of(cells: Neighbourhoods, at: int, cell: int) -> int:
    """Where what was learnt from cells of its kind is, of those of one reach after those of the other."""
    return at * KINDS + int(cells.kinds[at, cell])


@kernel
def _count_kinds(cells: Neighbourhoods, places: Ints, start: int, stop: int) -> tuple[Floats, Floats]:
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


# Two beliefs about a cell, learnt from cells in such neighbourhoods: that it has one of their values, and that it
# differs from the cells around it as they do. Which explains a cell better, and how often each is right, says how far
# its shrunk count is moved towards the posterior mean of its value.

WEIGHT_OF_VALUE = 0.65
"""Of the posterior mean of a cell's value, where it surely has one of those: the frame's estimate is independent enough
of it for a mean of the two to be nearer than either.
"""

FADES = 4.0
"""Deviations below `HIGHEST` from which on the values count for less."""

TAUGHT_BY = 1 << 17
"""Cells that teach the priors, if there are more."""

SHARE_SAMPLE, SHARE_ROUNDS = 1 << 12, 60
"""Cells that tell how often each prior is right, and rounds of EM for that."""


class Beliefs(NamedTuple):
    """By kind of neighbourhood and bin of height, the first row being all cells: the density of values there and their
    posterior mean; by kind, how far to trust these, and tables of the density of deviations; how often each is right.
    """

    values: Floats
    means: Floats
    trust: Floats
    deviations: Floats
    shares: Floats


def moves(
    cells: Neighbourhoods,
    spreads: Floats,
    shape: float,
    may_move: Mask,
    shrunk: Floats,
    chunks: Chunks,
    *,
    by_cycles: bool = False,
) -> Floats:
    """What moves shrunk heights towards the values of cells like them; those that may not move teach nothing.

    `spreads`: of the neighbourhood (`spreads_of`); `shape`: of the noise (`variance_shape`). `by_cycles`: the last
    neighbourhood are those of other cycles, of which a frame knows nothing: cells that all have one value there count.
    """
    places = np.flatnonzero(may_move)
    heights, above = counted(cells, places[spread_sample(len(places), TAUGHT_BY)], chunks)
    values = ValuePrior.learn(heights, gaussian=shape >= GAUSSIAN_FROM, surely=KINDS * by_cycles)
    deviations = deviation_tables(above, shape, spreads)
    beliefs = Beliefs(values.density, values.mean, values.trust, deviations, np.zeros(1 + 2 * len(spreads)))
    beliefs.shares[:] = shares_of(_densities(cells, beliefs, places[spread_sample(len(places), SHARE_SAMPLE)]))
    out = np.zeros(len(shrunk))
    chunks.run(partial(_move, cells, beliefs, may_move, shrunk, out), len(out))
    return out


def deviation_tables(counts: Floats, shape: float, spreads: Floats) -> Floats:
    """One for each kind of each reach; densities are of heights, so they are less where deviations have more noise."""
    evidence = Evidence.of(*noise_nodes(shape))
    weights = np.empty((len(counts), len(VAGUE_WEIGHTS)))
    for first in range(0, len(counts), KINDS):
        every = counts[first : first + KINDS].sum(axis=0)
        of_all = fit(every, evidence, VAGUE_WEIGHTS, POOLED_COUNT * VAGUE_WEIGHTS, gate=0.0)
        start, pseudo = 0.5 * (of_all + VAGUE_WEIGHTS), POOLED_COUNT * of_all
        for row in range(first, first + KINDS):
            weights[row] = fit(counts[row], evidence, start, pseudo, gate=0.0)
    found = tables(evidence, weights)
    found[:, :, DENSITY:] /= np.repeat(spreads, KINDS)[:, None, None]
    return found


def shares_of(densities: Floats) -> Floats:
    """How often each of the priors is right: given, a row for each cell, how dense each takes it to be there."""
    cells, priors = densities.shape
    alike, nothing = np.full(priors, 1.0 / priors), np.zeros(priors)
    return mixture_weights(np.ones(cells), np.ascontiguousarray(densities.T), alike, nothing, SHARE_ROUNDS, 0.0)


@kernel
def _densities_at(cells: Neighbourhoods, beliefs: Beliefs, cell: int, out: Floats) -> None:
    """By the values of all cells, by those of its kind for each reach, and by the deviations of its kind for each."""
    reaches = len(cells.kinds)
    place = bin_of(cells.heights[cell])
    out[0] = beliefs.values[0, place]
    for at in range(reaches):
        row = row_of(cells, at, cell)
        out[1 + at] = beliefs.values[1 + row, place]
        out[1 + reaches + at] = density(beliefs.deviations[row], float(cells.above[at, cell]))


@kernel
def density(table: Floats, value: float) -> float:
    """Of a deviation, by one of `deviation_tables`."""
    place, part = grid_place(value)
    return float(table[place, DENSITY] + part * table[place, DENSITY + 1])


@kernel
def _densities(cells: Neighbourhoods, beliefs: Beliefs, places: Ints) -> Floats:
    """A row for each place."""
    found = np.empty((len(places), len(beliefs.shares)))
    for row, cell in enumerate(places):
        _densities_at(cells, beliefs, cell, found[row])
    return found


@kernel
def _move(
    cells: Neighbourhoods, beliefs: Beliefs, may_move: Mask, shrunk: Floats, out: Floats, start: int, stop: int
) -> None:
    """From shrunk heights towards the posterior means of their values, as far as these are to be trusted."""
    reaches = len(cells.kinds)
    chances = np.empty(len(beliefs.shares))
    for cell in range(start, stop):
        if not may_move[cell]:
            continue
        _densities_at(cells, beliefs, cell, chances)
        chances *= beliefs.shares
        place = bin_of(cells.heights[cell])
        toward = chances[0] * beliefs.trust[0] * (beliefs.means[0, place] - shrunk[cell])
        for at in range(reaches):
            row = 1 + row_of(cells, at, cell)
            toward += chances[1 + at] * beliefs.trust[row] * (beliefs.means[row, place] - shrunk[cell])
        fading = min((HIGHEST - cells.heights[cell]) / FADES, 1.0)
        out[cell] = WEIGHT_OF_VALUE * fading * toward / chances.sum()


# Cells that are not like their neighbours, but have the values that cells in such a neighbourhood have.
#
# A frame knows a cell by how it differs from those around it. Rough counts (rounded amounts, records of few people)
# are not smooth; yet many of them are zero, none is below, and large counts have large counts around them. So cells are
# told apart by the mean of the cells around them, near and far, and each kind teaches two priors: of the cells' values,
# and of how they differ from that mean. The latter is what a frame believes. Which explains a cell better says how far
# its shrunk count is moved towards the posterior mean of its value.
#
# A kind hardly depends on the noise of the cell itself, so each prior is learnt from independent noise. (Cells that
# were fused with the sums of blocks have noise that goes together within these, a little.)

FEWEST_FOR_VALUES = 256
"""In fewer cells no prior is learnt."""

FEWER_REACHES_FROM = 1 << 18
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
    return LEARNABLE_VARIANCE < law.variance < inf and not (of_tables and cells >= LARGEST_TABLE)


def towards_value_prior(
    observed: Floats, shrunk: Floats, law: IndependentLaw, measured: Mask | None = None, period: int | None = None
) -> Floats:
    """Shrunk cells of tables, one for each place on the first axis, moved towards the values that cells like them have.

    `observed`: the same cells with their noise, of `law`; those that were not `measured` teach nothing and stay.
    `period`: after which rows repeat themselves, if they do.
    """
    sides = observed.shape[1:]
    few, many = (IN_ROWS, IN_LONG_ROWS) if len(sides) == 1 else (IN_TABLES, IN_LARGE_TABLES)
    reaches = [reach for reach in (few if observed.size < FEWER_REACHES_FROM else many) if reach < max(sides)]
    if not reaches or not are_learnt(observed.size, law, of_tables=len(sides) > 1):
        return shrunk
    deviation = sqrt(law.variance)
    heights = observed / deviation
    may_move = heights < HIGHEST
    if measured is not None:
        measured = measured.reshape(may_move.shape)
        may_move &= measured
    if may_move.sum() < FEWEST_FOR_VALUES:
        return shrunk
    with chunks_of(heights.size) as chunks:
        cells = neighbourhoods_of(heights, reaches, chunks, period, measured)
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
