"""CSV, read by rules that are the same whatever is in it.

Nothing is guessed: neither types nor separators nor quotes, for a guess looks at the data, and one person's record
could then change how everybody's are read. Every column is text, and numbers and times are read from it one by one.
Blanks around a field are no part of it, and an empty field is a missing value. A line is a record; one that is broken
is dropped before Arrow's reader sees it (see `sparsedp.ingest._csv_lines`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, BinaryIO

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest._csv_lines import Bytes, Lines
from sparsedp.ingest.arrow_columns import plain_array
from sparsedp.ingest.csv_dialect import Dialect
from sparsedp.ingest.csv_text import HEADER, CsvText
from sparsedp.ingest.plain_types import Needed, plain_type
from sparsedp.ingest.records import Source, short_names

A_TASK = 1 << 20
"""Bytes that Arrow gives to one thread, or as many as the longest record has."""

BLANKS = " \t"


def csv_source(sources: Sequence[str | BinaryIO], needed: Sequence[Needed], dialect: Dialect) -> Source:
    """All files one after the other; each has a header of its own, in any order of columns."""
    import pyarrow as pa

    texts = [CsvText(source, dialect) for source in sources]
    columns = list(dict.fromkeys(one.column for one in needed))
    headers = [_header(text, columns, dialect) for text in texts]
    lines = [
        Lines(text.delimiter, dialect.quote, len(names), dialect.multiline)
        for text, (names, _) in zip(texts, headers, strict=True)
    ]
    schema = pa.schema([(short, pa.large_string()) for short in short_names(needed)])

    def batches() -> Iterator[Any]:
        for text, (names, size), each in zip(texts, headers, lines, strict=True):
            each.dropped = 0
            places = [names.index(column) for column in columns]
            for kept, longest in each.records(text.blocks(size)):
                for batch in _fields(kept, longest, each, places):
                    arrays = dict(zip(columns, map(_trimmed, batch.columns), strict=True))
                    yield pa.record_batch([arrays[one.column] for one in needed], schema=schema)

    again = all(isinstance(source, str) for source in sources)
    return Source(schema, ("text",) * len(needed), batches, dialect, again, lambda: sum(each.dropped for each in lines))


def _trimmed(array: Any) -> Any:
    """Text without the blanks around it; NULL where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.ascii_trim(plain_array(array, plain_type(pa.string(), Needed(""))), characters=BLANKS)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)


def _fields(kept: Bytes, longest: int, lines: Lines, places: Sequence[int]) -> list[Any]:
    """The fields at some places of all records."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(place) for place in range(lines.fields)]
    wanted = [names[place] for place in places]
    table = arrow_csv.read_csv(
        pa.py_buffer(kept),
        read_options=arrow_csv.ReadOptions(column_names=names, block_size=max(A_TASK, longest + 2)),
        parse_options=arrow_csv.ParseOptions(
            delimiter=lines.delimiter, quote_char=lines.quote, newlines_in_values=lines.multiline
        ),
        convert_options=arrow_csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(wanted, pa.binary()),
            include_columns=wanted,
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return list(table.to_batches())


def _header(text: CsvText, columns: Sequence[str], dialect: Dialect) -> tuple[list[str], int]:
    """The names in the first line, each needed one once, and how many bytes it takes; nothing after it is looked at."""
    lines = text.start.splitlines(keepends=True)
    first = lines if dialect.multiline else lines[:1]
    reader = csv.reader(
        (line.decode(errors="replace") for line in first),
        delimiter=text.delimiter,
        quotechar=dialect.quote,
        strict=True,
    )
    try:
        header = next(reader, [])
    except csv.Error:
        header = []
    size = sum(map(len, lines[: reader.line_num]))
    if text.goes_on and size >= len(text.start):
        raise _no_header(text, f"has a first line of more than {HEADER >> 20} MB")
    if not any(header):
        raise _no_header(text, "has a broken first line" if any(line.strip() for line in lines[:1]) else "is empty")
    for column in (*columns, *dialect.date_formats):
        if column not in header:
            raise _missing(column, header, text.name)
    for column in columns:
        if header.count(column) > 1:
            raise InvalidInput("source", f"a file with two columns named {column!r}", "rename one of them")
    return header, size


def _no_header(text: CsvText, what: str) -> BadFile:
    given = f"The file {text.name}" if text.name != "the stream" else "The stream"
    return BadFile(f"{given} {what}; give CSV whose first line names its columns.")


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
