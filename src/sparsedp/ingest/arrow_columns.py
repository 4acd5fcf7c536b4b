"""Columns of Arrow data in the few types that queries know: no value of theirs can then stop a query.

A value that its type cannot hold, or that is out of range, becomes NULL, and so does text that is not UTF-8 and what is
longer than any name or number. Each value is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.ingest.plain_types import DATES, UNITS, Needed, PlainType, plain_type
from sparsedp.ingest.records import Source, check_columns, short_names

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
    finer = 1000 ** abs(UNITS.index(unit) - UNITS.index(own))
    if UNITS.index(unit) < UNITS.index(own):
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
