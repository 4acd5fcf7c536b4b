"""From records to counts: `sparsedp.count`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sparsedp.arrays import Integers
from sparsedp.counts import Counts
from sparsedp.domain import Declared
from sparsedp.ingest.bounding import Reservoir
from sparsedp.ingest.counting import add_kept
from sparsedp.ingest.lookups import Lookups
from sparsedp.ingest.query import query_of
from sparsedp.ingest.records import Source
from sparsedp.ingest.request import Request, request_of
from sparsedp.ingest.session import guarded, session
from sparsedp.ingest.sources import source_of
from sparsedp.progress import stage
from sparsedp.quantity import Quantity
from sparsedp.validate import Number


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
    csv: Mapping[str, Any] | None = None,
    key: bytes | None = None,
) -> Counts:
    """Count records in the cells of a domain, each person at most `max_contributions` times.

    `domain` is a `Domain`, or its axes, as objects or as text: ["day:2024-01-01..2024-12-31", "sex:F,M"].
    `source` is a file, a folder or a glob of CSV or Parquet files, an open file of CSV, an Arrow table, dataset or
    reader, or a pandas or polars frame, with one record a row. `privacy_unit` is the column, or the columns, that say
    whose a record is; None declares that every record is another person's. `columns` names the column of an axis where
    it is not the axis' own name. With `value`, the cells hold sums of that column: each record's is rounded to the grid
    of `resolution` and clamped to the bounds of `clamp`.

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
    request = request_of(domain, privacy_unit, max_contributions, columns, outside, value, clamp, resolution, csv, key)
    with stage("counting records"):
        totals = _totals(request, source_of(source, request.needed, request.dialect))
    amounts = request.amounts
    return Counts(
        values=totals.reshape(request.domain.shape),
        domain=request.domain,
        contribution=request.contribution,
        privacy_unit=request.privacy_unit,
        max_contributions=request.max_contributions,
        quantity=Quantity() if amounts is None else Quantity(amounts.column, amounts.resolution),
        negative=amounts is not None and amounts.lowest < 0,
        multiline=request.dialect.multiline,
    )


def _totals(request: Request, source: Source) -> Integers:
    """Sorted by hashes first, where the records can be read again: should two people share one, by the people
    themselves. Both give the same totals, so that it does not matter to anybody which it was."""
    totals = _totals_in_order(request, source, by_hash=True) if source.again else None
    return cast(Integers, _totals_in_order(request, source, by_hash=False)) if totals is None else totals


def _totals_in_order(request: Request, source: Source, *, by_hash: bool) -> Integers | None:
    with session() as connection:

        def run() -> Integers | None:
            query = query_of(request, source.attach(connection, request.needed), Lookups(connection))
            sums = request.amounts is not None
            reservoir = Reservoir(request.domain.size, request.max_contributions, request.key, sums=sums)
            return add_kept(connection, query.cells, query.people, reservoir, sums=sums, by_hash=by_hash)

        return guarded(run)
