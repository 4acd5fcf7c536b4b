"""Each kind of axis: where values fall, exactly at the edges too, and what it refuses."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput, UnknownName

AGES = Bins("age", [0, 18, 65, 120])
DAYS = Calendar("day", "2026-01-01", every="1d", length=31)
QUARTERS = Calendar("quarter", "2026-01-01T00:00Z", every="6h", length=9)

VALUES: list[tuple[Axis, Any, list[int]]] = [
    (Categories("x", ["a", "b"]), ["b", "a", "B", ""], [1, 0, -1, -1]),
    (Categories("x", ["a", "b"]), np.array(["b", 3, None, "a", ("a",)], dtype=object), [1, -1, -1, 0, -1]),
    (Categories("x", ["a", "b"]), pd.Series(["b", None, "a"]), [1, -1, 0]),
    (Categories("x", ["a", "b"]), pd.Series(["b", "a"], dtype="category"), [1, 0]),
    (Categories("x", ["a", "b"]), np.array(["\ud800", "a"], dtype=object), [-1, 0]),
    (Categories("x", [3, 1]), [1, 3, 2, 2**62], [1, 0, -1, -1]),
    (Categories("x", [3, 1]), [1.0, float("nan"), 1.5], [1, -1, -1]),
    (Categories("x", [3, 1]), np.array([1, Decimal(3), "3", None, 2**80], dtype=object), [1, 0, -1, -1, -1]),
    (AGES, [-1, 0, 17, 18, 64, 65, 120, 121], [-1, 0, 0, 1, 1, 2, 2, -1]),
    (AGES, [-0.1, 17.999, 18.0, 120.0, 120.1, float("inf")], [-1, 0, 1, 2, -1, -1]),
    (AGES, np.array([Decimal("18"), "18", None, 17], dtype=object), [1, -1, -1, 0]),
    (Bins.regular("x", 0, 1, 10), np.array([0.3, 0.7, 1.0], dtype=np.float32), [3, 7, 9]),
    (Bins.regular("x", 0, 1, 10), np.array([Decimal("0.3"), Decimal("0.7")], dtype=object), [3, 7]),
    (Bins("x", [-np.inf, 0, np.inf]), [-np.inf, -1.0, 0.0, np.inf, np.nan], [0, 0, 1, 1, -1]),
    (Bins("x", [-np.inf, 0, np.inf]), [-(2**63), -1, 0, 2**63 - 1], [0, 0, 1, 1]),
    (Bins("x", [0, 2.0**53, 2.0**60]), [2**53 - 1, 2**53, 2**53 + 1, 2**60, 2**60 + 1], [0, 1, 1, 1, -1]),
    (Bins("x", [0, 2.0**60]), [2**60 + 1, 2**60, 2**60 - 1], [-1, 0, 0]),
    (Bins("x", [0.5, 1.5, 2.5]), [0, 1, 2, 3], [-1, 0, 1, -1]),
    (Bins("x", [0, 2.0**63, 2.0**64]), np.array([2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64), [0, 1, 1]),
    (Bins("x", [0, 1, 2]), [False, True], [0, 1]),
    (Integers("x", -2, 1), [-3, -2, 1, 2, 2**63 - 1], [-1, 0, 3, -1, -1]),
    (Integers("x", -2, 1), [-2.0, 0.5, float("nan"), 1.0, 1e300], [0, -1, -1, 3, -1]),
    (Integers("x", 0, 2), np.array([1, 2**64 - 1], dtype=np.uint64), [1, -1]),
    (Integers("x", 2**62 - 1, 2**62), [2.0**62, 2**62 - 512.0], [1, -1]),
    (Integers("x", 0, 2), np.array(["1", None, Decimal("2"), Decimal("NaN"), 1j], dtype=object), [-1, -1, 2, -1, -1]),
    (DAYS, ["2026-01-01", "2026-01-31T23:59:59.999999", "2026-02-01", "2025-12-31T23:59", "soon"], [0, 30, -1, -1, -1]),
    (DAYS, np.array(["2026-01-02T05", "NaT"], dtype="datetime64[h]"), [1, -1]),
    (DAYS, np.array(["2026-01-31T23:59:59.999999999", "2025-12-31T23:59:59.999999999"], "datetime64[ns]"), [30, -1]),
    (DAYS, np.array(["2026", "300000"], dtype="datetime64[Y]"), [0, -1]),
    (DAYS, [date(2026, 1, 3), datetime(2026, 1, 4, 12)], [2, 3]),
    (DAYS, [pd.Timestamp("2026-01-31T23:59:59.999999999"), pd.NaT, 3], [30, -1, -1]),
    (QUARTERS, [datetime(2026, 1, 1, 6, tzinfo=UTC), datetime(2026, 1, 1, 5, 59, tzinfo=UTC)], [1, 0]),
    (QUARTERS, ["2026-01-01T08:00+02:00", "2026-01-03T06:00Z"], [1, -1]),
    (QUARTERS, pd.Series(pd.to_datetime(["2026-01-01T07:00Z"])), [1]),
]


@pytest.mark.parametrize(("axis", "values", "cells"), VALUES)
def test_where_values_fall(axis: Axis, values: Any, cells: list[int]) -> None:
    found = axis.index_of(np.array(values, dtype=object) if type(values) is list and _mixed(values) else values)
    assert found.dtype == np.int64
    assert found.tolist() == cells


def _mixed(values: list[Any]) -> bool:
    return len({type(value) for value in values}) > 1


@pytest.mark.parametrize(
    ("axis", "values", "complaint"),
    [
        (Categories("x", ["a"]), [1, 2], "an array of int64 values, and the labels are text"),
        (Categories("x", [1]), ["a"], "an array of text values; give an array of numbers"),
        (AGES, ["a"], "an array of text values; give an array of numbers"),
        (Integers("x", 0, 2), np.array(["2026"], "datetime64[Y]"), "give an array of numbers"),
        (DAYS, [1, 2], "an array of int64 values; give an array of times"),
        (DAYS, ["2026-01-01T00:00Z"], "times with a timezone, and the axis has none"),
        (QUARTERS, ["2026-01-01T00:00"], "times without a timezone, and the axis is in UTC"),
    ],
)
def test_values_of_another_kind_are_refused(axis: Axis, values: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^values is .*{complaint}"):
        axis.index_of(values)


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=9, unique=True).map(sorted),
    st.lists(st.one_of(st.floats(), st.integers(-(2**31), 2**31).map(float)), max_size=20),
)
def test_bins_are_closed_on_the_left_and_the_last_on_both_sides(edges: list[float], values: list[float]) -> None:
    axis = Bins("x", edges)
    values = values + list(axis.edges)
    for value, cell in zip(values, axis.index_of(np.array(values)).tolist(), strict=True):
        inside = [
            i
            for i in range(axis.length)
            if axis.edges[i] <= value < axis.edges[i + 1] or (i == axis.length - 1 and value == axis.edges[-1])
        ]
        assert inside == ([] if cell == -1 else [cell])


@given(
    st.lists(st.floats(-1e20, 1e20), min_size=2, max_size=9, unique=True).map(sorted),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20),
)
def test_whole_numbers_are_compared_exactly(edges: list[float], values: list[int]) -> None:
    axis = Bins("x", edges)
    values += [int(edge) + step for edge in axis.edges for step in (-1, 0, 1) if abs(edge) < 2**62]
    for value, cell in zip(values, axis.index_of(np.array(values, dtype=np.int64)).tolist(), strict=True):
        reached = sum(edge <= value for edge in axis.edges) - 1  # Python compares integers with floats exactly
        expected = reached if 0 <= reached < axis.length else axis.length - 1 if value == axis.edges[-1] else -1
        assert cell == expected


def test_regular_bins_have_the_nearest_floats() -> None:
    assert Bins.regular("x", 0, 1, 10).edges == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    assert Bins.regular("x", "0.1", "0.4", 3).edges == (0.1, 0.2, 0.3, 0.4)
    assert Bins.regular("x", -1, 1, 1).length == 1


Edges = npt.NDArray[Any] | list[Any]
PLACES: list[tuple[Axis, object, list[int]]] = [
    (Categories("x", ["a", "b", "c"]), "b", [1]),
    (Categories("x", ["a", "b", "c"]), ["c", "a", "c"], [0, 2]),
    (Categories("x", ["a", "b", "c"]), ("c", "a"), [0, 2]),
    (Categories("x", [5, 7]), 7, [1]),
    (AGES, (18, 120), [1, 2]),
    (AGES, (18, 18), []),
    (AGES, 30, [1]),
    (AGES, [30, 17.5], [0, 1]),
    (Bins("x", [-np.inf, 0, np.inf]), (0, np.inf), [1]),
    (Integers("x", 10, 19), (12, 14), [2, 3]),
    (Integers("x", 10, 19), (10, 20), list(range(10))),
    (Integers("x", 10, 19), 12, [2]),
    (Integers("x", 10, 19), [19, 12], [2, 9]),
    (DAYS, ("2026-01-01", "2026-01-03"), [0, 1]),
    (DAYS, ("2026-01-31", "2026-02-01"), [30]),
    (DAYS, "2026-01-05", [4]),
    (DAYS, date(2026, 1, 5), [4]),
    (DAYS, [np.datetime64("2026-01-05"), 2], [2, 4]),
]


@pytest.mark.parametrize(("axis", "wanted", "cells"), PLACES)
def test_places_in_the_axis_own_words(axis: Axis, wanted: object, cells: list[int]) -> None:
    assert np.arange(axis.length)[axis.cells_of(wanted)].tolist() == cells


NO_PLACES: list[tuple[Axis, object, str]] = [
    (Categories("x", ["north", "south"]), "norht", r"x is 'norht', which is not known; did you mean 'north'\?"),
    (Categories("x", ["north"]), 3, "x is of type int; choose one of 'north'"),
    (Categories("x", [5]), 3, "x is 3, which is not a label; choose one of 5"),
    (AGES, (18, 60), "age is cut at 60, which is not an edge; cut at an edge such as 18 or 65"),
    (AGES, (18, 121), "age is cut at 121, which is not an edge; cut at an edge such as 120"),
    (AGES, (65, 18), "age is a range that ends before it starts"),
    (AGES, 121, "age is outside the edges; give values from 0 to 120"),
    (AGES, "old", "age is 'old'"),
    (Integers("x", 10, 19), (9, 12), "x is 9; give a whole number from 10 to 20"),
    (Integers("x", 10, 19), (14, 12), "x is from 14 to 12; give start ≤ stop"),
    (Integers("x", 10, 19), 20, "x is 20; give a whole number from 10 to 19"),
    (DAYS, ("2026-01-03", "2026-01-01"), "day is a range that ends before it starts"),
    (DAYS, "2026-02-01", "day is 2026-02-01 00:00, after the last tick; give a time up to 2026-01-31 00:00"),
    (DAYS, ("2026-01-01", "2026-02-02"), "day is 2026-02-02 00:00, after the last tick; .* up to 2026-02-01 00:00"),
    (DAYS, "2026-01-01T03:00", "day is 2026-01-01 03:00, which is not on the schedule"),
    (DAYS, 2**70, "day is 1180591620717411303424, after the last tick"),
]


@pytest.mark.parametrize(("axis", "wanted", "complaint"), NO_PLACES)
def test_places_that_are_not_there_are_refused(axis: Axis, wanted: object, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        axis.cells_of(wanted)


BAD: list[tuple[Any, tuple[Any, ...], str]] = [
    (Categories, ("x", []), "labels is 0 labels; give from 1"),
    (Categories, ("x", "abc"), "labels is of type str"),
    (Categories, ("x", 3), "labels is of type int"),
    (Categories, ("x", ["a", "b", "a"]), "labels is a list with 'a' in it twice"),
    (Categories, ("x", ["a", 1]), "labels is of type int and str"),
    (Categories, ("x", [True, False]), "labels is of type bool"),
    (Categories, ("x", [1.5]), "labels is of type float"),
    (Categories, ("x", [2**63]), "labels is beyond 64-bit integers"),
    (Bins, ("x", []), "edges is 0 numbers; give at least two rising numbers"),
    (Bins, ("x", [1]), "edges is 1 number; give"),
    (Bins, ("x", [0, float("nan")]), "edges is not a number somewhere"),
    (Bins, ("x", [0, 2, 1]), "edges is not rising: 1 comes after 2"),
    (Bins, ("x", [0, 0]), "edges is not rising: 0 comes after 0"),
    (Bins, ("x", [0, "a"]), "edges is 'a'"),
    (Bins, ("x", [float("inf"), 0]), "edges is not rising"),
    (Bins, ("x", 3), "edges is of type int"),
    (Bins.regular, ("x", 0, 1, 0), "bins is 0"),
    (Bins.regular, ("x", 0, 1, 2**29), "bins is 536870912; give from 1 to 2"),
    (Bins.regular, ("x", 1, 1, 3), "stop is 1, with start 1; give start < stop"),
    (Bins.regular, ("x", 0, float("inf"), 3), "stop is 'inf'"),
    (Integers, ("x", 2, 1), "x is from 2 to 1; give first ≤ last"),
    (Integers, ("x", 0, 2**28), "last is 268435456, with first 0; give from 1 to 2"),
    (Integers, ("x", 0.5, 2), "first is 0.5"),
    (Integers, ("x", 0, 2**63), "last is 9223372036854775808"),
    (Calendar, ("x", "2026-01-01", "1d", 0), "length is 0"),
    (Calendar, ("x", "2026-01-01", "1d", 2**28 + 1), "length is 268435457; give from 1"),
    (Calendar, ("x", None, "1d", 3), "start is missing"),
    (Calendar, ("x", "2026-01-01", None, 3), "every is missing"),
    (Calendar, ("x", "2026-01-01", "1m", 3), "every is '1m'; give a step such as .* one of s, min, h, d, w, mo, y"),
    (Calendar, ("x", "2026-01-01", "3000000d", 2**20), "length is 1048576, and the calendar ends before so many ticks"),
]


@pytest.mark.parametrize(("kind", "arguments", "complaint"), BAD)
def test_what_cannot_be_an_axis_is_refused(kind: Any, arguments: tuple[Any, ...], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        kind(*arguments)


def test_labels_may_come_from_an_array() -> None:
    assert Categories("x", np.array(["a", "b"])) == Categories("x", ["a", "b"])
    assert Categories("x", np.arange(3)).labels == (0, 1, 2)
    assert Bins("x", np.arange(3)) == Bins("x", [0, 1, 2])
    with pytest.raises(UnknownName):
        Categories("x", ["a"]).cells_of("b")
