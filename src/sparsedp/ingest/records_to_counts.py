"""From records to counts: `sparsedp.count`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sparsedp.arrays import Integers
from sparsedp.counts import Counts
from sparsedp.domain import Domain
from sparsedp.ingest.bounding import Reservoir
from sparsedp.ingest.cells import steps_of
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.counting import add_kept
from sparsedp.ingest.lookups import Lookups
from sparsedp.ingest.people import PersonColumn, person_column
from sparsedp.ingest.records import RECORDS, Attachment, described
from sparsedp.ingest.request import Request, request_of
from sparsedp.ingest.session import UnreadableRecords, guarded, session
from sparsedp.ingest.sources import attachments
from sparsedp.progress import stage
from sparsedp.quantity import Quantity
from sparsedp.validate import Number


def count(
    source: Any,
    domain: Domain,
    *,
    privacy_unit: str | Sequence[str] | None,
    max_contributions: int = 1,
    columns: Mapping[str, str] | None = None,
    outside: str | Mapping[str, str | int] = "drop",
    value: str | None = None,
    clamp: tuple[Number, Number] | None = None,
    resolution: Number | None = None,
    csv: Mapping[str, str] | None = None,
    key: bytes | None = None,
) -> Counts:
    """Count records in the cells of a domain, each person at most `max_contributions` times.

    `source` is a file, a folder or a glob of CSV or Parquet files, an Arrow table, dataset or reader, or a pandas or
    polars frame, with one record a row. `privacy_unit` is the column, or the columns, that say whose a record is; None
    declares that every record is another person's. `columns` names the column of an axis where it is not the axis' own
    name. With `value`, the cells hold sums of that column: each record's is rounded to the grid of `resolution` and
    clamped to the bounds of `clamp`.

    Records of nobody (NULL, NaN) are dropped. So are those outside the domain, with `outside="drop"`; per axis it may
    say {"age": "clamp"}, the nearest end cell, or {"sex": "other"}, a declared label that collects all other values.
    What cannot be read is dropped. How many records were dropped is nowhere to be seen.

    Guarantee: adding or removing all records of one person changes the counts by at most `contribution` in L1, exactly,
    whatever the other records are and in whatever order they come (see `sparsedp.ingest.bounding`). Of more than
    `max_contributions` records in the domain a person keeps so many, each with the same chance, drawn by a secret that
    is fresh for every count; `key`, 16 bytes, fixes it in tests.

    `csv={"delimiter": ";"}` declares how the fields of CSV files are separated. At most 1 GB of memory is used, and
    what does not fit is sorted in a private temporary folder; the environment variable SPARSEDP_MEMORY changes it.
    """
    request = request_of(domain, privacy_unit, max_contributions, columns, outside, value, clamp, resolution, csv, key)
    with stage("counting records"):
        totals = _totals(request, attachments(source, request.columns, request.dialect))
    amounts = request.amounts
    return Counts(
        values=totals.reshape(request.domain.shape),
        domain=request.domain,
        contribution=request.contribution,
        privacy_unit=request.privacy_unit,
        max_contributions=request.max_contributions,
        quantity=Quantity() if amounts is None else Quantity(amounts.column, amounts.resolution),
        negative=amounts is not None and amounts.lowest < 0,
    )


def _totals(request: Request, ways: Sequence[Attachment]) -> Integers:
    """By the first way that reads the records to the end."""
    for attach in ways[:-1]:
        try:
            return _totals_by(request, attach)
        except UnreadableRecords:
            continue
    return _totals_by(request, ways[-1])


def _totals_by(request: Request, attach: Attachment) -> Integers:
    with session() as connection:

        def run() -> Integers:
            attach(connection)
            found = described(connection, request.columns)
            units = enumerate(request.privacy_unit or ())
            people = [person_column(f"u{place}", found[column]) for place, column in units]
            cells = _cells(request, found, people, Lookups(connection))
            reservoir = Reservoir(request.domain.size, request.max_contributions, request.key)
            return add_kept(connection, cells, people, reservoir, sums=request.amounts is not None)

        return guarded(run)


def _cells(
    request: Request, found: Mapping[str, SourceColumn], people: Sequence[PersonColumn], lookups: Lookups
) -> str:
    """A query for the person, the cell and the steps of each record; NULL for what is not counted."""
    axes = [
        steps_of(axis, found[column], outside, lookups, f"x{place}", f"z{place}")
        for place, (axis, column, outside) in enumerate(
            zip(request.domain.axes, request.axis_columns, request.outside, strict=True)
        )
    ]
    steps = "1" if request.amounts is None else request.amounts.steps(found[request.amounts.column])
    cell = "0"
    for axis, length in zip(axes, request.domain.shape, strict=True):
        cell = f"({cell}) * {length} + ({axis.place})"
    names = "".join(f"{one.name}, " for one in people)
    told = "".join(f"{one.sql} AS {one.name}, " for one in people)
    read = "".join(f"{axis.read} AS x{place}, {axis.zoned} AS z{place}, " for place, axis in enumerate(axes))
    clocked = "".join(f"{axis.clocked} AS x{place}, " for place, axis in enumerate(axes))
    joins = " ".join(axis.join for axis in axes)
    query = f"SELECT {told}{read}CAST({steps} AS BIGINT) AS steps FROM {RECORDS}"  # noqa: S608
    query = f"SELECT {names}{clocked}steps FROM ({query})"  # noqa: S608
    return f"SELECT {names}steps, CAST({cell} AS INTEGER) AS cell FROM ({query}) {joins}"  # noqa: S608
