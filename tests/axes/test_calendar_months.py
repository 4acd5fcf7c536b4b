"""Calendars of months and years, against a loop over the calendar's months; and from a first day to a last."""

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Calendar, axis_from
from sparsedp.axes.periods import begin_of_month, month_at
from sparsedp.errors import InvalidInput

MONTHS = Calendar.between("month", "2023-01", "2024-12", every="1mo")


def _later(start: datetime, months: int) -> datetime:
    years, month = divmod(start.month - 1 + months, 12)
    return start.replace(year=start.year + years, month=month + 1)


starts = st.datetimes(datetime(1, 1, 1), datetime(9000, 1, 1)).filter(lambda start: start.day <= 28)


@given(starts, st.integers(1, 30), st.integers(1, 40), st.data())
def test_months_are_those_of_the_calendar(start: datetime, months: int, length: int, data: st.DataObject) -> None:
    axis = Calendar("x", start, every=f"{months}mo", length=length)
    edges = [_later(start, cell * months) for cell in range(length + 1)]
    assert axis.edges().tolist() == edges
    assert axis.end == edges[-1]
    around = st.sampled_from(edges).flatmap(lambda edge: st.timedeltas(timedelta(-40), timedelta(40)).map(edge.__add__))
    try:
        times = [
            *edges,
            *(edge - timedelta(microseconds=1) for edge in edges),
            *data.draw(st.lists(around, max_size=5)),
        ]
    except OverflowError:  # before the year 1
        times = edges
    expected = [sum(edge <= time for edge in edges) - 1 if time < edges[-1] else -1 for time in times]
    assert axis.index_of(np.array(times, dtype="datetime64[us]")).tolist() == expected
    assert axis.index_of(np.array(times, dtype=object)).tolist() == expected


