"""The public family of inputs for studies of accuracy: shapes of 4,096 cells, from which counts are drawn.

A shape is the probability of every cell. Counts of any total are drawn from it, the same ones every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.datasets import flights, paper_files
from sparsedp.datasets.paper_files import paper_file
from sparsedp.errors import InvalidInput

CELLS = 4096
SIDE = 64
"""Of a table: 64 × 64 cells."""

COUNTS_SEED = 3

Shape = Floats
"""Probabilities that add up to one: a vector of 4,096 cells or a table of 64 × 64."""


def shape_of(weights: npt.ArrayLike) -> Shape:
    """Non-negative weights, scaled so that they add up to one."""
    weights = np.asarray(weights, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def fitted(counts: Ints) -> Shape:
    """A vector of any length as a shape of 4,096 cells: equal blocks are summed, and empty cells follow the last one.

    The blocks are as short as they can be: a vector of at most 4,096 cells is not summed at all.
    """
    block = -(-counts.size // CELLS)
    blocks = -(-counts.size // block)
    padded = np.zeros(blocks * block, dtype=np.int64)
    padded[: counts.size] = counts
    cells = np.zeros(CELLS, dtype=np.int64)
    cells[:blocks] = padded.reshape(blocks, block).sum(axis=1)
    return shape_of(cells)


def drawn_counts(shape: Shape, total: int) -> Ints:
    """`numpy.random.default_rng(3).multinomial(total, p)`: one draw, the same for everybody who compares."""
    if total < 1:
        raise InvalidInput("total", f"{total}", "give a number of records of at least 1")
    drawn = np.random.default_rng(COUNTS_SEED).multinomial(total, shape.reshape(-1))
    return drawn.reshape(shape.shape).astype(np.int64)


# ---- rows: each with one trait that real histograms have

STEPS, EMPTY_STEPS = 24, 4
SPIKES = 32
SPARSE_CELLS = 200
WAVES = 8
# Position, height and width of each of Donoho and Johnstone's bumps (Biometrika 81, 1994, table 1).
BUMPS = (
    (0.10, 4.0, 0.005),
    (0.13, 5.0, 0.005),
    (0.15, 3.0, 0.006),
    (0.23, 4.0, 0.010),
    (0.25, 5.0, 0.010),
    (0.40, 4.2, 0.030),
    (0.44, 2.1, 0.010),
    (0.65, 4.3, 0.010),
    (0.76, 3.1, 0.005),
    (0.78, 5.1, 0.008),
    (0.81, 4.2, 0.005),
)


def power_law_sorted() -> Shape:
    """Zipf's law, the most frequent first: cell i has probability ∝ 1/(i + 1)."""
    return shape_of(1 / np.arange(1.0, CELLS + 1))


def power_law_shuffled() -> Shape:
    """The same probabilities in an order that means nothing: neighbours say nothing about a cell."""
    return np.random.default_rng(1).permutation(power_law_sorted())


def spikes() -> Shape:
    """32 single cells, heights spread over three orders of magnitude; nothing elsewhere."""
    generator = np.random.default_rng(2)
    weights = np.zeros(CELLS)
    weights[generator.choice(CELLS, SPIKES, replace=False)] = np.exp(generator.uniform(0, np.log(1000), SPIKES))
    return shape_of(weights)


def steps() -> Shape:
    """24 constant stretches between random cells, heights over two orders of magnitude; four of them empty."""
    generator = np.random.default_rng(3)
    ends = np.sort(generator.choice(np.arange(1, CELLS), STEPS - 1, replace=False))
    heights = np.exp(generator.uniform(0, np.log(100), STEPS))
    heights[generator.choice(STEPS, EMPTY_STEPS, replace=False)] = 0
    return shape_of(np.repeat(heights, np.diff([0, *ends, CELLS])))


def bumps() -> Shape:
    """Donoho and Johnstone's `Bumps`: eleven peaks of different widths, smooth but for their tips."""
    return shape_of(sum(height * (1 + np.abs(_unit() - at) / width) ** -4.0 for at, height, width in BUMPS))


def sine() -> Shape:
    """Eight waves that never quite reach zero: smooth everywhere, flat nowhere."""
    return shape_of(1 + 0.9 * np.sin(2 * np.pi * WAVES * _unit()))


def smooth_and_spikes() -> Shape:
    """Half of the records in two broad humps, half of them in the single cells of `spikes`."""
    humps = np.exp(-(((_unit() - 0.3) / 0.1) ** 2)) + 0.6 * np.exp(-(((_unit() - 0.7) / 0.05) ** 2))
    return (shape_of(humps) + spikes()) / 2


def uniform() -> Shape:
    """Every cell alike."""
    return shape_of(np.ones(CELLS))


def sparse_cells() -> Shape:
    """200 random cells share everything, none of them rare: the other 3,896 are empty."""
    generator = np.random.default_rng(4)
    weights = np.zeros(CELLS)
    weights[generator.choice(CELLS, SPARSE_CELLS, replace=False)] = generator.uniform(0.5, 1.5, SPARSE_CELLS)
    return shape_of(weights)


def _unit() -> Floats:
    """The middle of every cell, as a part of the whole."""
    return (np.arange(CELLS) + 0.5) / CELLS


