"""CSV, read by rules that are the same whatever is in it.

Nothing is guessed: neither types nor separators nor quotes, for a guess looks at the data, and one person's record
could then change how everybody's are read. Every column is text, and numbers and times are read from it one by one.
Blanks around a field are no part of it, and an empty field is a missing value. A line is a record; one that is broken
is dropped before Arrow's reader sees it (see `sparsedp.ingest._csv_lines`).
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, BinaryIO

from sparsedp import validate
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest._columns import Needed, Source, plain_array, plain_type, short_names
from sparsedp.ingest._csv_lines import Bytes, Lines

_A_TASK = 1 << 20
"""Bytes that Arrow gives to one thread, or as many as the longest record has."""

_BLANKS = " \t"


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
            each.dropped, each.first = 0, []
            places = [names.index(column) for column in columns]
            for kept, longest in each.records(text.blocks(size)):
                for batch in _fields(kept, longest, each, places):
                    arrays = dict(zip(columns, map(_trimmed, batch.columns), strict=True))
                    yield pa.record_batch([arrays[one.column] for one in needed], schema=schema)

    def broken() -> tuple[int, list[str]]:
        return sum(each.dropped for each in lines), [line for each in lines for line in each.first]

    again = all(isinstance(source, str) for source in sources)
    return Source(schema, ("text",) * len(needed), batches, dialect, again, broken)


def _trimmed(array: Any) -> Any:
    """Text without the blanks around it; NULL where nothing is left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.ascii_trim(plain_array(array, plain_type(pa.string(), Needed(""))), characters=_BLANKS)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)


def _fields(kept: Bytes, longest: int, lines: Lines, places: Sequence[int]) -> list[Any]:
    """The fields at some places of all records."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(place) for place in range(lines.fields)]
    wanted = [names[place] for place in places]
    table = arrow_csv.read_csv(
        pa.py_buffer(kept),
        read_options=arrow_csv.ReadOptions(column_names=names, block_size=max(_A_TASK, longest + 2)),
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


# How CSV files are written: declared, never guessed, for a guess would look at the data.

_ENCODINGS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "latin-1": "latin-1",
    "latin1": "latin-1",
    "iso-8859-1": "latin-1",
    "cp1252": "cp1252",
    "windows-1252": "cp1252",
}
_DATE_PARTS = "dmYyjHIMSfp"
"""What may follow the % of a date format: numbers, and AM or PM. Names of months are of some language, zones of some
law."""

_WANTED = (
    'give csv={"delimiter": ";"}, with "quote", "decimal", "date_format", "encoding" and "multiline" where they are '
    "needed"
)


@dataclass(frozen=True)
class Dialect:
    """How fields are told apart and what is in them. A file named .tsv has tabs unless something else is said."""

    delimiter: str | None = None
    quote: str = '"'
    decimal: str = "."
    encoding: str = "utf-8"
    date_format: str | None = None
    date_formats: Mapping[str, str] = field(default_factory=dict)
    """By the names of columns, where they differ; other columns are as ISO 8601 says."""
    multiline: bool = False
    """Whether a field between quotes may hold line ends. A stray quote then takes other people's records with it."""

    def of(self, file: str) -> str:
        """The delimiter of a file."""
        return self.delimiter or ("\t" if ".tsv" in file.lower()[-8:] else ",")

    def written(self, column: str) -> dict[str, Any]:
        """How numbers and times in a column are written."""
        return {"point": self.decimal, "date_format": self.date_formats.get(column, self.date_format)}


def dialect_of(declared: object) -> Dialect:
    """From `csv={"delimiter": ";"}`; None is a comma, double quotes, a decimal point, ISO 8601 and UTF-8."""
    if declared is None:
        return Dialect()
    if not isinstance(declared, Mapping):
        raise InvalidInput("csv", f"of type {type(declared).__name__}", _WANTED)
    given: dict[str, Any] = {}
    for name, value in declared.items():
        if name not in ("delimiter", "quote", "decimal", "encoding", "date_format", "multiline"):
            raise InvalidInput("csv", f"a setting for {str(name)[:40]!r}", _WANTED)
        if name == "date_format":
            given |= _date_formats(value)
        elif name == "encoding":
            given["encoding"] = _encoding(value)
        elif name == "decimal":
            if value not in (".", ","):
                raise InvalidInput("csv['decimal']", repr(value)[:40], 'give "." or ","')
            given["decimal"] = value
        elif name == "multiline":
            given["multiline"] = validate.yes_or_no("csv['multiline']", value)
        else:
            if not isinstance(value, str) or len(value) != 1 or value in "\r\n" or not value.isascii():
                raise InvalidInput(f"csv[{name!r}]", "not one plain character", "give one, such as ; or '")
            given[str(name)] = value
    dialect = Dialect(**given)
    if dialect.delimiter == dialect.quote:
        raise InvalidInput("csv", "one character for both delimiter and quote", _WANTED)
    return dialect


