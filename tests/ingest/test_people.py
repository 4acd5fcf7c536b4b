"""Two values are two people, of every type; equal ones are one person, also in two files of different types."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparsedp.axes import Calendar, Categories
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest import count
from sparsedp.ingest.bounding import PersonColumn

SEX = Domain([Categories("sex", ["F", "M"])])
SIGNED = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
UNSIGNED = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def extremes(kind: Any) -> list[int]:
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return [low, low + 1, 3, high - 1, high]


def ticks(kind: Any) -> Any:
    return pa.array([-(2**63), -(2**63) + 1, -1, 0, 1, 999, 1000, 2**62, 2**63 - 2, 2**63 - 1], pa.int64()).cast(kind)


COLUMNS: list[Any] = [
    *(pa.array(extremes(kind), kind) for kind in (*SIGNED, *UNSIGNED)),
    *(ticks(pa.timestamp(unit, zone)) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Tokyo")),
    pa.array(np.array([0, 1, 1.5, 65504, np.inf, -np.inf], np.float16)),
    pa.array([0, 1, 1.5, 1 + 2**-23, 3e38, -np.inf], pa.float32()),
    pa.array([0, 5e-324, 1, 1 + 2**-52, 1e308, np.inf]),
    *(pa.array([Decimal("-99.99"), Decimal("0.01"), Decimal("99.98"), Decimal("99.99")]).cast(kind)
      for kind in (pa.decimal32(4, 2), pa.decimal64(4, 2), pa.decimal128(38, 20), pa.decimal256(30, 2))),
    pa.array([Decimal(100), Decimal(300), Decimal(99900)]).cast(pa.decimal128(3, -2)),
    *(pa.array(["", "1", "01", "1 ", "é", "e\u0301", "x\0", "x\0y", "x" * 5000, "x" * 4999 + "y"], kind)
      for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *(pa.array([b"", b"1", b"\xff", b"\xfe", b"\0", b"\0\0"], kind)
      for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    pa.array([b"\0\0", b"\0\1", b"\xff\xfe"], pa.binary(2)),
    pa.array([True, False]),
    pa.array([-(2**31), -1, 0, 2**31 - 1], pa.int32()).cast(pa.date32()),
    pa.array([0, 86_400_000, 2**62 // 86_400_000 * 86_400_000], pa.int64()).view(pa.date64()),
    pa.array(["a", "b", "c"]).dictionary_encode(),
    pa.array([2, 1, 3], pa.int64()).dictionary_encode(),
    pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16], pa.binary(16))),
]  # fmt: skip


def people_in(table: Any) -> int:
    """Of whom nobody can have more than one record counted."""
    return int(count(table, SEX, privacy_unit="who").values.sum())


@pytest.mark.parametrize("column", COLUMNS, ids=[f"{place} {one.type}" for place, one in enumerate(COLUMNS)])
def test_two_values_are_two_people(column: Any, tmp_path: Path) -> None:
    length = len(column)
    twice = pa.chunked_array([column, column])
    table = pa.table({"who": twice, "sex": ["F"] * (2 * length)})
    assert people_in(table) == length
    # The same as a column of a file, and in two of them.
    try:
        for name in ("a", "b"):
            pq.write_table(table.slice(0 if name == "a" else length, length), tmp_path / f"{name}.parquet")
    except (pa.ArrowException, OSError):
        return  # Parquet has no such type
    stored = pq.read_table(tmp_path / "a.parquet")["who"].combine_chunks()
    if pa.types.is_timestamp(stored.type) or pa.types.is_date(stored.type):
        stored = stored.view(pa.int32() if pa.types.is_date32(stored.type) else pa.int64())
    assert people_in(tmp_path) == len(set(stored.to_pylist()))


MIXED = [
    *((first, second) for first in SIGNED for second in (*SIGNED, *UNSIGNED[:3])),
    *((first, second) for first in UNSIGNED for second in UNSIGNED),
    (pa.float32(), pa.float64()),
    (pa.string(), pa.large_string()),
    (pa.binary(), pa.binary(1)),
    (pa.decimal128(5, 2), pa.decimal128(20, 10)),
    *((pa.timestamp(first), pa.timestamp(second)) for first in ("s", "ms", "us") for second in ("us", "ns")),
    (pa.timestamp("us", "UTC"), pa.timestamp("ns", "Asia/Tokyo")),
    (pa.null(), pa.int64()),
]


def values_of(kind: Any) -> list[Any]:
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return [b"1", b"2"]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ["1", "2"]
    if pa.types.is_timestamp(kind):
        return [datetime(2024, 1, 1), datetime(1960, 1, 1)]
    if pa.types.is_decimal(kind):
        return [Decimal("1.50"), Decimal("-2")]
    return [None, None] if pa.types.is_null(kind) else [1, 2]


@pytest.mark.parametrize(("first", "second"), MIXED, ids=str)
def test_equal_values_in_two_files_are_one_person(first: Any, second: Any, tmp_path: Path) -> None:
    for name, kind in (("a", first), ("b", second)):
        table = pa.table({"who": pa.array(values_of(kind), kind), "sex": ["F", "F"]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert people_in(tmp_path) == 2


@pytest.mark.parametrize("signed", SIGNED, ids=str)
def test_what_one_type_cannot_hold_is_refused_by_type(signed: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"who": pa.array([2**64 - 1], pa.uint64()), "sex": ["F"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"who": pa.array([-1], signed), "sex": ["F"]}), tmp_path / "b.parquet")
    with pytest.raises(InvalidInput, match="unsigned whole numbers of 64 bits in one file and signed ones in another"):
        people_in(tmp_path)
    for name, kind in (("a", pa.decimal128(38, 0)), ("b", pa.decimal128(38, 10))):
        pq.write_table(pa.table({"who": pa.array([Decimal(1)], kind), "sex": ["F"]}), tmp_path / f"{name}.parquet")
    with pytest.raises(InvalidInput, match="decimals that need 48 digits"):
        people_in(tmp_path)


def test_a_column_may_tell_people_apart_and_be_counted_by() -> None:
    """To the nanosecond for one, by the day for the other."""
    table = pa.table({"t": pa.array([1, 2, 2], pa.timestamp("ns"))})
    assert count(table, Domain([Calendar("t", date(1970, 1, 1), "1d", 2)]), privacy_unit="t").values.tolist() == [2, 0]


@pytest.mark.parametrize("hashed", ["hash(1)", "hash(length({0}))", "hash({0})"])
def test_people_who_share_a_hash_are_still_two(hashed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose records are then mixed where they are sorted by it; a reader, which cannot be read again, is not."""
    rng = np.random.default_rng(2)
    rows = 200_000
    table = pa.table(
        {
            "house": rng.integers(0, 2, rows),
            "who": pa.array([f"patient {number}" for number in rng.integers(0, 300, rows)]),
            "sex": pa.array(["F", "M"]).take(rng.integers(0, 2, rows)),
        }
    )
    selected = property(
        lambda one: f"{one.name}, {hashed.format(one.name)} AS {one.name}_hash" if one.hashed else one.name
    )
    monkeypatch.setattr(PersonColumn, "selected", selected)
    for unit, people in (("who", 300), (["house", "who"], 600)):
        found = count(table, SEX, privacy_unit=unit, max_contributions=5, key=bytes(16))
        assert found.values.sum() == 5 * people
        again = count(table.to_reader(), SEX, privacy_unit=unit, max_contributions=5, key=bytes(16))
        assert found.values.tolist() == again.values.tolist()
        everything = count(table, SEX, privacy_unit=unit, max_contributions=rows).values
        assert everything.tolist() == count(table, SEX, privacy_unit=None).values.tolist()
