"""Parquet files: their schemas first, which are public, then all of them as one relation.

DuckDB reads them itself, in parallel. Where it does not know a type, or stops at a value (text that is not UTF-8, a
time beyond its calendar), Arrow reads them instead, and that value alone is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest import sql_text
from sparsedp.ingest.arrow_columns import kind_of_type, plain_array, plain_type
from sparsedp.ingest.records import RECORDS, Attachment, check_columns, from_batches, short_names

if TYPE_CHECKING:
    import duckdb


def parquet_attachments(files: Sequence[str], columns: Sequence[str]) -> list[Attachment]:
    """The ways to read the files, the fast one first."""
    schemas = [_schema(file) for file in files]
    folders = [_in_folder_names(file) for file in files]
    for file, schema, named in zip(files, schemas, folders, strict=True):
        check_columns(columns, [*schema.names, *named], f" of {file}")
    types = [_type(column, schemas) for column in columns]
    with_arrow = _with_arrow(files, columns, types)
    hive = any(column not in schema.names for schema in schemas for column in columns)
    pairs = [(schema, named if hive else {}) for schema, named in zip(schemas, folders, strict=True)]
    if any(_is_ambiguous(column, schema, named) for column in columns for schema, named in pairs):
        return [with_arrow]
    return [_with_duckdb(files, columns, hive=hive), with_arrow]


def _is_ambiguous(column: str, schema: Any, named: dict[str, str | None]) -> bool:
    """DuckDB does not tell capital letters from small ones, and takes the name of a folder before a file's column."""
    return [name.lower() for name in (*schema.names, *named)].count(column.lower()) > 1


def _schema(file: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(file)
    except (pa.ArrowException, OSError):
        pass
    raise BadFile(f"The file {file} is not a Parquet file, or is damaged; leave it out, or write it again.")


def _in_folder_names(file: str) -> dict[str, str | None]:
    """What the names of folders say, as Spark and Hive write them: region=north/part-0.parquet."""
    pairs = [part.partition("=") for part in Path(file).parent.parts if "=" in part]
    return {key: None if value == _NOTHING else unquote(value) for key, _, value in pairs}


_NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How Spark and Hive name the folder of a missing value."""


def _type(column: str, schemas: Sequence[Any]) -> Any:
    """The one type that holds the column of every file."""
    import pyarrow as pa

    types = {
        plain_type(schema.field(column).type, column) if column in schema.names else pa.large_string()
        for schema in schemas
    }
    kinds = sorted({kind_of_type(one) for one in types})
    remedy = "write the files again with one type"
    if len(kinds) > 1:
        raise InvalidInput(f"column {column!r}", f"{kinds[0]} in one file and {kinds[1]} in another", remedy)
    try:
        fields = [pa.schema([("column", one)]) for one in types]
        return pa.unify_schemas(fields, promote_options="permissive").field("column").type
    except pa.ArrowException:
        pass
    raise InvalidInput(f"column {column!r}", "of different types in different files", remedy)


def _with_duckdb(files: Sequence[str], columns: Sequence[str], *, hive: bool) -> Attachment:
    def attach(connection: duckdb.DuckDBPyConnection) -> None:
        paths = ", ".join(sql_text.text(_literal(file)) for file in files)
        options = f"union_by_name=true, hive_partitioning={str(hive).lower()}, hive_types_autocast=false"
        pairs = zip(columns, short_names(columns), strict=True)
        selected = ", ".join(f"{sql_text.name(column)} AS {short}" for column, short in pairs)
        scan = f"SELECT {selected} FROM read_parquet([{paths}], {options})"  # noqa: S608
        connection.execute(f"CREATE TEMP VIEW {RECORDS} AS {scan}")

    return attach


def _literal(path: str) -> str:
    """DuckDB takes every path for a pattern; in brackets a character stands for itself."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in os.path.abspath(path))


def _with_arrow(files: Sequence[str], columns: Sequence[str], types: Sequence[Any]) -> Attachment:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(list(zip(short_names(columns), types, strict=True)))

    def batches() -> Iterator[Any]:
        for file in files:
            named = _in_folder_names(file)
            with pq.ParquetFile(file) as parquet:
                own = [column for column in columns if column in parquet.schema_arrow.names]
                for batch in parquet.iter_batches(columns=own):
                    arrays = [
                        plain_array(batch.column(column), kind)
                        if column in own
                        else pa.array([named[column]] * batch.num_rows, pa.large_string())
                        for column, kind in zip(columns, types, strict=True)
                    ]
                    yield pa.record_batch(arrays, schema=schema)

    return from_batches(schema, batches)
