"""Records to count: a path as it is given, or CSV on standard input, read as it comes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from typing import Any

from sparsedp.cli.files import STANDARD
from sparsedp.errors import InvalidInput

A_BLOCK = 4 << 20
"""Bytes that are read together; no record may be longer."""


def records_from(source: str, dialect: dict[str, str] | None = None) -> Any:
    """What `sparsedp.count` reads. From standard input nothing is kept on disk: it is private."""
    if source != STANDARD:
        return source
    if sys.stdin.isatty():
        raise InvalidInput("standard input", "a terminal", "pipe CSV into it, or name a file")

    import pyarrow as pa

    delimiter = (dialect or {}).get("delimiter", ",")
    names = _header(delimiter)
    schema = pa.schema([(name, pa.large_string()) for name in names])
    return pa.RecordBatchReader.from_batches(schema, _batches(names, delimiter, schema))


def _header(delimiter: str) -> list[str]:
    first = sys.stdin.buffer.readline().decode("utf-8-sig", errors="replace").strip("\r\n")
    if len(delimiter) != 1:
        raise InvalidInput("delimiter", "not one character", "give one, such as ';'")
    names = next(csv.reader([first], delimiter=delimiter), [])
    if not any(names):
        raise InvalidInput("standard input", "empty", "pipe CSV into it whose first line names the columns")
    if len(set(names)) < len(names):
        raise InvalidInput("standard input", "CSV with two columns of one name", "rename one of them")
    return names


def _batches(names: list[str], delimiter: str, schema: Any) -> Iterator[Any]:
    """Every field as text, as CSV files are read: a guess at types would look at the data."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        reader = arrow_csv.open_csv(
            sys.stdin.buffer,
            read_options=arrow_csv.ReadOptions(block_size=A_BLOCK, column_names=names),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=lambda _: "skip"
            ),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pa.binary()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:  # no record behind the header
        return
    for batch in reader:
        # What is no UTF-8 is dropped where records are counted.
        yield pa.record_batch([column.cast(pa.large_string(), safe=False) for column in batch.columns], schema=schema)
