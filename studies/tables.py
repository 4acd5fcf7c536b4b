"""Tables of many axes for studies of accuracy: how they are drawn, and the errors of their marginals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from math import prod

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes.domain import Domain
from sparsedp.datasets import flights

SEED = 1

AIRPORTS = ("EWR", "JFK", "LGA")
CARRIERS = ("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV")


@dataclass(frozen=True)
class Table:
    """An input by its axes as text, and what draws so many records from it as the cells that they are in."""

    name: str
    about: str
    axes: tuple[str, ...]
    records: Callable[[tuple[int, ...], int, np.random.Generator], Ints]
    """Takes the shape; gives one row a record, the number of its cell along each axis."""

    @property
    def domain(self) -> Domain:
        """Its axes."""
        return Domain.of(list(self.axes))

    def counts(self, total: int, seed: int = SEED) -> Ints:
        """The cells of so many records: the same for everybody who compares."""
        shape = self.domain.shape
        cells = self.records(shape, total, np.random.default_rng(seed))
        places = np.ravel_multi_index(tuple(cells.T), shape)
        return np.bincount(places, minlength=prod(shape)).reshape(shape).astype(np.int64)


def along(probabilities: Floats, given: Ints, random: np.random.Generator) -> Ints:
    """One draw for each of `given`, from the row of probabilities that it names."""
    steps = probabilities.cumsum(axis=1)[given]
    found = (random.random(len(given))[:, None] > steps).sum(axis=1)
    return np.asarray(np.minimum(found, probabilities.shape[1] - 1))


def chain(shape: tuple[int, ...], total: int, random: np.random.Generator) -> Ints:
    """The first axis from a draw of Dirichlet(1); each next one given the one before, by rows of Dirichlet(½)."""
    columns = [random.choice(shape[0], total, p=random.dirichlet(np.ones(shape[0])))]
    for before, side in pairwise(shape):
        columns.append(along(random.dirichlet(np.full(side, 0.5), size=before), columns[-1], random))
    return np.stack(columns, axis=1)


def independent(shape: tuple[int, ...], total: int, random: np.random.Generator) -> Ints:
    """Every axis from a draw of Dirichlet(1), whatever the others are."""
    return np.stack([random.choice(side, total, p=random.dirichlet(np.ones(side))) for side in shape], axis=1)


def hierarchical(shape: tuple[int, ...], total: int, random: np.random.Generator) -> Ints:
    """Counties of eight states; the other axes depend on the state alone."""
    counties = random.choice(shape[0], total, p=random.dirichlet(np.full(shape[0], 1.5)))
    states = counties // (shape[0] // 8)
    others = [along(random.dirichlet(np.ones(side), size=8), states, random) for side in shape[1:]]
    return np.stack([counties, *others], axis=1)


def rhythmic(shape: tuple[int, ...], total: int, random: np.random.Generator) -> Ints:
    """Days with a week, whose form depends on the second axis, and a slow wave."""
    days = np.arange(shape[0])
    wave = 1.0 + 0.3 * np.sin(2 * np.pi * days / shape[0])
    weeks = random.dirichlet(np.full(7, 8.0), size=shape[1])
    wards = random.choice(shape[1], total, p=random.dirichlet(np.full(shape[1], 3.0)))
    by_ward = weeks[:, days % 7] * wave
    day = along(by_ward / by_ward.sum(axis=1, keepdims=True), wards, random)
    others = [along(random.dirichlet(np.ones(side), size=shape[1]), wards, random) for side in shape[2:]]
    return np.stack([day, wards, *others], axis=1)


def departures(shape: tuple[int, ...], total: int, random: np.random.Generator) -> Ints:
    """Flights out of New York, drawn with replacement."""
    every = flight_cells()
    return every[random.integers(0, len(every), total)][:, : len(shape)]


@cache
def flight_cells() -> Ints:
    """Of every flight of 2013: month, hour from five, airport, carrier, delay in bands of ten minutes, weekday."""
    records = flights.data_set("flights").read()
    days = records["day"].to_numpy().astype("datetime64[D]")
    delays = np.nan_to_num(records["dep_delay"].to_numpy(), nan=0.0)
    columns = [
        days.astype("datetime64[M]").astype(np.int64) % 12,
        np.clip(records["hour"].to_numpy() - 5, 0, 19),
        np.searchsorted(AIRPORTS, records["origin"].to_numpy().astype(str)),
        np.searchsorted(CARRIERS, records["carrier"].to_numpy().astype(str)),
        np.clip((delays + 20) // 10, 0, 9),
        (days.astype(np.int64) + 3) % 7,
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def flight_days() -> Ints:
    """Flights by day of 2013 and airport."""
    records = flights.data_set("flights").read()
    days = records["day"].to_numpy().astype("datetime64[D]").astype(np.int64) - 15_706
    places = days * 3 + np.searchsorted(AIRPORTS, records["origin"].to_numpy().astype(str))
    return np.bincount(places, minlength=1095).reshape(365, 3).astype(np.int64)


def sides(*lengths: int) -> tuple[str, ...]:
    """Axes of whole numbers without a meaning."""
    return tuple(
        f"{chr(ord('a') + place)}:{','.join(f'v{i}' for i in range(side))}" for place, side in enumerate(lengths)
    )


COUNTIES = ",".join(f"s{state}({','.join(f'c{state}{county}' for county in range(6))})" for state in range(8))
FLIGHTS = (
    "month:1..12",
    "hour:5..24",
    f"origin:{','.join(AIRPORTS)}",
    f"carrier:{','.join(CARRIERS)}",
    "delay:0..9",
)

TABLES: dict[str, Table] = {
    each.name: each
    for each in (
        Table("chain of 4", "10 × 8 × 6 × 5 cells, each axis given the one before", sides(10, 8, 6, 5), chain),
        Table("chain of 5", "12 × 8 × 6 × 5 × 4", sides(12, 8, 6, 5, 4), chain),
        Table("chain of 6", "12 × 10 × 8 × 6 × 5 × 4", sides(12, 10, 8, 6, 5, 4), chain),
        Table("chain of 7", "10 × 8 × 6 × 5 × 5 × 4 × 4", sides(10, 8, 6, 5, 5, 4, 4), chain),
        Table("flights", "month × hour × airport × carrier × delay band", FLIGHTS, departures),
        Table("flights by weekday", "the same × weekday", (*FLIGHTS, "weekday:0..6"), departures),
        Table("product", "16 × 12 × 8 × 6 × 4, all independent", sides(16, 12, 8, 6, 4), independent),
        Table(
            "hierarchy",
            "48 counties of 8 states × 10 × 2 × 8, which depend on the state",
            (f"county:{COUNTIES}", *sides(10, 2, 8)),
            hierarchical,
        ),
        Table(
            "rhythm",
            "182 days with a week × 8 wards × 5",
            ("day:2024-01-01..2024-06-30/1d", *sides(8, 5)),
            rhythmic,
        ),
    )
}

MARGINS = (1, 2, 3)
"""Of so many axes are the marginals that are asked."""


def margins(axes: int, order: int) -> list[tuple[int, ...]]:
    """The axes of all marginals of so many of them."""
    return list(combinations(range(axes), order))


def summed(table: Ints | Floats, kept: Sequence[int]) -> Floats:
    """A marginal."""
    return np.asarray(table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in kept)), dtype=np.float64)


def margin_error(counts: Ints, order: int, answer: Callable[[tuple[int, ...]], Floats | None]) -> float | None:
    """The mean over all marginals of so many axes of ‖true − estimate‖₁ / N; None if one is not answered."""
    found = []
    for kept in margins(counts.ndim, order):
        estimate = answer(kept)
        if estimate is None:
            return None
        found.append(float(np.abs(summed(counts, kept) - estimate).sum()) / max(int(counts.sum()), 1))
    return float(np.mean(found))