# ---- tables: 64 × 64 cells

BLOBS = 8
STREETS = 5


def blobs() -> Shape:
    """Eight round towns of different sizes on empty land."""
    generator = np.random.default_rng(5)
    down, across = _side()[:, None], _side()[None, :]
    land = np.zeros((SIDE, SIDE))
    for _ in range(BLOBS):
        (row, column), width = generator.uniform(0.1, 0.9, 2), np.exp(generator.uniform(np.log(0.01), np.log(0.1)))
        records = np.exp(generator.uniform(0, np.log(10)))
        land += records / width**2 * np.exp(-((down - row) ** 2 + (across - column) ** 2) / (2 * width**2))
    return shape_of(land)


def streets() -> Shape:
    """Five streets a way, one cell wide and unevenly busy, and an avenue across; a tenth of the records off them."""
    generator = np.random.default_rng(6)
    town = np.zeros((SIDE, SIDE))
    town[generator.choice(SIDE, STREETS, replace=False), :] += np.exp(generator.uniform(0, np.log(10), STREETS))[
        :, None
    ]
    town[:, generator.choice(SIDE, STREETS, replace=False)] += np.exp(generator.uniform(0, np.log(10), STREETS))[
        None, :
    ]
    town[np.arange(SIDE), np.arange(SIDE)] += 5
    return 0.9 * shape_of(town) + 0.1 * shape_of(np.ones((SIDE, SIDE)))


def product() -> Shape:
    """Two axes that have nothing to do with each other: a power law down, two humps across."""
    law = 1 / np.arange(1.0, SIDE + 1)
    humps = np.exp(-(((_side() - 0.25) / 0.1) ** 2)) + 0.5 * np.exp(-(((_side() - 0.7) / 0.15) ** 2))
    return shape_of(np.outer(law, humps))


def _side() -> Floats:
    return (np.arange(SIDE) + 0.5) / SIDE


# ---- real data: flights out of New York, and the paper's three files where the user has them


def hourly_departures() -> Shape:
    """Departures by hour, the first 4,096 hours of 2013: until 16 h on 20 June."""
    return shape_of(flights.hourly_departures()[:CELLS])


def five_minute_departures() -> Shape:
    """Departures by five minutes, the first 4,096 of 2013: a fortnight, until 5.20 h on 15 January."""
    return shape_of(flights.five_minute_departures()[:CELLS])


def flights_per_aircraft() -> Shape:
    """Flights of each of 4,043 tail numbers, most first; then 53 empty cells."""
    return fitted(flights.flights_per_aircraft())


def air_times() -> Shape:
    """Flights by minutes in the air, cells 0 to 4,095: all lie between 20 and 695, the rest is empty."""
    return shape_of(flights.air_times(CELLS))


def delays() -> Shape:
    """Delay at departure × delay at arrival, 64 × 64 cells of 5 minutes: a narrow ridge along the diagonal."""
    return shape_of(flights.delays())


def nettrace() -> Shape:
    """The paper's nettrace, 65,536 cells in blocks of 16."""
    return fitted(paper_file("nettrace"))


def search_logs() -> Shape:
    """The paper's search_logs, 32,768 cells in blocks of 8."""
    return fitted(paper_file("search_logs"))


def social_network() -> Shape:
    """The paper's social_network, 11,342 cells in 3,781 blocks of 3 (the last of 2); then 315 empty cells."""
    return fitted(paper_file("social_network"))


# ---- every input by name


@dataclass(frozen=True)
class Input:
    """A named shape, one of a family. `needs`: the paper's file it is made from, if it is."""

    name: str
    family: str
    shape: Callable[[], Shape]
    needs: str | None = None

    @property
    def about(self) -> str:
        """What it is, in one line."""
        return (self.shape.__doc__ or "").strip().splitlines()[0]

    def counts(self, total: int) -> Ints:
        """The counts of `total` records drawn from the shape; see `drawn_counts`."""
        return drawn_counts(self.shape(), total)


_PAPER = (nettrace, search_logs, social_network)
_FLIGHTS = (
    hourly_departures,
    five_minute_departures,
    flights_per_aircraft,
    air_times,
    delays,
)
_CURVES = (
    power_law_sorted,
    power_law_shuffled,
    spikes,
    steps,
    bumps,
    sine,
    smooth_and_spikes,
    uniform,
    sparse_cells,
)
_MAPS = (blobs, streets, product)

FAMILIES: dict[str, tuple[Callable[[], Shape], ...]] = {
    "the paper's files": _PAPER,
    "flights": _FLIGHTS,
    "synthetic rows": _CURVES,
    "synthetic tables": _MAPS,
}

INPUTS: dict[str, Input] = {
    shape.__name__: Input(shape.__name__, family, shape, shape.__name__ if shape in _PAPER else None)
    for family, shapes in FAMILIES.items()
    for shape in shapes
}
"""Every input by name, family after family."""


def available_inputs() -> dict[str, Input]:
    """The inputs that can be made here: all but those whose files the user does not have."""
    held = paper_files.available()
    return {name: entry for name, entry in INPUTS.items() if entry.needs is None or entry.needs in held}
