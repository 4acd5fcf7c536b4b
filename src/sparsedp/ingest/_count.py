"""From records to counts: `sparsedp.count`, and its query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sparsedp.axes.domain import Declared
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.ingest._cells import Lookups, steps_of
from sparsedp.ingest._columns import RECORDS, Needed, Source, SourceColumn
from sparsedp.ingest.bounding import PersonColumn, Reservoir, fill, person_column
from sparsedp.ingest.request import AUTO, Request
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
    What cannot be read is dropped. How many records were dropped is nowhere to be seen; `sparsedp.check` tells owners.

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
    _check_is_bounded(request)
    if request.clamp_is_chosen:
        remedy = (
            "give bounds: only `sparsedp.publish` and `sparsedp release` choose them, with a part of what they spend"
        )
        raise InvalidInput("clamp", repr(AUTO), remedy)
    return counted(request, key)


def _check_is_bounded(request: Request) -> None:
    """A bound is chosen where it is paid for, or given."""
    if request.chosen:
        remedy = "give a number: `sparsedp.publish` and `sparsedp release` choose one, as a part of what they spend"
        raise InvalidInput("max_contributions", repr(AUTO), remedy)


def counted(
    request: Request, key: bytes | None = None, *, if_none: Callable[[Request, Source], None] | None = None
) -> Counts:
    """The records that were asked for, counted as `count` says; `key`, which decides whose are kept, as there.

    `if_none`: called if not a single record came into the table; of a source that can be read once, with a part of it.
    """
    words = _key(key)
    with stage("counting records"):
        source = source_of(request.source, request.needed, request.dialect)
        if request.chosen and not source.again:
            given = f"{AUTO!r} for records that can be read only once"
            raise InvalidInput("max_contributions", given, "save them in a file, and give its name; or give a number")
        if request.clamp_is_chosen and not source.again:
            given = f"{AUTO!r} for records that can be read only once"
            raise InvalidInput("clamp", given, "save them in a file, and give its name; or give bounds")
        if if_none is not None and not source.again:
            source = source.with_a_part_kept()
        reservoir = _kept(request, words, source)
    if if_none is not None and reservoir.empty:
        if_none(request, source)
    totals, records, people = reservoir.totals(), reservoir.records, reservoir.people
    found = Counts(
        values=totals.reshape(request.domain.shape),
        domain=request.domain,
        contribution=request.contribution,
        privacy_unit=request.privacy_unit,
        max_contributions=request.max_contributions,
        quantity=request.quantity,
        negative=request.negative,
        multiline=request.dialect.multiline,
        people=None if request.privacy_unit is None else people,
        chosen=request.chosen,
        sizes=reservoir.sizes,
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


def _kept(request: Request, key: Key, source: Source) -> Reservoir:
    """Sorted by hashes first, where the records can be read again: should two people share one, by the people
    themselves. Both give the same totals, so that it does not matter to anybody which it was."""
    kept = _kept_in_order(request, key, source, by_hash=True) if source.again else None
    return cast(Reservoir, _kept_in_order(request, key, source, by_hash=False)) if kept is None else kept


def _kept_in_order(request: Request, key: Key, source: Source, *, by_hash: bool) -> Reservoir | None:
    with session() as connection:

        def run() -> Reservoir | None:
            query = query_of(request, source.attach(connection, request.needed), Lookups(connection))
            sums = request.amounts is not None
            most, counts, bins = request.max_contributions, request.with_counts, request.bins
            wanted = {"sums": sums, "counts": counts, "sizes": request.clamp_is_chosen}
            reservoir = Reservoir(request.domain.size, most, key, bins=bins, **wanted)
            apart = fill(reservoir, connection, query.cells, query.people, sums=sums, by_hash=by_hash)
            return reservoir if apart else None

        return guarded(run)


# The query of a count: for each record the person, the place on each axis and the steps it adds.


@dataclass(frozen=True)
class Query:
    """`places` has the columns of `people`; for each axis the value r as the source has it, x as it is read, and its
    place p; and the steps, with the amount that they are of and whether that is beyond its bounds. NULL is what is
    missing, unreadable or outside. `cells` has one cell in the place of all these."""

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
    steps, beyond, amount = "1", "false", "NULL"
    if request.amounts is not None:
        summed = found[Needed(request.amounts.column)]
        steps, beyond, amount = request.amounts.steps(summed), request.amounts.beyond(summed), summed.sql
    names = "".join(f"{one.name}, " for one in people)
    told = "".join(f"{one.sql} AS {one.name}, " for one in people)
    given = "".join(f"{found[Needed(name)].sql} AS r{place}, " for place, name in enumerate(request.axis_columns))
    read = "".join(f"{axis.read} AS x{place}, {axis.zoned} AS z{place}, " for place, axis in enumerate(axes))
    clocked = "".join(f"r{place}, {axis.clocked} AS x{place}, " for place, axis in enumerate(axes))
    placed = "".join(f"r{place}, x{place}, {axis.place} AS p{place}, " for place, axis in enumerate(axes))
    joins = " ".join(axis.join for axis in axes)
    query = f"SELECT {told}{given}{read}CAST({steps} AS BIGINT) AS steps, {amount} AS amount, {beyond} AS beyond"
    query = f"SELECT {names}{clocked}steps, amount, beyond FROM ({query} FROM {RECORDS})"  # noqa: S608
    places = f"SELECT {names}{placed}steps, amount, beyond FROM ({query}) {joins}"  # noqa: S608
    cell = "0"
    for place, length in enumerate(request.domain.shape):
        cell = f"({cell}) * {length} + p{place}"
    cells = f"SELECT {names}steps, CAST({cell} AS INTEGER) AS cell FROM ({places})"  # noqa: S608
    return Query(people, places, cells)
