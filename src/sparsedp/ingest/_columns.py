"""The source of a count, whatever it is, as one relation of the columns that are needed.

The few types that columns are read in are chosen from declared types alone: no value has a say in it. Queries know
whole numbers, floats, decimals, truth values, text and bytes. Dates and times come to them as whole numbers of ticks,
so that no time is beyond the engine's own calendar. What tells people apart keeps every digit that it has; what is
counted has microseconds.

No value can then stop a query. One that its type cannot hold, or that is out of range, becomes NULL, and so does text
that is not UTF-8 and what is longer than any name or number. Each value is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    import duckdb

    from sparsedp.ingest._csv import Dialect


RECORDS = "sparsedp_records"
"""What queries call the relation; its columns have the names of `short_names`, in the order they were asked for."""


@dataclass(frozen=True)
class Source:
    """Batches of records that have the schema, what each of its columns holds, and how text in it was declared.

    There is one way to read a source, chosen before any record is: no record decides how others are read.
    """

    schema: Any
    kinds: tuple[str, ...]
    batches: Callable[[], Iterator[Any]]
    dialect: Dialect | None = None
    again: bool = True
    """Whether the batches can be had once more."""
    broken: Callable[[], tuple[int, list[str]]] = lambda: (0, [])
    """Of the batches that were had: how many lines were no records, and the first of them. PRIVATE, as they are."""

    def with_a_part_kept(self) -> Source:
        """The same; once it was read, what came first can be had again."""
        kept: list[Any] = []

        def batches() -> Iterator[Any]:
            if kept:
                yield from kept
                return
            for batch in self.batches():
                if not kept and batch.num_rows:
                    kept.append(batch)
                yield batch

        return replace(self, batches=batches)

    def attach(self, connection: duckdb.DuckDBPyConnection, needed: Sequence[Needed]) -> dict[Needed, SourceColumn]:
        """Make the records known to a connection as RECORDS; the needed columns as queries see them."""
        import pyarrow as pa

        connection.register(RECORDS, pa.RecordBatchReader.from_batches(self.schema, self.batches()))
        types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {RECORDS}").fetchall()}
        found = {}
        for one, short, kind in zip(needed, short_names(needed), self.kinds, strict=True):
            written = {} if self.dialect is None else self.dialect.written(one.column)
            found[one] = SourceColumn(short, types[short], "text" if kind == "nothing" else kind, one.column, **written)
        return found


def short_names(columns: Sequence[Any]) -> list[str]:
    """What queries call the columns: nobody's names, so that none of them can be mistaken for SQL."""
    return [f"c{place}" for place in range(len(columns))]


def check_columns(columns: Sequence[str], known: Sequence[str], where: str = "") -> None:
    """All needed columns are there; else the first that is not is named, and the nearest offered."""
    for column in columns:
        if column not in known:
            names = sorted(set(known))
            shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
            alike = [name for name in names if name.casefold() == column.casefold()]
            hint = f"capital letters count, and there is {alike[0]!r}; " if alike else ""
            raise UnknownName("column", column, known, f"{hint}the columns{where} are {shown}")


# The columns of the records as queries see them: what they hold, in words, and how their text is written.

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""DuckDB's names of the whole numbers that a BIGINT holds; UBIGINT is apart."""


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source under the short name that queries use, with the name that people gave it."""

    sql: str
    type: str
    """As DuckDB names it; dates and times are whole numbers to it."""
    kind: str
    """What the column holds, in words."""
    given: str
    point: str = "."
    """What stands before the decimals of numbers in text."""
    date_format: str | None = None
    """How times in text are written; None is ISO 8601."""

    @property
    def digits(self) -> tuple[int, int]:
        """Of a decimal: all digits, and those after the point."""
        width, scale = self.type.removeprefix("DECIMAL(").removesuffix(")").split(",")
        return int(width), int(scale)

    def refuse(self, wanted: str) -> InvalidInput:
        """A complaint about the column's type, which is public: it is the same whoever is in the data."""
        return InvalidInput(f"column {self.given!r}", f"a column of {self.kind}", wanted)


# The few types that columns are read in, chosen from declared types alone: no value has a say in it.

_UNITS = ("s", "ms", "us", "ns")
"""Of Arrow's times, from coarse to fine."""

DATES, TIMES, INSTANTS = "dates", "times", "times with a timezone"
_MOST_DIGITS = 38
"""Of a decimal."""

_ONE_TYPE = "write the files again with one type"


@dataclass(frozen=True)
class Needed:
    """A column that a count needs; `person` where it says whose a record is."""

    column: str
    person: bool = False


