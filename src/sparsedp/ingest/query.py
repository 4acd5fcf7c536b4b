"""The query of a count: for each record the person, the place on each axis and the steps it adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparsedp.ingest.cells import steps_of
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.lookups import Lookups
from sparsedp.ingest.people import PersonColumn, person_column
from sparsedp.ingest.plain_types import Needed
from sparsedp.ingest.records import RECORDS
from sparsedp.ingest.request import Request


@dataclass(frozen=True)
class Query:
    """`places` has the columns of `people`, and for each axis the value x as it is read and its place p, and the steps;
    NULL for what is missing, unreadable or outside. `cells` has one cell in the place of all these."""

    people: tuple[PersonColumn, ...]
    places: str
    cells: str


def query_of(request: Request, found: Mapping[Needed, SourceColumn], lookups: Lookups) -> Query:
    """The query for columns as a connection has them."""
    units = enumerate(request.privacy_unit or ())
    people = tuple(person_column(f"u{place}", found[Needed(column, person=True)]) for place, column in units)
    axes = [
        steps_of(axis, found[Needed(column)], outside, lookups, f"x{place}", f"z{place}")
        for place, (axis, column, outside) in enumerate(
            zip(request.domain.axes, request.axis_columns, request.outside, strict=True)
        )
    ]
    steps = "1" if request.amounts is None else request.amounts.steps(found[Needed(request.amounts.column)])
    names = "".join(f"{one.name}, " for one in people)
    told = "".join(f"{one.sql} AS {one.name}, " for one in people)
    read = "".join(f"{axis.read} AS x{place}, {axis.zoned} AS z{place}, " for place, axis in enumerate(axes))
    clocked = "".join(f"{axis.clocked} AS x{place}, " for place, axis in enumerate(axes))
    placed = "".join(f"x{place}, {axis.place} AS p{place}, " for place, axis in enumerate(axes))
    joins = " ".join(axis.join for axis in axes)
    query = f"SELECT {told}{read}CAST({steps} AS BIGINT) AS steps FROM {RECORDS}"  # noqa: S608
    query = f"SELECT {names}{clocked}steps FROM ({query})"  # noqa: S608
    places = f"SELECT {names}{placed}steps FROM ({query}) {joins}"  # noqa: S608
    cell = "0"
    for place, length in enumerate(request.domain.shape):
        cell = f"({cell}) * {length} + p{place}"
    cells = f"SELECT {names}steps, CAST({cell} AS INTEGER) AS cell FROM ({places})"  # noqa: S608
    return Query(people, places, cells)
