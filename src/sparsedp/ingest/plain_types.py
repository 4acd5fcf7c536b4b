"""The few types that columns are read in, chosen from declared types alone: no value has a say in it.

Queries know whole numbers, floats, decimals, truth values, text and bytes. Dates and times come to them as whole
numbers of ticks, so that no time is beyond the engine's own calendar. What tells people apart keeps every digit that it
has; what is counted has microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparsedp.errors import InvalidInput

UNITS = ("s", "ms", "us", "ns")
"""Of Arrow's times, from coarse to fine."""

DATES, TIMES, INSTANTS = "dates", "times", "times with a timezone"
MOST_DIGITS = 38
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
    if types.is_decimal(kind) and max(kind.precision, kind.precision - kind.scale) <= MOST_DIGITS:
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
        return max(known, key=lambda one: UNITS.index(one.unit or "s"))
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
    if digits > MOST_DIGITS:
        given = f"decimals that need {digits} digits to hold those of all files"
        raise InvalidInput(f"column {needed.column!r}", given, _ONE_TYPE)
    return pa.decimal128(digits, scale)


def _bytes() -> tuple[Any, ...]:
    import pyarrow.types as types

    return types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