@dataclass(frozen=True)
class PlainType:
    """What a column holds, in words, the Arrow type that it is given on in, and the ticks of times."""

    kind: str
    arrow: Any
    unit: str | None = None


def plain_type(kind: Any, needed: Needed) -> PlainType:
    """How a column of an Arrow type is read; a column whose type nothing here can use is refused."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return plain_type(kind.value_type, needed)
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type, needed)
    if types.is_null(kind):
        return PlainType("nothing", pa.large_string())
    if types.is_boolean(kind):
        return PlainType("truth values", kind)
    if types.is_integer(kind):
        return PlainType("whole numbers", kind)
    if types.is_floating(kind):
        return PlainType("floats", pa.float32() if types.is_float16(kind) else kind)
    if types.is_decimal(kind) and max(kind.precision, kind.precision - kind.scale) <= _MOST_DIGITS:
        return PlainType("decimals", pa.decimal128(kind.precision - min(kind.scale, 0), max(kind.scale, 0)))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return PlainType("text", pa.large_string())
    if any(holds(kind) for holds in _bytes()):
        return PlainType("bytes", pa.large_binary())
    if types.is_date32(kind):
        return PlainType(DATES, pa.int64())
    if types.is_date64(kind):  # milliseconds, whatever it is called
        return PlainType(TIMES, pa.int64(), "ms" if needed.person else "us")
    if types.is_timestamp(kind):
        return PlainType(INSTANTS if kind.tz else TIMES, pa.int64(), kind.unit if needed.person else "us")
    given = f"a column of type {kind}"
    remedy = "give a column of plain values: numbers, text, dates or times"
    raise InvalidInput(f"column {needed.column!r}", given, remedy)


def common_type(needed: Needed, several: Sequence[PlainType]) -> PlainType:
    """The one type that holds the column of every file: equal values stay equal in it, and others others."""
    known = [one for one in several if one.kind != "nothing"]
    if not known:
        return several[0]
    kinds = sorted({one.kind for one in known})
    if len(kinds) > 1:
        given = f"{kinds[0]} in one file and {kinds[1]} in another"
        raise InvalidInput(f"column {needed.column!r}", given, _ONE_TYPE)
    if kinds == ["whole numbers"]:
        return PlainType(kinds[0], _whole(needed, [one.arrow for one in known]))
    if kinds == ["decimals"]:
        return PlainType(kinds[0], _decimal(needed, [one.arrow for one in known]))
    if known[0].unit is not None:
        return max(known, key=lambda one: _UNITS.index(one.unit or "s"))
    return max(known, key=lambda one: one.arrow.bit_width if kinds == ["floats"] else 0)


def _whole(needed: Needed, several: Sequence[Any]) -> Any:
    import pyarrow as pa
    import pyarrow.types as types

    if len(set(several)) == 1:
        return several[0]
    if not any(types.is_uint64(one) for one in several):
        return pa.int64()
    if any(types.is_signed_integer(one) for one in several):
        given = "unsigned whole numbers of 64 bits in one file and signed ones in another"
        raise InvalidInput(f"column {needed.column!r}", given, _ONE_TYPE)
    return pa.uint64()


def _decimal(needed: Needed, several: Sequence[Any]) -> Any:
    import pyarrow as pa

    scale = max(one.scale for one in several)
    digits = scale + max(one.precision - one.scale for one in several)
    if digits > _MOST_DIGITS:
        given = f"decimals that need {digits} digits to hold those of all files"
        raise InvalidInput(f"column {needed.column!r}", given, _ONE_TYPE)
    return pa.decimal128(digits, scale)


def _bytes() -> tuple[Any, ...]:
    import pyarrow.types as types

    return types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view


# Columns of Arrow data in the few types that queries know: no value of theirs can then stop a query.

LONGEST = 1 << 16
"""Bytes of a text: what is longer is not read, and nobody's name."""

_DAY = 86_400_000_000
_FAR = 2**62
"""Microseconds: beyond, there is no room left to shift a time by its offset."""


def arrow_source(
    schema: Any, batches: Callable[[], Iterable[Any]], needed: Sequence[Needed], *, again: bool = True
) -> Source:
    """Batches that have the schema, as a source of the needed columns in their plain types."""
    import pyarrow as pa

    check_columns([one.column for one in needed], schema.names)
    types = [plain_type(schema.field(_only(schema, one.column)).type, one) for one in needed]
    plain = pa.schema([(short, one.arrow) for short, one in zip(short_names(needed), types, strict=True)])

    def converted() -> Iterator[Any]:
        for batch in batches():
            pairs = zip(needed, types, strict=True)
            arrays = [plain_array(_checked(batch.column(one.column)), kind) for one, kind in pairs]
            yield pa.record_batch(arrays, schema=plain)

    return Source(plain, tuple(one.kind for one in types), converted, again=again)


