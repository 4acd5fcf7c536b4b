"""From records to counts: `sparsedp.count`, its query, and, for owners alone, what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sparsedp.arrays import Ints
from sparsedp.axes.domain import Declared
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.ingest._cells import Lookups, steps_of
from sparsedp.ingest._columns import RECORDS, Needed, Source, SourceColumn
from sparsedp.ingest.bounding import PersonColumn, Reservoir, kept_totals, person_column
from sparsedp.ingest.request import Request
from sparsedp.ingest.session import guarded, session
from sparsedp.ingest.sources import source_of
from sparsedp.noise.source import fresh_word
from sparsedp.progress import stage
from sparsedp.validate import Number

# From records to counts: `sparsedp.count`.


def count(
    source: Any,
    domain: Declared,
    *,
    privacy_unit: str | Sequence[str] | None,
    max_contributions: int = 1,
    columns: Mapping[str, str] | None = None,
    outside: str | Mapping[str, str | int] = "drop",
    value: str | None = None,
    clamp: tuple[Number, Number] | None = None,
    resolution: Number | None = None,
    with_counts: bool = False,
    csv: Mapping[str, Any] | None = None,
    key: bytes | None = None,
) -> Counts:
    """Count records in the cells of a domain, each person at most `max_contributions` times.

    `domain` is a `Domain`, or its axes, as objects or as text: ["day:2024-01-01..2024-12-31", "sex:F,M"].
    `source` is a file, a folder or a glob of CSV or Parquet files, an open file of CSV, an Arrow table, dataset or
    reader, or a pandas or polars frame, with one record a row. `privacy_unit` is the column, or the columns, that say
    whose a record is; None declares that every record is another person's. `columns` names the column of an axis where
    it is not the axis' own name. With `value`, the cells hold sums of that column: each record's is rounded to the grid
    of `resolution` and clamped to the bounds of `clamp`; `with_counts` counts the same records beside the sums.

    Records of nobody (NULL, NaN) are dropped. So are those outside the domain, with `outside="drop"`; per axis it may
    say {"age": "clamp"}, the nearest end cell, or {"sex": "other"}, a declared label that collects all other values.
    What cannot be read is dropped. How many records were dropped is nowhere to be seen.

    Text is read by fixed rules, each field by itself: numbers in plain decimal notation ("12", "-1.5", "1e3"), times as
    ISO 8601 has them ("2024-03-05", "2024-03-05T14:30:00", with a blank for the T, with decimals of seconds, with
    "Z", "+02:00"), and nothing else. A time that names an offset is turned into the clock of the calendar's zone; a
    calendar without a zone takes the clock time as it is written. In CSV, blanks around a field are no part of it.

    Guarantee: adding or removing all records of one person changes the counts by at most `contribution` in L1, exactly,
    whatever the other records are and in whatever order they come (see `sparsedp.ingest.bounding`). Of more than
    `max_contributions` records in the domain a person keeps so many, each with the same chance, drawn by a secret that
    is fresh for every count; `key`, 16 bytes, fixes it in tests.

    `csv` declares how CSV files are written, where that is otherwise than comma, double quote, decimal point, ISO 8601
    and UTF-8: {"delimiter": ";", "quote": "'", "decimal": ",", "date_format": "%d.%m.%Y", "encoding": "latin-1"}. The
    format of dates is one for all columns, or a mapping of columns' names. A line of CSV is one record, and a line that
    is broken (a quote left open, too few or too many fields, bytes that are not of the encoding, more than 16 MB) is
    dropped alone. {"multiline": True} declares that fields between quotes may hold line ends. It costs a part of the
    guarantee below: a stray quote of one person can then drop other people's records. What is published says so.

    Memory has a bound, and what does not fit is sorted in a private temporary folder; the environment variable
    SPARSEDP_MEMORY changes it.
    """
    request = Request.of(
        source,
        domain,
        privacy_unit=privacy_unit,
        max_contributions=max_contributions,
        columns=columns,
        outside=outside,
        value=value,
        clamp=clamp,
        resolution=resolution,
        with_counts=with_counts,
        csv=csv,
    )
    return counted(request, key)


def counted(request: Request, key: bytes | None = None) -> Counts:
    """The records that were asked for, counted as `count` says; `key`, which decides whose are kept, as there."""
    words = _key(key)
    with stage("counting records"):
        totals, records = _totals(request, words, source_of(request.source, request.needed, request.dialect))
    found = Counts(
        values=totals.reshape(request.domain.shape),
        domain=request.domain,
        contribution=request.contribution,
        privacy_unit=request.privacy_unit,
        max_contributions=request.max_contributions,
        quantity=request.quantity,
        negative=request.negative,
        multiline=request.dialect.multiline,
    )
    if records is None:
        return found
    alone, values = request.of_counts, records.reshape(request.domain.shape)
    contribution, negative = alone.contribution, alone.negative
    counts = replace(found, values=values, contribution=contribution, quantity=alone.quantity, negative=negative)
    return replace(found, counts=counts)


Key = tuple[int, int]
"""Two secret words."""


def _key(key: object) -> Key:
    """Fresh words from the operating system, unless a test gives its own."""
    if key is not None and (not isinstance(key, bytes) or len(key) != 16):
        raise InvalidInput("key", "not 16 bytes", "leave it out: a fresh secret is drawn for each count")
    if key is None:
        return fresh_word(), fresh_word()
    return int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")


_Totals = tuple[Ints, Ints | None]
"""The totals, and how many records they are of, if that was asked."""


def _totals(request: Request, key: Key, source: Source) -> _Totals:
    """Sorted by hashes first, where the records can be read again: should two people share one, by the people
    themselves. Both give the same totals, so that it does not matter to anybody which it was."""
    totals = _totals_in_order(request, key, source, by_hash=True) if source.again else None
    return cast(_Totals, _totals_in_order(request, key, source, by_hash=False)) if totals is None else totals


def _totals_in_order(request: Request, key: Key, source: Source, *, by_hash: bool) -> _Totals | None:
    with session() as connection:

        def run() -> _Totals | None:
            query = _query_of(request, source.attach(connection, request.needed), Lookups(connection))
            sums = request.amounts is not None
            most, counts = request.max_contributions, request.with_counts
            reservoir = Reservoir(request.domain.size, most, key, sums=sums, counts=counts)
            totals = kept_totals(connection, query.cells, query.people, reservoir, sums=sums, by_hash=by_hash)
            return None if totals is None else (totals, reservoir.records)

        return guarded(run)


# The query of a count: for each record the person, the place on each axis and the steps it adds.


@dataclass(frozen=True)
class Query:
    """`places` has the columns of `people`, and for each axis the value x as it is read and its place p, and the steps;
    NULL for what is missing, unreadable or outside. `cells` has one cell in the place of all these."""

    people: tuple[PersonColumn, ...]
    places: str
    cells: str


def _query_of(request: Request, found: Mapping[Needed, SourceColumn], lookups: Lookups) -> Query:
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


# NOT PRIVATE: how many records a count leaves out, and why. For owners who hold the data and look at it themselves.
#
# Nothing that is published may come from here: these are exact numbers about the records.

_WARNING = "NOT PRIVATE: exact numbers about the records; for the data's owner alone, never to be published."


class NotPrivateLosses(dict[str, int]):
    """Why → how many records, the first reason of each; "read" is all of them, and "counted" is what was left."""

    def __repr__(self) -> str:
        return f"<{_WARNING} {dict(self)}>"

    __str__ = __repr__


def NOT_PRIVATE_losses(  # noqa: N802
    source: Any,
    domain: Any,
    *,
    privacy_unit: Any,
    max_contributions: int = 1,
    columns: Any = None,
    outside: Any = "drop",
    value: Any = None,
    clamp: Any = None,
    resolution: Any = None,
    csv: Any = None,
) -> NotPrivateLosses:
    """NOT PRIVATE. How many records `sparsedp.count` would read, leave out and count, with the same arguments.

    A record that is left out is told of once, by the first of these: it is a broken line of CSV; it has no unit; on an
    axis, in their order, it is missing or cannot be read, or is outside; its value is missing or cannot be read; its
    person has more than `max_contributions`.
    """
    request = Request.of(
        source,
        domain,
        privacy_unit=privacy_unit,
        max_contributions=max_contributions,
        columns=columns,
        outside=outside,
        value=value,
        clamp=clamp,
        resolution=resolution,
        csv=csv,
    )
    with stage("looking for what is left out"), session() as connection:

        def run() -> NotPrivateLosses:
            records = source_of(source, request.needed, request.dialect)
            found = records.attach(connection, request.needed)
            numbers = connection.execute(_aggregate(request, _query_of(request, found, Lookups(connection)))).fetchone()
            read, *others = (int(one or 0) for one in numbers or ())
            broken = records.broken()
            return NotPrivateLosses(zip(_reasons(request), (read + broken, broken, *others), strict=True))

        return guarded(run)


def _reasons(request: Request) -> list[str]:
    axes = [reason for name in request.domain.names for reason in (f"{name} unreadable", f"{name} outside")]
    value = [] if request.amounts is None else [f"{request.amounts.column} unreadable"]
    return ["read", "broken", "no unit", *axes, *value, "beyond max_contributions", "counted"]


def _aggregate(request: Request, query: Query) -> str:
    """One query: first by person, whose records beyond the bound are to be known, then over all of them."""
    units = [one.name for one in query.people]
    conditions = [" OR ".join(f"{unit} IS NULL" for unit in units) or "false"]
    for place in range(len(request.domain.axes)):
        conditions += [f"p{place} IS NULL AND x{place} IS NULL", f"p{place} IS NULL"]
    if request.amounts is not None:
        conditions.append("steps IS NULL")
    cases = " ".join(f"WHEN {condition} THEN {reason}" for reason, condition in enumerate(conditions))
    left = f"SELECT *, CASE {cases} ELSE {len(conditions)} END AS reason FROM ({query.places})"  # noqa: S608
    tallies = ", ".join(f"count(*) FILTER (reason = {reason}) AS n{reason}" for reason in range(len(conditions) + 1))
    grouped = f"GROUP BY {', '.join(units)}" if units else ""
    people = f"SELECT {tallies} FROM ({left}) {grouped}"  # noqa: S608
    good = f"n{len(conditions)}"
    kept = f"least({good}, {request.max_contributions})" if units else good
    everything = " + ".join(f"n{reason}" for reason in range(len(conditions) + 1))
    sums = [everything, *(f"n{reason}" for reason in range(len(conditions))), f"{good} - {kept}", kept]
    return f"SELECT {', '.join(f'sum({one})' for one in sums)} FROM ({people})"  # noqa: S608
