"""Cells of a calendar by the times that people name: moments, days, months and years, and ranges of them."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Calendar
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput

DAYS = Calendar.between("day", "2023-07-01", "2024-12-31")
HOURS = Calendar.between("hour", "2024-03-01", "2024-04-30", every="1h", zone="Europe/Berlin")
WEEKS = Calendar.between("week", "2024-W01", "2024-W52", every="1w")
MONTHS = Calendar.between("month", "2023-01", "2024-12", every="1mo", zone="Europe/Berlin")
QUARTERS = Calendar.between("quarter", "2023", "2024", every="3mo")
IN_UTC = Calendar("hour", "2024-01-01T00:00Z", every="1h", length=24)
UTC_ZONE = Calendar("hour", "2024-01-01", every="1h", length=48, zone="UTC")

MARCH = list(range(244, 275))
PLACES: list[tuple[Calendar, object, list[int]]] = [
    (DAYS, "2024-03", MARCH),
    (DAYS, " 2024-03 ", MARCH),
    (DAYS, np.datetime64("2024-03"), MARCH),
    (DAYS, ("2024-03-01", "2024-04-01"), MARCH),
    (DAYS, ("2024-03", "2024-04"), MARCH),
    (DAYS, ["2024-03", "2024-02-29", "2024-03-05"], [243, *MARCH]),
    (DAYS, "2024", list(range(184, 550))),
    (DAYS, ("2024", "2024-12-31"), list(range(184, 549))),
    (DAYS, "2024-W10", list(range(247, 254))),
    (DAYS, date(2024, 3, 1), [244]),
    (DAYS, [], []),
    (HOURS, "2024-03-01", list(range(24))),
    (HOURS, "2024-03-31", list(range(720, 744))),
    (HOURS, date(2024, 3, 2), list(range(24, 48))),
    (HOURS, "2024-04", list(range(744, 1464))),
    (HOURS, "2024-03-01T05:00", [5]),
    (HOURS, "2024-03-01T05:00Z", [6]),
    (HOURS, "2024-04-01T05:00Z", [751]),
    (HOURS, datetime(2024, 3, 1, 5, tzinfo=UTC), [6]),
    (HOURS, pd.Timestamp("2024-03-01T00:00"), [0]),
    (HOURS, ("2024-03-01T05:00Z", "2024-03-01T09:00"), [6, 7, 8]),
    (HOURS, ("2024-03-31T00:00Z", "2024-03-31T02:00Z"), [721, 722, 723]),
    (HOURS, ("2024-04-30", "2024-05-01"), list(range(1440, 1464))),
    (WEEKS, "2024-03-04", [9]),
    (WEEKS, "2024-W10", [9]),
    (MONTHS, "2024-03", [14]),
    (MONTHS, "2024-03-01", [14]),
    (MONTHS, "2024", list(range(12, 24))),
    (MONTHS, ("2023-12", "2024-02"), [11, 12]),
    (MONTHS, "2024-02-29T23:00Z", [14]),
    (MONTHS, 3, [3]),
    (QUARTERS, "2024-04-01", [5]),
    (QUARTERS, "2023", [0, 1, 2, 3]),
    (IN_UTC, np.datetime64("2024-01-01"), list(range(24))),
    (UTC_ZONE, "2024-01-02", list(range(24, 48))),
    (UTC_ZONE, "2024-01-02T01:00+01:00", [24]),
    (UTC_ZONE, "2024-01-02 01:00 UTC", [25]),
]


@pytest.mark.parametrize(("axis", "wanted", "cells"), PLACES, ids=repr)
def test_places_in_time(axis: Calendar, wanted: object, cells: list[int]) -> None:
    assert np.arange(axis.length)[axis.cells_of(wanted)].tolist() == cells
    (found,) = Domain(axis).box({axis.name: wanted})
    assert isinstance(found, slice) or (found.dtype == np.int64 and np.all(np.diff(found) > 0))


NO_PLACES: list[tuple[Calendar, object, str]] = [
    (DAYS, "2023", "day is 2023-01-01 00:00, which is before the first tick"),
    (DAYS, "2025", "day is 2025-01-01 00:00, after the last tick"),
    (DAYS, "2024-13", "day is '2024-13'"),
    (DAYS, "2024-W60", "day is '2024-W60'"),
    (DAYS, "2024-03-05T06:00", "day is 2024-03-05 06:00, which is not on the schedule"),
    (DAYS, ["2024-03", None], "day is of type NoneType"),
    (DAYS, ("2024-04", "2024-03"), "day is a range that ends before it starts"),
    (HOURS, "2024", "hour is 2024-01-01 00:00, which is before the first tick"),
    (
        HOURS,
        "2024-03-31T00:30Z",
        "hour is 2024-03-31 01:30, which is not on the schedule of hourly ticks in Europe/Berlin",
    ),
    (
        WEEKS,
        "2024-03",
        "week is a month that is not made of whole cells; give a range .*, from 2024-01-01 00:00 to 2024-12-30",
    ),
    (WEEKS, "2024", "week is a year that is not made of whole cells"),
    (WEEKS, "2024-03-05", "week is 2024-03-05 00:00, which is not on .*; the nearest tick is 2024-03-04"),
    (
        MONTHS,
        "2024-03-05",
        "month is 2024-03-05 00:00, which is not on .* monthly ticks .*; the nearest tick is 2024-03-01",
    ),
    (MONTHS, "2025-01", "month is 2025-01-01 00:00, after the last tick; give a time up to 2024-12-01"),
    (MONTHS, 24, "month is 24, after the last tick"),
    (QUARTERS, "2024-04", "quarter is a month that is not made of whole cells"),
    (Calendar("hour", "2024-01-01", "1h", 30), "2024-01-02", "hour is a day that is only partly on the axis"),
    (Calendar("hour", "2024-01-01", "1h", 30), "2024", "hour is a year that is only partly on the axis"),
    (IN_UTC, "2024-01", "hour is a time without a timezone, and the axis is in UTC"),
    (IN_UTC, "2024-01-01", "hour is a time without a timezone, and the axis is in UTC"),
]


@pytest.mark.parametrize(("axis", "wanted", "complaint"), NO_PLACES, ids=[case[2] for case in NO_PLACES])
def test_places_that_are_not_there_are_refused(axis: Calendar, wanted: object, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        axis.cells_of(wanted)


@given(
    st.dates(date(1850, 1, 1), date(2150, 1, 1)),
    st.sampled_from(["1h", "6h", "1d"]),
    st.sampled_from([None, "UTC", "Europe/Berlin"]),
    st.sampled_from(["%Y-%m", "%Y-%m-%d"]),
)
def test_a_period_is_all_cells_that_begin_in_it(start: date, every: str, zone: str | None, pattern: str) -> None:
    axis = Calendar("x", start, every, 500, zone=zone)
    begins: list[datetime] = axis.edges()[:-1].tolist()
    for at in (start + timedelta(31), start + timedelta(45)):
        named = at.strftime(pattern)
        expected = [cell for cell, begin in enumerate(begins) if begin.strftime(pattern) == named]
        try:
            cells = np.arange(axis.length)[axis.cells_of(named)].tolist()
        except InvalidInput:
            beyond = datetime(at.year, at.month, 1 if pattern == "%Y-%m" else at.day)
            assert len(expected) < {"1h": 24, "6h": 4, "1d": 1}[every] * (28 if pattern == "%Y-%m" else 1) or (
                beyond < begins[0] or beyond + timedelta(31) > begins[-1]
            )
        else:
            assert cells == expected


def test_the_time_of_a_release_knows_zones_and_months() -> None:
    times = MONTHS.time.times(24)
    assert MONTHS.time.ticks_of("start", times).tolist() == list(range(24))
    assert MONTHS.time.ticks_of("start", ["2023-01-31T23:00Z", "2023-03-01"]).tolist() == [1, 2]
    assert MONTHS.time.shown(24) == "2025-01-01 00:00"
    with pytest.raises(
        InvalidInput, match=r"^start is 2023-01-05 00:00, which is not on .* the nearest tick is 2023-01-01"
    ):
        MONTHS.time.ticks_of("start", np.array(["2023-01-05"], dtype="datetime64[D]"))
    with pytest.raises(InvalidInput, match=r"^count is 2147483648, and the calendar ends before"):
        MONTHS.time.times(2**31)
