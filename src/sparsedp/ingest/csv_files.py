"""CSV files, read by rules that are the same whatever is in them.

Nothing is guessed: neither types nor separators nor quotes, for a guess looks at the data, and one person's record
could then change how everybody's are read. Every column is text, and numbers and times are read from it one by one. A
record with too few or too many fields is dropped, and so is text that is not UTF-8; an empty field is a missing value.

Arrow's reader is used and not DuckDB's, which gives up on all records after one with a stray quote.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest.arrow_columns import plain_array
from sparsedp.ingest.records import Attachment, check_columns, from_batches, short_names

A_BLOCK = 16 << 20
"""Bytes that are read together; no record may be longer."""

_HEADER = 1 << 20
"""Bytes within which the header ends."""


@dataclass(frozen=True)
class Dialect:
    """How fields are told apart. Declared, never guessed; a file named .tsv has tabs unless something else is said."""

    delimiter: str | None = None
    quote: str = '"'

    def of(self, file: str) -> str:
        """The delimiter of a file."""
        return self.delimiter or ("\t" if ".tsv" in file.lower()[-8:] else ",")


def dialect_of(declared: object) -> Dialect:
    """From `csv={"delimiter": ";"}`; None is a comma and double quotes."""
    if declared is None:
        return Dialect()
    wanted = 'give csv={"delimiter": ";"}, with "quote" too if it is not the double quote'
    if not isinstance(declared, Mapping):
        raise InvalidInput("csv", f"of type {type(declared).__name__}", wanted)
    for name, value in declared.items():
        if name not in ("delimiter", "quote"):
            raise InvalidInput("csv", f"a setting for {str(name)[:40]!r}", wanted)
        if not isinstance(value, str) or len(value) != 1 or value in "\r\n" or not value.isascii():
            raise InvalidInput(f"csv[{name!r}]", "not one plain character", wanted)
    dialect = Dialect(**declared)
    if dialect.delimiter == dialect.quote:
        raise InvalidInput("csv", "one character for both delimiter and quote", wanted)
    return dialect


def csv_attachment(files: Sequence[str], columns: Sequence[str], dialect: Dialect) -> Attachment:
    """All files one after the other; each has a header of its own, in any order of columns."""
    import pyarrow as pa

    for file in files:
        header = _header(file, dialect)
        check_columns(columns, header, f" of {file}")
        for column in columns:
            if header.count(column) > 1:
                raise InvalidInput("source", f"a file with two columns named {column!r}", "rename one of them")
    schema = pa.schema([(short, pa.large_string()) for short in short_names(columns)])

    def batches() -> Iterator[Any]:
        for file in files:
            for batch in _batches(file, columns, dialect):
                arrays = [plain_array(batch.column(column), pa.large_string()) for column in columns]
                yield pa.record_batch(arrays, schema=schema)

    return from_batches(schema, batches)


def _batches(file: str, columns: Sequence[str], dialect: Dialect) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if _has_only_a_header(file):
        return
    with pa.input_stream(file, compression="detect") as stream:
        yield from arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(block_size=A_BLOCK),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.of(file),
                quote_char=dialect.quote,
                newlines_in_values=True,
                invalid_row_handler=lambda _: "skip",
            ),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(columns, pa.binary()),
                include_columns=list(dict.fromkeys(columns)),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


def _start(file: str) -> bytes:
    import pyarrow as pa

    try:
        with pa.input_stream(file, compression="detect") as stream:
            return bytes(stream.read(_HEADER))
    except (OSError, pa.ArrowException):
        pass
    raise BadFile(f"The file {file} cannot be read; check that it is complete and not compressed in another way.")


def _header(file: str, dialect: Dialect) -> list[str]:
    """The names in the first line; nothing after it is looked at."""
    start = _start(file).decode("utf-8-sig", errors="replace")
    lines = csv.reader(io.StringIO(start, newline=""), delimiter=dialect.of(file), quotechar=dialect.quote)
    try:
        header = next(lines, [])
    except csv.Error:
        header = []
    if not any(header):
        raise BadFile(f"The file {file} is empty; give a CSV file whose first line names its columns.")
    return header


def _has_only_a_header(file: str) -> bool:
    """Without an end to its only line, where Arrow would not know how many columns there are."""
    start = _start(file).removeprefix(b"\xef\xbb\xbf")
    return len(start) < _HEADER and b"\n" not in start and b"\r" not in start