@given(st.lists(st.integers(-12 * 1969, 12 * 8000), min_size=1, max_size=20))
def test_months_are_numbered_from_1970(months: list[int]) -> None:
    begins = [(datetime(1970 + month // 12, month % 12 + 1, 1) - datetime(1970, 1, 1)) for month in months]
    moments = np.array([begin // timedelta(microseconds=1) for begin in begins])
    assert begin_of_month(np.array(months)).tolist() == moments.tolist()
    assert [begin_of_month(month) for month in months] == moments.tolist()
    assert month_at(moments).tolist() == months
    assert month_at(moments - 1).tolist() == [month - 1 for month in months]


def test_leap_days_and_year_ends() -> None:
    times = [
        "2023-02-28T23:59:59.999999",
        "2023-03-01",
        "2024-02-29",
        "2024-12-31T23:59:59.999999",
        "2025-01-01",
        "2022-12-31",
    ]
    assert MONTHS.index_of(times).tolist() == [1, 2, 13, 23, -1, -1]
    years = Calendar.between("year", "1896", "1904", every="1y")
    assert years.index_of(["1900-02-28", "1896-02-29", "1904-12-31"]).tolist() == [4, 0, 8]
    assert np.diff(years.edges()).astype("timedelta64[D]").astype(int).tolist() == [
        366,
        365,
        365,
        365,
        365,
        365,
        365,
        365,
        366,
    ]


SAME: list[tuple[Any, str]] = [
    ("1mo", "1mo"),
    (" 1 month", "1mo"),
    ("2months", "2mo"),
    ("1quarter", "3mo"),
    ("12mo", "1y"),
    ("2 years", "2y"),
    (np.timedelta64(3, "M"), "3mo"),
    (np.timedelta64(1, "Y"), "1y"),
]


@pytest.mark.parametrize(("every", "written"), SAME, ids=repr)
def test_a_step_of_months(every: Any, written: str) -> None:
    axis = Calendar("x", "2024-01-01", every, 4)
    assert axis.describe()["every"] == written
    assert axis.step_microseconds is None
    assert axis.step_months is not None
    assert axis == axis_from(axis.describe())


def test_plain_facts() -> None:
    axis = Calendar("x", "2024-01-01T06:00Z", "6h", 4)
    assert (axis.step_microseconds, axis.step_months, axis.zone, axis.in_utc) == (21_600_000_000, None, None, True)
    assert (axis.first, axis.end) == (datetime(2024, 1, 1, 6), datetime(2024, 1, 2, 6))
    assert (MONTHS.step_months, MONTHS.zone, MONTHS.in_utc) == (1, None, False)
    assert str(MONTHS.time) == "monthly ticks from 2023-01-01 00:00"


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "calendar", "name": "x", "start": "2026-01-01T00:00:00", "every": "1d", "length": 31},
        {"kind": "calendar", "name": "x", "start": "2026-01-01T00:00:00+00:00", "every": "1h", "length": 3},
    ],
)
def test_descriptions_without_a_zone_stay_as_they_were(description: dict[str, Any]) -> None:
    assert axis_from(description).describe() == description


BETWEEN: list[tuple[Any, Any, str, int]] = [
    ("2024-01-01", "2024-12-31", "1d", 366),
    ("2023-01-01", "2023-12-31", "1h", 8760),
    (date(2024, 2, 1), date(2024, 2, 29), "1d", 29),
    (np.datetime64("2024-02"), np.datetime64("2024-02"), "1d", 29),
    (pd.Timestamp("2024-02-01"), pd.Timestamp("2024-03-01"), "1d", 29),
    ("2024-02-01", "2024-03-01T00:00", "1d", 29),
    ("2024-W01", "2024-W52", "1w", 52),
    ("2024-01-01", "2024-12-31", "1mo", 12),
    ("2024-01", "2024-12", "3mo", 4),
    ("2000", "2099", "1y", 100),
    ("2024-01-15", "2024-03-14", "1mo", 2),
    ("2024-01-01T08:00", "2024-01-01T17:00", "15min", 36),
    ("2024-01-01T00:00Z", "2024-01-02T01:00+01:00", "1h", 24),
]


@pytest.mark.parametrize(("first", "last", "every", "length"), BETWEEN, ids=repr)
def test_from_a_first_day_to_a_last(first: Any, last: Any, every: str, length: int) -> None:
    assert Calendar.between("x", first, last, every).length == length


BAD: list[tuple[tuple[Any, ...], str]] = [
    (("x", "2024-01-01", "2024-12-31", "1w"), "last is 2024-12-31, .*; give 2024-12-29 or 2025-01-05"),
    (("x", "2024-01-01", "2024-01-02", "1w"), "last is 2024-01-02, .*; give 2024-01-07"),
    (
        ("x", "2024-01-01", "2024-02-15", "1mo"),
        "last is 2024-02-15, .* monthly ticks .*; give 2024-01-31 or 2024-02-29",
    ),
    (("x", "2024-01-31", "2024-12-30", "1mo"), "first is 2024-01-31 00:00, and not every month has such a day"),
    (("x", "2024-01-29", "2024-12-28", "1mo"), "first is 2024-01-29 00:00, and not every month"),
    (("x", "2024-01-02", "2024-01-01"), "last is before first; give a later one: the first cell begins at 2024-01-02"),
    (("x", "2024-01-02T00:00", "2024-01-02T00:00"), "last is before first"),
    (
        ("x", "1900", "2100", "1s"),
        "last is 2100-12-31, after 6,342,969,600 ticks .*; give coarser or fewer cells: at most",
    ),
    (("x", "2024", "9999", "1d"), "last is beyond the calendar; give one in the year 9998"),
    (("x", "2024-13", "2024-12"), "first is '2024-13'; give a time such as"),
    (("x", "2024-01", "soon"), "last is 'soon'; give a time such as"),
    (("x", "0000", "2024"), "first is '0000'"),
    (("x", None, "2024"), "first is missing"),
    (("x", "2024", None), "last is missing"),
    (("x", "2024", "2024", None), "every is missing"),
    (("x", pd.NaT, "2024"), "first is no time at all"),
    (("x", np.datetime64("NaT"), "2024"), "first is no time at all"),
    (("x", "2024-01-01T00:00Z", "2024-01-31", "1h"), "last is a time without a timezone, and the axis is in UTC"),
    (("x", "2024-01-01", "2024-01-31T00:00Z", "1h"), "last is a time with a timezone, and the axis has none"),
    (("x", "2024", "2024", "0mo"), "every is not above zero"),
    (("x", "2024", "2024", "99999y"), "every is longer than 10,000 years"),
    (("x", "2024", "2024", np.timedelta64(-1, "M")), "every is not above zero"),
    (("x", "2024", "2024", np.timedelta64("NaT", "M")), "every is no time at all"),
    ((3, "2024", "2024"), "name is of type int"),
]


@pytest.mark.parametrize(("arguments", "complaint"), BAD, ids=[complaint for _, complaint in BAD])
def test_what_cannot_be_a_calendar_is_refused(arguments: tuple[Any, ...], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        Calendar.between(*arguments)
