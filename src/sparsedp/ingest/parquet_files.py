"""Parquet files: their schemas first, which are public, then the records of one file after the other.

Arrow reads them and not DuckDB, which stops at text that is not UTF-8 and at a time beyond its calendar: one person's
value would then decide about everybody's records. Here each value stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest.arrow_columns import plain_array
from sparsedp.ingest.plain_types import Needed, PlainType, common_type, plain_type
from sparsedp.ingest.records import Source, check_columns, short_names

A_BATCH = 1 << 17
"""Records that are read together."""

_NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How Spark and Hive name the folder of a missing value."""


@dataclass(frozen=True)
class _File:
    """What is known of a file before any of its records is read."""

    path: str
    schema: Any
    int96: frozenset[str]
    """Its columns of the times that Spark wrote for long, which have no unit of their own."""
    in_folders: dict[str, str | None]
    """What the names of its folders say, as Spark and Hive write them: region=north/part-0.parquet."""

    def type_of(self, needed: Needed) -> PlainType:
        import pyarrow as pa

        own = needed.column in self.schema.names
        if needed.person and needed.column in self.int96:
            remedy = "times with nanoseconds cannot be told apart in it; write it as text, numbers or timestamps"
            raise InvalidInput(f"column {needed.column!r}", "a column of type INT96", remedy)
        return plain_type(self.schema.field(needed.column).type if own else pa.string(), needed)


def parquet_source(paths: Sequence[str], needed: Sequence[Needed]) -> Source:
    """All files, one after the other; each has the needed columns, in itself or in the names of its folders."""
    import pyarrow as pa

    files = [_opened(path, needed) for path in paths]
    types = [common_type(one, [file.type_of(one) for file in files]) for one in needed]
    schema = pa.schema([(short, one.arrow) for short, one in zip(short_names(needed), types, strict=True)])

    def batches() -> Iterator[Any]:
        for file in files:
            for batch in _batches(file, needed):
                arrays = [
                    plain_array(
                        batch.column(one.column)
                        if one.column in file.schema.names
                        else pa.repeat(pa.scalar(file.in_folders[one.column], pa.large_string()), batch.num_rows),
                        kind,
                    )
                    for one, kind in zip(needed, types, strict=True)
                ]
                yield pa.record_batch(arrays, schema=schema)

    return Source(schema, tuple(one.kind for one in types), batches)


def _batches(file: _File, needed: Sequence[Needed]) -> Iterator[Any]:
    own = list(dict.fromkeys(one.column for one in needed if one.column in file.schema.names))
    # Without buffering ahead: a group of rows may be as large as the file.
    with _parquet(file.path, pre_buffer=False, buffer_size=1 << 20) as parquet:
        yield from parquet.iter_batches(batch_size=A_BATCH, columns=own)


def _parquet(path: str, **options: Any) -> Any:
    import pyarrow.parquet as pq

    # INT96 in one unit, whatever is in it: microseconds, which reach far beyond all calendars.
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us", **options)


def _opened(path: str, needed: Sequence[Needed]) -> _File:
    import pyarrow as pa

    try:
        with _parquet(path) as parquet:
            columns = [parquet.schema.column(place) for place in range(len(parquet.schema))]
            int96 = frozenset(column.path for column in columns if column.physical_type == "INT96")
            schema = parquet.schema_arrow
    except (pa.ArrowException, OSError):
        schema = None
    if schema is None:
        raise BadFile(f"The file {path} is not a Parquet file, or is damaged; leave it out, or write it again.")
    parts = [part.partition("=") for part in Path(path).parent.parts if "=" in part]
    pairs = [(key, None if value == _NOTHING else unquote(value)) for key, _, value in parts]
    file = _File(path, schema, int96, dict(pairs))
    columns = [one.column for one in needed]
    check_columns(columns, [*schema.names, *file.in_folders], f" of {path}")
    for column in columns:
        _check_it_is_there_once(column, schema.names, [key for key, _ in pairs])
    return file


def _check_it_is_there_once(column: str, own: Sequence[str], in_folders: Sequence[str]) -> None:
    """Programs differ in which of two they take, and in whether capital letters tell names of folders apart."""
    in_path = [key for key in in_folders if key.casefold() == column.casefold()]
    if own.count(column) > 1:
        raise InvalidInput("source", f"a file with two columns named {column!r}", "rename one of them")
    if in_path and column in own:
        given = f"files in a folder named {in_path[0]}=… that have a column {column!r} too"
        raise InvalidInput("source", given, "rename the folder, or leave the column out of the files")
    if len(in_path) > 1:
        given = f"files below two folders named {in_path[0]}=… and {in_path[1]}=…"
        raise InvalidInput("source", given, "rename one of them")
