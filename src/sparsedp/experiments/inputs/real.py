"""Shapes of real data: flights out of New York, and the paper's three files where the user has them."""

from __future__ import annotations

from sparsedp.datasets import flights
from sparsedp.datasets.paper_files import paper_file
from sparsedp.experiments.inputs.shape import CELLS, Shape, fitted, shape_of


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
