"""Two beliefs about a cell, learnt from cells in such surroundings: that it has one of their values, and that it
differs from the cells around it as they do. Which explains a cell better, and how often each is right, says how far its
shrunk count is moved towards the posterior mean of its value.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sparsedp.arrays import Floats, Integers, Mask
from sparsedp.jit import kernel
from sparsedp.recovery.shrinkage.chunks import Chunks
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, noise_nodes
from sparsedp.recovery.shrinkage.magnitude_grid import place_of
from sparsedp.recovery.shrinkage.scale_mixture import DENSITY, VAGUE, Evidence, fit, tables
from sparsedp.recovery.shrinkage.spread_sample import spread_sample
from sparsedp.recovery.shrinkage.surroundings import KINDS, Surroundings, counted, row_of
from sparsedp.recovery.shrinkage.value_prior import MOST, ValuePrior, bin_of

PSEUDO_COUNT = 3.0
"""Deviations imagined beside those of one kind, as all are."""

MOST_WEIGHT = 0.65
"""Of the posterior mean of a cell's value, where it surely has one of those: the frame's estimate is independent enough
of it for a mean of the two to be nearer than either.
"""

FADES = 4.0
"""Deviations below `MOST` from which on the values count for less."""

TAUGHT_BY = 1 << 17
"""Cells that teach the priors, if there are more."""

SAMPLE, SHARE_ROUNDS = 1 << 12, 60
"""Cells that tell how often each prior is right, and rounds of EM for that."""


class Beliefs(NamedTuple):
    """By kind of surroundings and bin of height, the first row being all cells: the density of values there, their
    posterior mean and how far to trust it; by kind, tables of the density of deviations; how often each is right.
    """

    values: Floats
    means: Floats
    trust: Floats
    deviations: Floats
    shares: Floats


def moves(
    cells: Surroundings,
    spreads: Floats,
    shape: float,
    may_move: Mask,
    shrunk: Floats,
    chunks: Chunks,
    *,
    by_cycles: bool = False,
) -> Floats:
    """What moves shrunk heights towards the values of cells like them; those that may not move teach nothing.

    `spreads`: of the surroundings (`spreads_of`); `shape`: of the noise (`variance_shape`). `by_cycles`: the last
    surroundings are those of other cycles, of which a frame knows nothing: cells that all have one value there count.
    """
    places = np.flatnonzero(may_move)
    heights, above = counted(cells, places[spread_sample(len(places), TAUGHT_BY)], chunks)
    values = ValuePrior.learn(heights, gaussian=shape >= GAUSSIAN_FROM, surely=KINDS * by_cycles)
    deviations = deviation_tables(above, shape, spreads)
    beliefs = Beliefs(values.density, values.mean, values.trust, deviations, np.zeros(1 + 2 * len(spreads)))
    beliefs.shares[:] = shares_of(_densities(cells, beliefs, places[spread_sample(len(places), SAMPLE)]))
    out = np.zeros(len(shrunk))
    chunks.run(partial(_move, cells, beliefs, may_move, shrunk, out), len(out))
    return out


def deviation_tables(counts: Floats, shape: float, spreads: Floats) -> Floats:
    """One for each kind of each reach; densities are of heights, so they are less where deviations have more noise."""
    evidence = Evidence.of(*noise_nodes(shape))
    weights = np.empty((len(counts), len(VAGUE)))
    for first in range(0, len(counts), KINDS):
        of_all = fit(counts[first : first + KINDS].sum(axis=0), evidence, VAGUE, PSEUDO_COUNT * VAGUE, gate=0.0)
        start, pseudo = 0.5 * (of_all + VAGUE), PSEUDO_COUNT * of_all
        for row in range(first, first + KINDS):
            weights[row] = fit(counts[row], evidence, start, pseudo, gate=0.0)
    found = tables(evidence, weights)
    found[:, :, DENSITY:] /= np.repeat(spreads, KINDS)[:, None, None]
    return found


@kernel
def shares_of(densities: Floats) -> Floats:
    """How often each of the priors is right, by EM: given, a row for each cell, how dense each takes it to be there."""
    cells, priors = densities.shape
    shares = np.full(priors, 1.0 / priors)
    chances = np.empty(priors)
    for _ in range(SHARE_ROUNDS):
        found = np.zeros(priors)
        for cell in range(cells):
            total = 0.0
            for prior in range(priors):
                chances[prior] = shares[prior] * densities[cell, prior]
                total += chances[prior]
            for prior in range(priors):
                found[prior] += chances[prior] / total
        shares = found / cells
    return shares


@kernel
def _densities_at(cells: Surroundings, beliefs: Beliefs, cell: int, out: Floats) -> None:
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
    place, part = place_of(value)
    return float(table[place, DENSITY] + part * table[place, DENSITY + 1])


@kernel
def _densities(cells: Surroundings, beliefs: Beliefs, places: Integers) -> Floats:
    """A row for each place."""
    found = np.empty((len(places), len(beliefs.shares)))
    for row, cell in enumerate(places):
        _densities_at(cells, beliefs, cell, found[row])
    return found


@kernel
def _move(
    cells: Surroundings, beliefs: Beliefs, may_move: Mask, shrunk: Floats, out: Floats, start: int, stop: int
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
        toward = chances[0] * beliefs.trust[0, place] * (beliefs.means[0, place] - shrunk[cell])
        for at in range(reaches):
            row = 1 + row_of(cells, at, cell)
            toward += chances[1 + at] * beliefs.trust[row, place] * (beliefs.means[row, place] - shrunk[cell])
        fading = min((MOST - cells.heights[cell]) / FADES, 1.0)
        out[cell] = MOST_WEIGHT * fading * toward / chances.sum()
