"""CSV, read by rules that are the same whatever is in it.

Nothing is guessed: neither types nor separators nor quotes, for a guess looks at the data, and one person's record
could then change how everybody's are read. Every column is text, and numbers and times are read from it one by one.
Blanks around a field are no part of it, and an empty field is a missing value. A record with too few or too many
fields is dropped, and so is text that is not UTF-8.

Arrow's reader is used and not DuckDB's, which gives up on all records after one with a stray quote. It gives up on one
that is longer than a block; that is a refusal, and it is said.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, BinaryIO

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest.arrow_columns import plain_array
from sparsedp.ingest.csv_dialect import Dialect
from sparsedp.ingest.csv_text import CsvText
from sparsedp.ingest.plain_types import Needed, plain_type
from sparsedp.ingest.records import Source, short_names

A_BLOCK = 16 << 20
"""Bytes that are read together; no record may be longer."""

BLANKS = " \t"


def csv_source(sources: Sequence[str | BinaryIO], needed: Sequence[Needed], dialect: Dialect) -> Source:
    """All files one after the other; each has a header of its own, in any order of columns."""
    import pyarrow as pa

    texts = [CsvText(source, dialect) for source in sources]
    columns = list(dict.fromkeys(one.column for one in needed))
    headers = [_header(text, columns, dialect) for text in texts]
    schema = pa.schema([(short, pa.large_string()) for short in short_names(needed)])

    def batches() -> Iterator[Any]:
        for text, header in zip(texts, headers, strict=True):
            for batch in _batches(text, header, columns, dialect):
                arrays = {column: _trimmed(batch.column(column)) for column in columns}
                yield pa.record_batch([arrays[one.column] for one in needed], schema=schema)

    again = all(isinstance(source, str) for source in sources)
    return Source(schema, ("text",) * len(needed), batches, dialect, again)


def _trimmed(array: Any) -> Any:
    """Text without the blanks around it; NULL where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.ascii_trim(plain_array(array, plain_type(pa.string(), Needed(""))), characters=BLANKS)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)


def _batches(text: CsvText, header: Sequence[str], columns: Sequence[str], dialect: Dialect) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Arrow would not know how many columns there are.
    if text.is_one_line:
        return
    with text.open() as stream:
        yield from arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(block_size=A_BLOCK),
            parse_options=arrow_csv.ParseOptions(
                delimiter=text.delimiter,
                quote_char=dialect.quote,
                newlines_in_values=True,
                invalid_row_handler=lambda _: "skip",
            ),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(columns, pa.binary()),
                include_columns=list(columns),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


def _header(text: CsvText, columns: Sequence[str], dialect: Dialect) -> list[str]:
    """The names in the first line, each needed one once; nothing after it is looked at."""
    lines = csv.reader(io.StringIO(text.start, newline=""), delimiter=text.delimiter, quotechar=dialect.quote)
    try:
        header = next(lines, [])
    except csv.Error:
        header = []
    if not any(header):
        given = f"The file {text.name}" if text.name != "the stream" else "The stream"
        raise BadFile(f"{given} is empty; give CSV whose first line names its columns.")
    for column in (*columns, *dialect.date_formats):
        if column not in header:
            raise _missing(column, header, text.name)
    for column in columns:
        if header.count(column) > 1:
            raise InvalidInput("source", f"a file with two columns named {column!r}", "rename one of them")
    return header


def _missing(column: str, header: Sequence[str], name: str) -> InvalidInput:
    """Where there is no header, the first line is somebody's record: none of it is said but what is like the name."""
    given = f"{column!r}, and the first line of {name}, which is taken for its header, has no such name"
    alike = [one for one in header if one.strip().casefold() == column.casefold()]
    near = alike or get_close_matches(column, header, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? Check" if near else "check"
    return InvalidInput(
        "column",
        given,
        f'{hint} the spelling, the separator (csv={{"delimiter": ";"}}) and that the first line names the columns',
    )