def _checked(array: Any) -> Any:
    """Refuse an array that would be read beyond its memory: Arrow's files are not checked as they are opened.

    What is in a text is no matter here: that it is not UTF-8 stops nothing.
    """
    import pyarrow as pa
    import pyarrow.types as types

    array.validate()
    plain = array.storage if isinstance(array, pa.ExtensionArray) else array
    if types.is_dictionary(plain.type):
        pa.DictionaryArray.from_arrays(plain.indices, _checked(plain.dictionary), safe=True)
        return array
    for is_text, as_bytes in (
        (types.is_string, pa.binary()),
        (types.is_large_string, pa.large_binary()),
        (types.is_string_view, pa.binary_view()),
    ):
        plain = plain.view(as_bytes) if is_text(plain.type) else plain
    if any(holds(plain.type) for holds in (types.is_binary, types.is_large_binary, types.is_binary_view)):
        plain.validate(full=True)
    return array


def _only(schema: Any, column: str) -> int:
    places = schema.get_all_field_indices(column)
    if len(places) > 1:
        raise InvalidInput("source", f"a table with two columns named {column!r}", "rename one of them")
    return int(places[0])


def plain_array(array: Any, plain: PlainType) -> Any:
    """An Arrow array in the type that was chosen for it; never an error about a value."""
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    while types.is_dictionary(array.type) or isinstance(array, pa.ExtensionArray):
        array = array.storage if isinstance(array, pa.ExtensionArray) else array.dictionary_decode()
    if types.is_null(array.type):
        return pa.nulls(len(array), plain.arrow)
    if plain.unit is not None:
        return _ticks(array, plain.unit)
    if plain.kind == DATES:
        return array.cast(pa.int32()).cast(pa.int64())
    if plain.kind in ("text", "nothing"):
        return _utf8(array)
    if plain.kind == "bytes":
        return _no_longer(array.cast(plain.arrow, safe=False))
    if plain.kind == "decimals":
        return _decimals(array, plain.arrow)
    return array if array.type == plain.arrow else array.cast(plain.arrow, safe=False)


def _ticks(array: Any, unit: str) -> Any:
    """Times as whole numbers of ticks: finer ones exactly, coarser ones rounded down, and NULL where out of range."""
    import pyarrow as pa

    own = array.type.unit if pa.types.is_timestamp(array.type) else "ms"
    ticks = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    finer = 1000 ** abs(_UNITS.index(unit) - _UNITS.index(own))
    if _UNITS.index(unit) < _UNITS.index(own):
        ticks = ticks // finer
    elif finer > 1:
        # Compared as they are: the absolute value of the least one is not a number of 64 bits.
        far = (ticks > (2**63 - 1) // finer) | (ticks < -((2**63 - 1) // finer))
        missing, ticks = missing | far, np.where(far, 0, ticks) * finer
    return pa.array(ticks, pa.int64(), mask=missing)


def microseconds(value: str, kind: str) -> str:
    """Of dates and times, as SQL: microseconds since 1970; NULL for what is too far away."""
    ticks, far = (f"{value} * {_DAY}", _FAR // _DAY) if kind == DATES else (value, _FAR)
    return f"CASE WHEN {value} BETWEEN {-far} AND {far} THEN {ticks} END"


def _decimals(array: Any, kind: Any) -> Any:
    """A file may hold decimals with more digits than its schema says; they are NULL."""
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        limit = Decimal((0, (1,), array.type.precision - array.type.scale))
        values = array.to_pylist()
        kept = [value if value is not None and -limit < value < limit else None for value in values]
        array = pa.array(kept, array.type)
    return array if array.type == kind else array.cast(kind, safe=False)


def _utf8(array: Any) -> Any:
    """Text as it is where all of it is valid, else what is not valid left out."""
    import pyarrow as pa

    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_binary())
    text = _no_longer(array.cast(pa.large_string(), safe=False))
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([_decoded(value) for value in text.cast(pa.large_binary()).to_pylist()], pa.large_string())
    return text


def _no_longer(array: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.binary_length(array)
    if (pc.max(lengths).as_py() or 0) <= LONGEST:
        return array
    return pc.if_else(pc.greater(lengths, LONGEST), pa.scalar(None, array.type), array)


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
