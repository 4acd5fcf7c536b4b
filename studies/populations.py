"""What intervals are asked of: every public row, square and table, calendars, and tables small enough for an oracle.

A population draws its records anew for each release, as many as are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.axes.domain import Domain
from sparsedp.datasets import flights
from sparsedp.mechanisms import Adaptive, Hierarchical, Laplace, Privelet
from studies.coverage import Measures, Streamed
from studies.inputs import Shape, available_inputs, blobs, shape_of, steps
from studies.tables import AIRPORTS, TABLES, chain, flight_days, rhythmic, sides

ADAPTIVE: Mapping[str, Measures] = {
    f"Adaptive {workload}": Adaptive(workload) for workload in ("any", "cells", "ranges", "marginals")
}
EXACT: Mapping[str, Measures] = {"Laplace": Laplace(), "Hierarchical": Hierarchical(), "Privelet": Privelet()}
STREAMS: Mapping[str, Measures] = {"stream": Streamed(), "stream with totals": Streamed("0.3")}
"""Of rows, under ε; only where they are asked for."""

MECHANISMS: Mapping[str, Measures] = {**ADAPTIVE, **EXACT, **STREAMS}

LONG_TABLES = ("chain of 4", "chain of 5", "flights", "product", "hierarchy", "rhythm")
"""Of studies/tables.py, those of moderate size."""


@dataclass(frozen=True)
class Population:
    """Something to draw records from. `draw` takes how many, and gives the counts of all cells."""

    name: str
    kind: str
    draw: Callable[[int, np.random.Generator], Ints]
    axes: tuple[str, ...] | None = None

    @property
    def domain(self) -> Domain | None:
        """Its axes, if they are named."""
        return None if self.axes is None else Domain.of(list(self.axes))

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Those that apply: marginals where there are axes with names, ranges where no more than two."""
        of_rows = ("Adaptive any", "Adaptive cells", "Adaptive ranges")
        if self.axes is None:
            return (*of_rows, *EXACT)
        if len(self.axes) <= 2:
            return (*of_rows, "Adaptive marginals", *EXACT)
        return ("Adaptive any", "Adaptive cells", "Adaptive marginals", "Laplace", "Privelet")


def _drawn_from(shape_of_it: Callable[[], Shape]) -> Callable[[int, np.random.Generator], Ints]:
    shape = cache(shape_of_it)

    def draw(total: int, random: np.random.Generator) -> Ints:
        return random.multinomial(total, shape().reshape(-1)).reshape(shape().shape).astype(np.int64)

    return draw


def _table(name: str) -> Population:
    table = TABLES[name]
    return Population(
        name, "tables", lambda total, random: table.counts(total, int(random.integers(2**31))), table.axes
    )


def _records(
    axes: tuple[str, ...], records: Callable[[tuple[int, ...], int, np.random.Generator], Ints]
) -> Callable[[int, np.random.Generator], Ints]:
    shape = Domain.of(list(axes)).shape

    def draw(total: int, random: np.random.Generator) -> Ints:
        counts = np.zeros(shape, np.int64)
        np.add.at(counts, tuple(records(shape, total, random).T), 1)
        return counts

    return draw


AIRPORT_DAYS = ("day:2013-01-01..2013-12-31/1d", f"origin:{','.join(AIRPORTS)}")
HOURS = ("t:2013-01-01..2013-12-31/1h",)
FOUR_WEEKS = ("day:2024-01-01..2024-01-28/1d", *sides(3))
"""84 cells: days with a week, by ward."""

SMALL_CHAIN = sides(6, 5, 4)


@cache
def populations() -> dict[str, Population]:
    """All that can be made here, by name."""
    public = [
        Population(name, "rows" if entry.shape().ndim == 1 else "squares", _drawn_from(entry.shape))
        for name, entry in available_inputs().items()
    ]
    calendars = [
        Population("flights by day", "calendars", _drawn_from(lambda: shape_of(flight_days())), AIRPORT_DAYS),
        Population("flights by hour", "calendars", _drawn_from(lambda: shape_of(flights.hourly_departures())), HOURS),
    ]
    small = [
        Population("row of 256", "small", _drawn_from(lambda: steps().reshape(256, 16).sum(axis=1))),
        Population("16 × 16", "small", _drawn_from(lambda: blobs().reshape(16, 4, 16, 4).sum(axis=(1, 3)))),
        Population("chain of 3", "small", _records(SMALL_CHAIN, chain), SMALL_CHAIN),
        Population("four weeks", "small", _records(FOUR_WEEKS, rhythmic), FOUR_WEEKS),
    ]
    return {each.name: each for each in (*public, *map(_table, LONG_TABLES), *calendars, *small)}
