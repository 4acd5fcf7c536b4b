"""The coarsenings of calendars: weekdays, hours, weeks, months and years, by the calendar's own clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Calendar, Categories, Integers, parse_axis

WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def groups(calendar: Calendar, name: str) -> list[Any]:
    """What the coarsening says of every cell: a label, a number, or when its stretch begins."""
    found = calendar.coarsenings[name]
    words = next(iter(found.axis.columns().values())).tolist()
    return [words[group] for group in found.group_of]


starts = st.datetimes(datetime(1, 1, 1), datetime(9990, 1, 1))
steps = st.sampled_from(["1min", "15min", "30min", "1h", "3h", "6h", "12h", "1d"])
clocks = st.sampled_from([(None, None), (UTC, None), (None, "Europe/Berlin"), (None, "America/New_York")])


@given(start=starts, every=steps, length=st.integers(2, 900), clock=clocks)
def test_as_python_reads_the_clock(start: datetime, every: str, length: int, clock: tuple[Any, str | None]) -> None:
    start = start.replace(second=0, microsecond=0)
    calendar = Calendar("t", start.replace(tzinfo=clock[0]), every, length, zone=clock[1])
    begins = [datetime.fromisoformat(str(begin)) for begin in calendar.edges()[:-1].tolist()]
    read: dict[str, list[Any]] = {
        "weekday": [begin.strftime("%a") for begin in begins],
        "hour_of_day": [begin.hour for begin in begins],
        "hour_of_week": [f"{begin:%a} {begin:%H}" for begin in begins],
        "month_of_year": [begin.strftime("%b") for begin in begins],
        "day": [begin.replace(hour=0, minute=0) for begin in begins],
        "week": [(begin - timedelta(begin.weekday())).replace(hour=0, minute=0) for begin in begins],
        "month": [begin.replace(day=1, hour=0, minute=0) for begin in begins],
        "year": [begin.replace(month=1, day=1, hour=0, minute=0) for begin in begins],
    }
    for name, expected in read.items():
        if 1 < len(set(expected)) < length and (every != "1d" or not name.startswith("hour")):
            assert groups(calendar, name) == expected
        else:
            assert name not in calendar.coarsenings
    assert set(calendar.coarsenings) <= set(read)


def test_days_have_weekdays_and_stretches() -> None:
    days = Calendar.between("day", "2023-12-29", "2024-03-10")
    assert list(days.coarsenings) == ["weekday", "month_of_year", "week", "month", "year"]
    weekday = days.coarsenings["weekday"].axis
    assert isinstance(weekday, Categories)
    assert list(weekday.labels) == WEEKDAYS
    assert weekday.ordered
    assert groups(days, "weekday")[:4] == ["Fri", "Sat", "Sun", "Mon"]
    assert days.coarsenings["month"].axis == Calendar("day.month", "2023-12-01", "1mo", 4)
    assert days.coarsenings["year"].axis == Calendar("day.year", "2023-01-01", "1y", 2)
    assert days.coarsenings["month_of_year"].axis == Categories(
        "day.month_of_year", ["Jan", "Feb", "Mar", "Dec"], ordered=True
    )


def test_first_and_last_weeks_may_be_parts() -> None:
    """From a Friday to a Tuesday: weeks begin on the Monday before, and hold what the calendar has of them."""
    days = Calendar.between("day", "2023-12-29", "2024-01-09")
    week = days.coarsenings["week"]
    assert week.axis == Calendar("day.week", "2023-12-25", "1w", 3)
    assert np.bincount(week.group_of).tolist() == [3, 7, 2]
    month = days.coarsenings["month"]
    assert np.bincount(month.group_of).tolist() == [3, 9]
    monday = Calendar.between("day", "2024-01-01", "2024-01-14")
    assert np.bincount(monday.coarsenings["week"].group_of).tolist() == [7, 7]


def test_groups_that_no_cell_has_are_left_out() -> None:
    days = Calendar.between("day", "2024-01-05", "2024-01-09")  # five days from a Friday: none twice
    assert list(days.coarsenings) == ["week"]
    hours = Calendar("h", "2024-01-05T18:00", "1h", 12)  # Friday evening and Saturday morning
    weekday = hours.coarsenings["weekday"].axis
    assert isinstance(weekday, Categories)
    assert weekday.labels == ("Fri", "Sat")
    assert "hour_of_day" not in hours.coarsenings  # every cell is one of its own
    three = Calendar("h", "2024-01-05T21:00", "3h", 80).coarsenings["hour_of_day"].axis
    assert three == Categories("h.hour_of_day", [0, 3, 6, 9, 12, 15, 18, 21], ordered=True)
    long = Calendar("h", "2024-01-05T21:00", "1h", 49).coarsenings["hour_of_day"].axis
    assert long == Integers("h.hour_of_day", 0, 23)


def test_few_hours_that_come_again_are_whole_numbers_or_codes() -> None:
    twice = Calendar("t", "2024-01-05T21:00", "30min", 4)
    assert twice.coarsenings["hour_of_day"].axis == Integers("t.hour_of_day", 21, 22)
    night = Calendar("t", "2024-01-05T23:00", "30min", 4)
    assert night.coarsenings["hour_of_day"].axis == Categories("t.hour_of_day", [0, 23], ordered=True)
    assert night.coarsenings["hour_of_day"].group_of.tolist() == [1, 1, 0, 0]


def test_hours_of_the_week_run_from_monday() -> None:
    hours = Calendar("h", "2024-01-05T00:00", "1h", 24 * 15)
    axis = hours.coarsenings["hour_of_week"].axis
    assert isinstance(axis, Categories)
    assert axis.length == 168
    assert axis.labels[0] == "Mon 00"
    assert axis.labels[-1] == "Sun 23"
    assert groups(hours, "hour_of_week")[8] == "Fri 08"


def test_clocks_that_change_leave_each_day_its_24_hours() -> None:
    """By the wall clock: the hour that is left out has a cell, empty, and the hour that comes twice has one."""
    hours = Calendar("h", "2024-03-30", "1h", 72, zone="Europe/Berlin")
    np.testing.assert_array_equal(np.bincount(hours.coarsenings["day"].group_of), [24, 24, 24])
    np.testing.assert_array_equal(np.bincount(hours.coarsenings["hour_of_day"].group_of), [3] * 24)
    day = hours.coarsenings["day"].axis
    assert day == Calendar("h.day", "2024-03-30", "1d", 3, zone="Europe/Berlin")
    # 00:30 on Sunday in Berlin is still Saturday in UTC.
    (cell,) = hours.index_of(["2024-03-30T23:30Z"])
    assert groups(hours, "weekday")[cell] == "Sun"
    assert day.index_of(["2024-03-30T23:30Z"]).tolist() == [1]
    # 03:10 in summer time, where 02:10 was left out.
    (cell,) = hours.index_of(["2024-03-31T01:10Z"])
    assert groups(hours, "hour_of_day")[cell] == 3


def test_records_fall_into_the_group_of_their_cell() -> None:
    """For stretches of time: the coarse axis puts a time where the fine one's cell goes."""
    rng = np.random.default_rng(1)
    for hours in (
        Calendar("h", "2024-10-20", "1h", 24 * 40, zone="Europe/Berlin"),
        Calendar("h", "2024-10-20T00:00Z", "6h", 4 * 40),
        Calendar("h", "2024-10-20", "15min", 96 * 40),
    ):
        seconds = rng.integers(0, 40 * 86_400, 200)
        times = np.datetime64("2024-10-20", "s") + seconds
        cells = hours.index_of(times)
        for name in ("day", "week", "month"):
            coarsening = hours.coarsenings[name]
            np.testing.assert_array_equal(coarsening.group_of[cells], coarsening.axis.index_of(times))


