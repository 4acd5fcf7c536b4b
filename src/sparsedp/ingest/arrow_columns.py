"""Columns of Arrow data in the few types that queries know: no value of theirs can then stop a query.

Times become microseconds, rounded down, and NULL where that is out of range; text that is not UTF-8 becomes NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.ingest.records import Attachment, check_columns, from_batches, short_names

_TICKS = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds in a unit of Arrow's; nanoseconds are rounded down instead."""


def arrow_attachment(schema: Any, batches: Callable[[], Iterable[Any]], columns: Sequence[str]) -> Attachment:
    """Batches that have the schema, as a source of the needed columns in their plain types."""
    import pyarrow as pa

    check_columns(columns, schema.names)
    fields = [schema.field(_only(schema, column)) for column in columns]
    types = [plain_type(field.type, field.name) for field in fields]
    plain = pa.schema(list(zip(short_names(columns), types, strict=True)))

    def converted() -> Iterator[Any]:
        for batch in batches():
            arrays = [batch.column(field.name) for field in fields]
            pairs = zip(arrays, types, strict=True)
            yield pa.record_batch([plain_array(array, kind) for array, kind in pairs], schema=plain)

    return from_batches(plain, converted)


def _only(schema: Any, column: str) -> int:
    places = schema.get_all_field_indices(column)
    if len(places) > 1:
        raise InvalidInput("source", f"a table with two columns named {column!r}", "rename one of them")
    return int(places[0])


def plain_type(kind: Any, column: str) -> Any:
    """The type that a column is read in; a column whose type no axis can use is refused."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return plain_type(kind.value_type, column)
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type, column)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind):
        return kind
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal(kind) and kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind):
        return pa.large_string()
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return pa.large_binary()
    if types.is_date(kind):
        return pa.date32()
    if types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    given = f"a column of type {kind}"
    raise InvalidInput(f"column {column!r}", given, "give a column of plain values: numbers, text, dates or times")


def kind_of_type(plain: Any) -> str:
    """What a plain type holds, in words: values of one kind are compared with each other, of two kinds they are not."""
    import pyarrow.types as types

    if types.is_timestamp(plain):
        return "times with a timezone" if plain.tz else "times"
    kinds = {
        "whole numbers": types.is_integer,
        "floats": types.is_floating,
        "decimals": types.is_decimal,
        "truth values": types.is_boolean,
        "dates": types.is_date,
        "bytes": types.is_large_binary,
    }
    return next((kind for kind, holds in kinds.items() if holds(plain)), "text")


def plain_array(array: Any, kind: Any) -> Any:
    """An Arrow array in the type that was chosen for it; never an error about a value."""
    import pyarrow as pa
    import pyarrow.types as types

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if types.is_timestamp(array.type):
        return _microseconds(array, kind)
    if types.is_large_string(kind):
        return _utf8(array)
    return array if array.type == kind else array.cast(kind, safe=False)


def _microseconds(array: Any, kind: Any) -> Any:
    import pyarrow as pa

    unit = array.type.unit
    ticks = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    if unit == "ns":
        ticks = ticks // 1000
    else:
        far = np.abs(ticks // 2) > 2**61 // _TICKS[unit]
        missing, ticks = missing | far, np.where(far, 0, ticks) * _TICKS[unit]
    return pa.array(ticks, pa.int64(), mask=missing).cast(kind)


def _utf8(array: Any) -> Any:
    """Text as it is where all of it is valid, else what is not valid left out."""
    import pyarrow as pa

    text = (
        array.cast(pa.large_binary()).cast(pa.large_string(), safe=False)
        if pa.types.is_string_view(array.type)
        else array.cast(pa.large_string(), safe=False)
    )
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return pa.array([_decoded(value) for value in text.cast(pa.large_binary()).to_pylist()], pa.large_string())
    return text


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
