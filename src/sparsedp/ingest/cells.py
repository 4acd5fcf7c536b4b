"""From the axes of a domain to SQL: the cell of each record, or NULL where it is outside.

Each axis takes three steps, one query inside the other, so that nothing is worked out twice: the value as it is read
from its column, the same by the axis' clock (calendars only), and its place among the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput
from sparsedp.ingest import sql_text
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.lookups import Lookups
from sparsedp.ingest.numbers import real_number, whole_number
from sparsedp.ingest.outside import Outside
from sparsedp.ingest.times import by_the_clock, times
from sparsedp.moments import EPOCH, MICROSECOND

A_NUMBER = "give a column of numbers for this axis"


@dataclass(frozen=True)
class AxisSteps:
    """The three steps, in terms of the names x and z that the step before gave its value and, of times, its clock."""

    read: str
    zoned: str
    clocked: str
    place: str
    join: str = ""


def steps_of(axis: Axis, column: SourceColumn, outside: Outside, lookups: Lookups, x: str, z: str) -> AxisSteps:
    """How the values of a column find their cells on an axis."""
    if isinstance(axis, Bins):
        return _bins(axis, column, outside, lookups, x)
    if isinstance(axis, Integers):
        first, last = sql_text.whole(axis.first), sql_text.whole(axis.last)
        place = _between(x, first, last, f"{x} - {first}", axis.length, outside)
        return AxisSteps(whole_number(column, A_NUMBER), "false", x, place)
    if isinstance(axis, Calendar):
        return _calendar(axis, column, outside, lookups, x, z)
    if isinstance(axis, Categories):
        return _categories(axis, column, outside, lookups, x)
    raise InvalidInput("domain", f"with an axis of type {type(axis).__name__}", "use the axes of this library")


def _bins(axis: Bins, column: SourceColumn, outside: Outside, lookups: Lookups, x: str) -> AxisSteps:
    if column.type == "UBIGINT":
        # From 2⁶³ on as floats, which is how `Bins.index_of` compares them.
        small = _whole_place(axis, f"TRY_CAST({x} AS BIGINT)", outside, lookups)
        large = _real_place(axis.edges, f"CAST({x} AS DOUBLE)", outside, lookups)
        place = f"CASE WHEN {x} < {2**63} THEN {small} ELSE {large} END"
        return AxisSteps(column.sql, "false", x, place)
    if column.kind in ("whole numbers", "truth values"):
        return AxisSteps(whole_number(column, A_NUMBER), "false", x, _whole_place(axis, x, outside, lookups))
    edges = axis.edges
    if column.type == "FLOAT":
        # Compared with the edges rounded to as many digits: 0.1 as a float32 is then in the bin that begins at 0.1.
        with np.errstate(over="ignore"):
            edges = tuple(float(edge) for edge in np.array(edges).astype(np.float32))
    return AxisSteps(real_number(column, A_NUMBER), "false", x, _real_place(edges, x, outside, lookups))


def _real_place(edges: Sequence[float], x: str, outside: Outside, lookups: Lookups) -> str:
    found = lookups.among_floats(x, edges[1:-1], range(len(edges) - 1))
    return _between(x, sql_text.double(edges[0]), sql_text.double(edges[-1]), found, len(edges) - 1, outside)


def _whole_place(axis: Bins, x: str, outside: Outside, lookups: Lookups) -> str:
    """For a whole number, v ≥ edge and v ≥ ⌈edge⌉ say the same; turned into floats, large ones would be rounded."""
    beyond = 2**64
    first = ceil(max(axis.edges[0], -beyond))
    last = floor(min(axis.edges[-1], beyond))
    inner = [max(ceil(max(edge, -beyond)), -(2**63)) for edge in axis.edges[1:-1] if edge < 2.0**63]
    found = lookups.among_integers(x, inner, range(len(inner) + 1))
    return _between(x, sql_text.whole(first), sql_text.whole(last), found, axis.length, outside)


def _between(x: str, first: str, last: str, found: str, length: int, outside: Outside) -> str:
    """The place from first to last, both included; beyond them the nearest cell, if that is declared."""
    beyond = f" WHEN {x} < {first} THEN 0 WHEN {x} > {last} THEN {length - 1}" if outside.clamp else ""
    return f"CASE WHEN {x} >= {first} AND {x} <= {last} THEN {found}{beyond} END"


def _calendar(axis: Calendar, column: SourceColumn, outside: Outside, lookups: Lookups, x: str, z: str) -> AxisSteps:
    read = times(column, axis)
    first, end = ((moment - EPOCH) // MICROSECOND for moment in (axis.first, axis.end))
    if axis.step_months is None:
        found = f"({x} - ({first})) // {axis.step_microseconds}"
    else:
        month = axis.first.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        moment = f"make_timestamp({x} - {(axis.first - month) // MICROSECOND})"
        months = f"date_part('year', {moment}) * 12 + date_part('month', {moment})"
        found = f"({months} - {month.year * 12 + month.month}) // {axis.step_months}"
    place = _between(x, f"({first})", f"({end - 1})", found, axis.length, outside)
    return AxisSteps(read.microseconds, read.instants, by_the_clock(x, z, axis, lookups), place)


def _categories(axis: Categories, column: SourceColumn, outside: Outside, lookups: Lookups, x: str) -> AxisSteps:
    if isinstance(axis.labels[0], int):
        read = f"TRY_CAST({whole_number(column, A_NUMBER)} AS BIGINT)"
    elif column.kind == "text":
        read = column.sql
    else:
        raise column.refuse("give a column of text, or declare labels that are numbers")
    table = lookups.labels(axis.labels)
    place = f"{table}.place" if outside.collects is None else f"coalesce({table}.place, {outside.collects})"
    return AxisSteps(read, "false", x, place, f"LEFT JOIN {table} ON {table}.label = {x}")
