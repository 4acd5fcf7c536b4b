"""The cells of a query are those of `Axis.index_of`, whatever the type of the column."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from where_records_fall import cells_found, cells_in

from every_axis import EVERY_AXIS
from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput

MANY_EDGES = Bins("x", sorted({round(1.37**i - 3, 3) for i in range(45)}))
BINS = [
    Bins("x", [0, 18, 65, 120]),
    Bins("x", [-np.inf, -0.5, 0.1, 0.3, 7, np.inf]),
    Bins("x", [-(2.0**63), 0, 2.0**53, 2.0**53 + 2, 2.0**63, 2.0**64]),
    Bins("x", [-1e300, -(2.0**64), 2.0**63 + 2**12, 1e300]),
    Bins.regular("x", 0, 1, 100),
    MANY_EDGES,
]
FLOATS = np.array([0, -0.0, 17.999999999999996, 18, 120, 120.00000000000001, 0.1, 0.3, 0.29, np.nan, np.inf, -np.inf])
WHOLE = [0, -1, 1, 17, 18, 120, 121, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, 2**63 - 1, -(2**63), -(2**63) + 1]


@pytest.mark.parametrize("axis", EVERY_AXIS.values(), ids=EVERY_AXIS.keys())
def test_the_cells_of_every_axis_are_found_again(axis: Axis) -> None:
    first = pa.array(next(iter(axis.columns().values())))
    column = first.cast(pa.timestamp("us", "UTC")) if axis.utc else first
    both_ways = pa.concat_arrays([column, pa.nulls(1, column.type), column[::-1]])
    places = np.arange(axis.length)
    assert cells_found(axis, both_ways).tolist() == [*places, -1, *places[::-1]]


@pytest.mark.parametrize("axis", BINS, ids=range(len(BINS)))
def test_bins_of_floats_and_integers(axis: Bins) -> None:
    near = np.nextafter(np.array(axis.edges[:8]), np.inf), np.nextafter(np.array(axis.edges[:8]), -np.inf)
    floats = np.concatenate([FLOATS, axis.edges[:8], *near, np.linspace(-1, 130, 40)])
    assert cells_found(axis, floats).tolist() == axis.index_of(floats).tolist()
    whole = np.array(WHOLE)
    assert cells_found(axis, whole).tolist() == axis.index_of(whole).tolist()
    unsigned = np.array([0, 1, 2**63 - 1, 2**63, 2**63 + 2**12 - 1, 2**63 + 2**12, 2**64 - 1], dtype=np.uint64)
    assert cells_found(axis, unsigned).tolist() == axis.index_of(unsigned).tolist()


@pytest.mark.parametrize("axis", [BINS[0], BINS[1], BINS[4]], ids=["few", "infinite", "many"])
def test_bins_of_other_types_of_numbers(axis: Bins) -> None:
    short = np.array([0.1, 0.3, 0.29, 0.07, 18, 120, np.nan, np.inf], dtype=np.float32)
    assert cells_found(axis, short).tolist() == axis.index_of(short).tolist()
    half = short.astype(np.float16)
    assert cells_found(axis, half).tolist() == axis.index_of(half.astype(np.float32)).tolist()
    decimals = np.array([Decimal("0.10"), Decimal("0.29"), Decimal("120.00"), Decimal("120.01"), None], dtype=object)
    for kind in (pa.decimal128(9, 2), pa.decimal128(38, 20), pa.decimal256(20, 4)):
        column = pa.array(decimals.tolist()).cast(kind)
        assert cells_found(axis, column).tolist() == axis.index_of(decimals).tolist()
    truth = np.array([True, False])
    assert cells_found(axis, truth).tolist() == axis.index_of(truth).tolist()
    small = np.array([0, 18, 120], dtype=np.int8)
    assert cells_found(axis, small).tolist() == axis.index_of(small).tolist()


def test_numbers_in_text_are_plain_decimal_notation() -> None:
    axis = Bins("x", [0, 1, 2, 1000, np.inf])
    text = [
        "0",
        " 1.5 ",
        "1e2",
        "+.5",
        "5.",
        "inf",
        "-0.0",
        "1_000",
        "0x10",
        "1,5",
        "nan",
        "",
        None,
        "one",
        "-1",
        "1e999",
    ]
    assert cells_found(axis, text).tolist() == [0, 1, 2, 0, 2, 3, 0, -1, -1, -1, -1, -1, -1, -1, -1, 3]
    whole = Integers("x", 0, 9)
    text = ["3", "3.0", "3.5", "+3", " 3", "3e0", "03", "10", "-1", "", None, "9" * 50, "3."]
    assert cells_found(whole, text).tolist() == [3, 3, -1, 3, 3, -1, 3, -1, -1, -1, -1, -1, 3]


@pytest.mark.parametrize(
    "axis",
    [Integers("x", -1, 120), Integers("x", 2**53, 2**53 + 9), Categories("x", [18, 0, 2**53 + 1, -(2**62)])],
)
def test_whole_numbers_of_any_type(axis: Axis) -> None:
    columns: list[npt.NDArray[Any]] = [
        np.array(WHOLE),
        np.array([0, 18, 2**53, 2**64 - 1], dtype=np.uint64),
        np.array([0, 18, 120], dtype=np.int16),
        FLOATS,
        np.array([2.0**53, 2.0**62, -(2.0**62), 2.0**63, 1e300, -1e300]),
        np.array([18, 18.5, np.nan], dtype=np.float32),
        np.array([True, False]),
    ]
    for column in columns:
        assert cells_found(axis, column).tolist() == axis.index_of(column).tolist(), column.dtype
    decimals = np.array([Decimal("18.00"), Decimal("18.50"), Decimal("-1.00"), None], dtype=object)
    for kind in (pa.decimal128(6, 2), pa.decimal128(38, 10)):
        column = pa.array(decimals.tolist()).cast(kind)
        assert cells_found(axis, column).tolist() == axis.index_of(decimals).tolist()
    tiny = pa.array([Decimal("-0.5"), Decimal("0"), Decimal("0.9")], pa.decimal128(38, 38))
    assert cells_found(axis, tiny).tolist() == axis.index_of(np.array(tiny.to_pylist())).tolist()


def test_categories_in_any_number() -> None:
    axis = Categories("x", [f"label {i}" for i in range(10_000)] + ["it's", 'a "quote"', "é", "", "x\0y", "\ud800"])
    values = ["label 0", "label 9999", "label 10000", "LABEL 0", "it's", 'a "quote"', "é", "", "x\0y", "x", None]
    expected = axis.index_of(np.array(values, dtype=object)).tolist()
    assert cells_found(axis, values).tolist() == expected
    assert cells_found(axis, pa.array(values).dictionary_encode()).tolist() == expected
    assert cells_found(axis, pa.array(values, pa.string_view())).tolist() == expected
    assert cells_found(axis, pa.nulls(3)).tolist() == [-1, -1, -1]
    numbers = Categories("x", list(range(0, 20_000, 2)))
    assert cells_found(numbers, np.arange(7)).tolist() == [0, -1, 1, -1, 2, -1, 3]


CALENDARS = [
    Calendar("x", "2024-01-01", "1d", 366),
    Calendar("x", "1969-12-31T23:59:59.999990", "3us", 7),
    Calendar("x", "2024-02-29", "1w", 10),
    Calendar("x", "1900-01-15T06:00", "1mo", 12 * 200),
    Calendar("x", "0001-01-01", "1y", 9998),
    Calendar("x", "2024-03-30T22:00", "1h", 60, zone="Europe/Berlin"),
    Calendar("x", "2024-01-01", "1mo", 24, zone="America/New_York"),
    Calendar("x", "1900-01-01", "1d", 50_000, zone="Australia/Lord_Howe"),
    Calendar("x", "2024-01-01T00:00Z", "1h", 24),
]
MOMENTS = np.array(
    [
        *(f"2024-{day}T{hour}:59:59.999999" for day in ("01-01", "01-31", "12-31") for hour in ("00", "22", "23")),
        "1969-12-31T23:59:59.999992", "1969-12-31T23:59:59.999993", "1970-01-01T00:00", "2024-02-29", "0001-01-01",
        "2024-03-31T00:59:59.999999", "2024-03-31T01:00", "2024-03-31T02:30", "2024-10-27T00:59", "2024-10-27T01:00",
        "9999-12-31T23:59:59.999999", "1900-01-15T05:59:59.999999", "1900-01-15T06:00", "2024-02-15T05:59",
        "2024-02-15T06:00", "2024-04-06T14:59", "2024-04-06T15:00", "NaT",
    ],
    dtype="datetime64[us]",
)  # fmt: skip


@pytest.mark.parametrize("axis", CALENDARS, ids=[str(place) for place in range(len(CALENDARS))])
def test_times_of_any_type(axis: Calendar) -> None:
    expected = axis.index_of(MOMENTS).tolist()
    assert cells_found(axis, MOMENTS).tolist() == expected
    for unit in ("ms", "D"):
        coarser = MOMENTS.astype(f"datetime64[{unit}]")
        assert cells_found(axis, coarser).tolist() == axis.index_of(coarser).tolist()
    near = MOMENTS[(np.datetime64("1700") < MOMENTS) & (np.datetime64("2200") > MOMENTS)]
    finer = near.astype("datetime64[ns]") + np.timedelta64(999, "ns")
    assert cells_found(axis, finer).tolist() == axis.index_of(finer).tolist()
    text = [None if np.isnat(moment) else str(moment) for moment in MOMENTS]
    assert cells_found(axis, text).tolist() == expected
    assert cells_found(axis, [None if one is None else one.replace("T", " ") for one in text]).tolist() == expected
    if axis.zone is None and not axis.in_utc:
        # The clock time as it is written, whatever the offset is.
        for offset in ("Z", "+02:00", "-0930"):
            named = [None if one is None else f"{one}{offset}" for one in text]
            assert cells_found(axis, named).tolist() == expected
        with pytest.raises(InvalidInput, match="times with a timezone"):
            cells_found(axis, pa.array(MOMENTS, pa.timestamp("us", "UTC")))


@pytest.mark.parametrize("axis", [axis for axis in CALENDARS if axis.zone or axis.in_utc], ids=str)
def test_instants(axis: Calendar) -> None:
    around = [np.datetime64("2024-03-31T00:00") + np.timedelta64(7 * i, "m") for i in range(40)]
    moments = np.concatenate([MOMENTS, np.array(around, dtype="datetime64[us]")])
    moments = moments[(moments > np.datetime64("0001-01-03")) & (moments < np.datetime64("9999-12-29"))]
    text = [f"{moment}Z" for moment in moments]
    expected = axis.index_of(np.array(text, dtype=object)).tolist()
    assert cells_found(axis, pa.array(moments, pa.timestamp("us", "Asia/Tokyo"))).tolist() == expected
    assert cells_found(axis, text).tolist() == expected
    shifted = {"+05:30": 330, "-0800": -480, "+02": 120, " UTC": 0}
    for offset, minutes in shifted.items():
        written = [f"{moment + np.timedelta64(minutes, 'm')}{offset}" for moment in moments]
        assert cells_found(axis, written).tolist() == expected, offset
    whole = moments[moments.astype(np.int64) % 1_000_000 == 0]
    seconds = pa.array(whole.astype("datetime64[s]"), pa.timestamp("s", "UTC"))
    assert cells_found(axis, seconds).tolist() == axis.index_of([f"{moment}Z" for moment in whole]).tolist()


def test_text_that_is_no_time() -> None:
    axis = Calendar("x", "2024-01-01", "1d", 366)
    text = [
        "2024-02-30",
        "2024-1-1",
        "01.02.2024",
        "2024-01-01T24:00",
        "infinity",
        "epoch",
        "2024-01-01+02:00",
        "",
        "now",
    ]
    assert set(cells_found(axis, text).tolist()) == {-1}
    assert cells_found(axis, [" 2024-01-02 ", "2024-01-02T00:00:00.123456789"]).tolist() == [1, 1]


@given(data=st.data())
@settings(max_examples=20)
def test_random_bins(data: st.DataObject) -> None:
    numbers = st.floats(allow_nan=False, width=32) | st.integers(-50, 50).map(float)
    edges = sorted(data.draw(st.sets(numbers, min_size=2, max_size=50)))
    values = np.array(data.draw(st.lists(st.floats(width=32) | st.sampled_from(edges), min_size=1, max_size=30)))
    axis = Bins("x", edges)
    with np.errstate(over="ignore"):
        for column in (values, values.astype(np.float32)):
            assert cells_found(axis, column).tolist() == axis.index_of(column).tolist()


def test_parquet_gives_the_same_cells(tmp_path: Path) -> None:
    """Also of times that it holds in another unit."""
    columns = {
        "us": pa.array(MOMENTS),
        "ns": pa.array(
            MOMENTS[:20].astype("datetime64[ns]").tolist() + [None] * (len(MOMENTS) - 20), pa.timestamp("ns")
        ),
        "instant": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
        "instant_ns": pa.array([-1, *range(len(MOMENTS) - 1)], pa.timestamp("ns", "UTC")),
        "day": pa.array(MOMENTS.astype("datetime64[D]")),
        "text": pa.array([None if np.isnat(one) else str(one) for one in MOMENTS]),
        "category": pa.array(["a", "b"] * (len(MOMENTS) // 2) + ["c"] * (len(MOMENTS) % 2)).dictionary_encode(),
    }
    table = pa.table({**columns, "record": np.arange(len(MOMENTS))})
    pq.write_table(table, tmp_path / "all.parquet")
    for axis in (CALENDARS[0], CALENDARS[3], CALENDARS[5], CALENDARS[8]):
        for name in columns:
            if name == "category" or ("instant" in name and axis.zone is None and not axis.in_utc):
                continue
            named = {"columns": {"x": name}}
            from_file = cells_in(axis, tmp_path / "all.parquet", len(MOMENTS), **named)
            assert from_file.tolist() == cells_in(axis, table, len(MOMENTS), **named).tolist(), name
    labels = cells_in(Categories("category", ["b"]), tmp_path / "all.parquet", len(MOMENTS))
    assert labels.tolist() == [0 if one == "b" else -1 for one in columns["category"].to_pylist()]


@pytest.mark.parametrize(
    ("axis", "column"),
    [
        (Bins("x", [0, 1]), pa.array([1], pa.date32())),
        (Integers("x", 0, 1), pa.array([1], pa.timestamp("us"))),
        (Calendar("x", "2024-01-01", "1d", 3), pa.array([1])),
        (Categories("x", ["a"]), pa.array([1])),
        (Categories("x", ["a"]), pa.array([b"a"])),
        (Integers("x", 0, 1), pa.array([[1]])),
        (Integers("x", 0, 1), pa.array([1], pa.time64("us"))),
    ],
)
def test_a_column_of_another_kind_is_refused_by_its_type(axis: Axis, column: Any) -> None:
    with pytest.raises(InvalidInput, match="column 'x' is a column of"):
        cells_found(axis, column)