def test_a_calendar_in_utc_has_coarser_ones_in_utc() -> None:
    hours = Calendar("h", "2024-01-01T00:00Z", "1h", 1000)
    for name in ("day", "week", "month"):
        axis = hours.coarsenings[name].axis
        assert isinstance(axis, Calendar)
        assert axis.in_utc
        assert axis.utc == (f"h.{name}",)
        assert parse_axis(axis.spec) == axis


def test_a_cell_belongs_to_where_it_begins() -> None:
    days = Calendar("day", "2024-01-01T06:00", "1d", 40)
    assert groups(days, "weekday")[:2] == ["Mon", "Tue"]
    assert groups(days, "month_of_year")[30:32] == ["Jan", "Feb"]  # the day from 31 January, 06:00
    hours = Calendar("h", "2024-01-01T23:30", "1h", 50)
    assert groups(hours, "day")[0] == datetime(2024, 1, 1)
    assert groups(hours, "hour_of_day")[:2] == [23, 0]


def test_months_and_quarters_have_months_of_the_year_and_years() -> None:
    months = Calendar("month", "2022-11-15T06:00", "1mo", 16)
    assert list(months.coarsenings) == ["month_of_year", "year"]
    assert groups(months, "month_of_year")[:3] == ["Nov", "Dec", "Jan"]
    assert np.bincount(months.coarsenings["year"].group_of).tolist() == [2, 12, 2]
    quarters = Calendar("quarter", "2023-04-01", "3mo", 6)
    axis = quarters.coarsenings["month_of_year"].axis
    assert axis == Categories("quarter.month_of_year", ["Jan", "Apr", "Jul", "Oct"], ordered=True)


@pytest.mark.parametrize("every", ["1w", "2d", "5h", "7s", "5mo", "7y", "1y"])
def test_steps_that_no_clock_has_have_none(every: str) -> None:
    assert not Calendar("t", "2024-01-01", every, 500 if every[-1] != "y" else 50).coarsenings


def test_the_first_and_the_last_year_there_are() -> None:
    first = Calendar("day", "0001-01-03", "1d", 40)
    assert first.coarsenings["week"].axis == Calendar("day.week", "0001-01-01", "1w", 6)
    last = Calendar("day", "9998-12-01", "1d", 60)
    for coarsening in last.coarsenings.values():
        assert coarsening.axis.length == coarsening.groups
    with pytest.raises(KeyError):
        last.coarsenings["hour_of_day"]