def _encoding(value: object) -> str:
    known = _ENCODINGS.get(value.lower().replace("_", "-")) if isinstance(value, str) else None
    if known is None:
        raise InvalidInput("csv['encoding']", repr(value)[:40], 'give "utf-8", "latin-1" or "cp1252"')
    return known


def _date_formats(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"date_formats": {str(column): _date_format(value[column]) for column in sorted(value, key=str)}}
    return {"date_format": _date_format(value)}


def _date_format(value: object) -> str:
    """A format of which each part is known, and which says a day at least."""
    wanted = 'give a format such as "%d.%m.%Y" or "%m/%d/%Y %I:%M %p", or one for each column: {"day": "%d.%m.%Y"}'
    if not isinstance(value, str):
        raise InvalidInput("csv['date_format']", f"of type {type(value).__name__}", wanted)
    parts = set(re.findall("%(.?)", value))
    named = bool(parts & set("Yy")) and ({"d", "m"} <= parts or "j" in parts)
    if not named or not parts <= set(_DATE_PARTS) or not value.isascii() or not value.isprintable():
        raise InvalidInput("csv['date_format']", repr(value)[:40], wanted)
    return value


# The bytes of CSV, from a file or from a stream that can be read once only, as UTF-8.

HEADER = 1 << 20
"""Bytes within which the header ends."""

A_BLOCK = 4 << 20
"""Bytes that are read together."""

_MARK = b"\xef\xbb\xbf"

_CONTROLS = {0x81, 0x8D, 0x8F, 0x90, 0x9D}
"""Bytes that cp1252 gives no character to; like browsers we take the control character of that number."""


class CsvText:
    """One file, or a stream."""

    def __init__(self, source: str | BinaryIO, dialect: Dialect) -> None:
        self.name = source if isinstance(source, str) else "the stream"
        self.delimiter = dialect.of(self.name)
        self._source = source
        self._table = None if dialect.encoding == "utf-8" else _characters(dialect.encoding)
        self._start = self._read_start()

    @property
    def start(self) -> bytes:
        """Its first lines, without a mark of Unicode."""
        return self._encoded(self._start).removeprefix(_MARK)

    @property
    def goes_on(self) -> bool:
        """Whether there may be more than the start."""
        return len(self._start) == HEADER

    def blocks(self, header: int) -> Iterator[bytes]:
        """All of it after the header, which takes so many bytes of the start. A stream can be read once only."""
        if isinstance(self._source, str):
            with _packed(self._source) as stream:
                yield self._encoded(stream.read(len(self._start))).removeprefix(_MARK)[header:]
                while block := stream.read(A_BLOCK):
                    yield self._encoded(block)
            return
        yield self.start[header:]
        while block := _filled(self._source, A_BLOCK):
            yield self._encoded(block)

    def _encoded(self, read: bytes) -> bytes:
        return read if self._table is None else codecs.charmap_decode(read, "strict", self._table)[0].encode()

    def _read_start(self) -> bytes:
        import pyarrow as pa

        try:
            if isinstance(self._source, str):
                with _packed(self._source) as stream:
                    return bytes(stream.read(HEADER))
            return _filled(self._source, HEADER)
        except (OSError, pa.ArrowException):
            pass
        raise BadFile(f"The file {self.name} cannot be read; check that it is complete and not compressed otherwise.")


def _packed(path: str) -> Any:
    import pyarrow as pa

    return pa.input_stream(path, compression="detect")


def _filled(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, unless it ends before: pipes give what they have."""
    read = bytearray()
    while len(read) < size and (more := stream.read(size - len(read))):
        read += more
    return bytes(read)


def _characters(encoding: str) -> str:
    """The character of each byte; different bytes have different ones, and none is without."""
    return "".join(
        chr(byte) if encoding == "latin-1" or byte in _CONTROLS else bytes([byte]).decode(encoding)
        for byte in range(256)
    )
