"""Calendars by the wall clock of a time zone, against a loop over datetimes with zoneinfo."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Calendar
from sparsedp.errors import InvalidInput, UnknownName

ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Monrovia",
]
BERLIN = ZoneInfo("Europe/Berlin")
SPRING = Calendar.between("hour", "2024-03-31", "2024-03-31", every="1h", zone="Europe/Berlin")
AUTUMN = Calendar.between("hour", "2024-10-27", "2024-10-27", every="1h", zone="Europe/Berlin")
DAYS = Calendar.between("day", "2024-01-01", "2024-12-31", zone="Europe/Berlin")

instants = st.datetimes(datetime(1850, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC)).filter(
    lambda start: 1 < start.day < 28  # as all months have
)
steps = st.sampled_from(["15min", "1h", "7h", "1d", "1w", "1mo", "1y"])


def _oracle(axis: Calendar, instant: datetime) -> int:
    assert axis.zone is not None
    wall = instant.astimezone(ZoneInfo(axis.zone)).replace(tzinfo=None)
    edges = axis.edges().tolist()
    return next((cell for cell in range(axis.length) if edges[cell] <= wall < edges[cell + 1]), -1)


@given(st.sampled_from(ZONES), steps, instants, st.lists(st.integers(-50, 50), min_size=1, max_size=5))
def test_instants_fall_where_the_clocks_of_the_zone_say(
    zone: str, every: str, start: datetime, offsets: list[int]
) -> None:
    axis = Calendar("x", start, every, 9, zone=zone)
    assert axis.first == start.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    step = (axis.end - axis.first) / 40
    times = [start, *(start + offset * step for offset in offsets)]
    cells = [_oracle(axis, time) for time in times]
    written = [time.astimezone(timezone(timedelta(hours=-3, minutes=-30))).isoformat() for time in times]
    for values in _columns(times):
        assert axis.index_of(values).tolist() == cells
    assert axis.index_of(written).tolist() == cells


def _columns(times: list[datetime]) -> list[Any]:
    """The same instants in all that may hold them."""
    utc = pa.timestamp("us", tz="UTC")
    elsewhere = pa.timestamp("us", tz="Asia/Tokyo")
    return [
        np.array(times, dtype=object),
        pd.Series(times),
        pd.DatetimeIndex(times).tz_convert("America/New_York"),
        pd.Series(times, dtype=pd.ArrowDtype(utc)),
        pl.Series(times),
        pa.array(times, utc),
        pa.chunked_array([pa.array(times, elsewhere)]),
    ]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("year", [1847, 1892, 1972, 2011, 2024])
def test_every_half_hour_of_a_year(zone: str, year: int) -> None:
    axis = Calendar.between("hour", f"{year}", f"{year}", every="1h", zone=zone)
    times = np.arange(f"{year - 1}-12-30", f"{year + 1}-01-03", 30 * 60, dtype="datetime64[s]")
    walls = [time.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) for time in times.tolist()]
    expected = [(wall - axis.first) // timedelta(hours=1) if axis.first <= wall < axis.end else -1 for wall in walls]
    assert axis.index_of(pa.array(times, pa.timestamp("s", tz="UTC"))).tolist() == expected


def test_the_hour_that_is_left_out_has_an_empty_cell() -> None:
    assert SPRING.length == 24
    day = [datetime(2024, 3, 30, 23, tzinfo=UTC) + timedelta(minutes=30 * step) for step in range(46)]
    counts = np.bincount(SPRING.index_of(pd.Series(day)), minlength=24)
    assert counts.tolist() == [2, 2, 0] + [2] * 21
    assert SPRING.index_of(["2024-03-31T02:30"]).tolist() == [2]  # by no clock there, yet it is said to be wall-clock


def test_the_hour_that_comes_twice_has_one_cell() -> None:
    assert AUTUMN.length == 24
    day = [datetime(2024, 10, 26, 22, tzinfo=UTC) + timedelta(minutes=30 * step) for step in range(50)]
    counts = np.bincount(AUTUMN.index_of(pd.Series(day)), minlength=24)
    assert counts.tolist() == [2, 2, 4] + [2] * 21
    folds = [datetime(2024, 10, 27, 2, 30, fold=fold, tzinfo=BERLIN) for fold in (0, 1)]
    assert AUTUMN.index_of(np.array(folds, dtype=object)).tolist() == [2, 2]


def test_days_are_days_there() -> None:
    assert DAYS.length == 366
    late = ["2024-03-30T22:59:59Z", "2024-03-30T23:00Z", "2024-03-31T21:59:59Z", "2024-03-31T22:00Z"]
    assert DAYS.index_of(late).tolist() == [89, 90, 90, 91]
    assert DAYS.index_of(["2023-12-31T22:59Z", "2023-12-31T23:00Z", "2024-12-31T23:00Z"]).tolist() == [-1, 0, -1]


def test_times_without_an_offset_are_wall_clock_already() -> None:
    naive = ["2024-03-31T02:30", "2024-03-31T23:59:59.999999", "2024-04-01"]
    cells = [90, 90, 91]
    assert DAYS.index_of(naive).tolist() == cells
    assert DAYS.index_of(np.array(naive, dtype="datetime64[us]")).tolist() == cells
    assert DAYS.index_of(pd.Series(pd.to_datetime(naive, format="ISO8601"))).tolist() == cells
    assert DAYS.index_of(np.array([*naive, "2024-03-31T23:00Z"], dtype=object)).tolist() == [*cells, 91]


@pytest.mark.parametrize("axis", [DAYS, SPRING, Calendar.between("x", "2024", "2024", "1mo", zone="UTC")])
def test_what_is_no_time_or_far_away_is_outside(axis: Calendar) -> None:
    far = np.array(["NaT", "300000-01-01", "-290000-01-01", "0001-01-01", "9999-12-31"], dtype="datetime64[s]")
    assert axis.index_of(far).tolist() == [-1] * 5
    aware = pa.array(far[[0, 3, 4]], pa.timestamp("s", tz="UTC"))
    assert axis.index_of(aware).tolist() == [-1] * 3
    odd = [None, "soon", "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00", pd.NaT, 3, float("nan")]
    assert axis.index_of(np.array(odd, dtype=object)).tolist() == [-1] * 7


def test_the_ends_of_all_calendars() -> None:
    early = Calendar("h", "0001-01-01", "1h", 24, zone="America/New_York")
    assert early.index_of(["0001-01-01T04:00Z", "0001-01-01T06:00Z"]).tolist() == [-1, 1]
    late = Calendar("h", "9999-12-30", "1h", 47, zone="Europe/Berlin")
    assert late.index_of(["9999-12-31T20:30Z", "9999-12-31T23:30Z"]).tolist() == [45, -1]
    with pytest.raises(InvalidInput, match=r"^start is outside the calendar"):
        Calendar("h", "9999-12-31T23:30Z", "1h", 1, zone="Europe/Berlin")


def test_columns_of_instants_need_an_axis_that_knows_them() -> None:
    plain = Calendar.between("day", "2024-01-01", "2024-12-31")
    for values in _columns([datetime(2024, 1, 1, tzinfo=UTC)]):
        with pytest.raises(
            InvalidInput, match=r"times with a timezone, and the axis has none; .*declare the axis with a zone"
        ):
            plain.index_of(values)


def test_files_say_which_clock() -> None:
    assert DAYS.utc == ()
    assert DAYS.describe() == {
        "kind": "calendar",
        "name": "day",
        "start": "2024-01-01T00:00:00",
        "every": "1d",
        "zone": "Europe/Berlin",
        "length": 366,
    }
    assert "zone" not in Calendar.between("day", "2024-01-01", "2024-12-31").describe()
    in_utc = Calendar.between("day", "2024-01-01", "2024-12-31", zone="UTC")
    assert in_utc.utc == ("day",)
    assert not in_utc.in_utc
    assert Calendar("day", "2024-01-01T00:00Z", "1d", 3).in_utc
    assert eval(repr(DAYS), {"Calendar": Calendar}) == DAYS  # noqa: S307
    assert str(DAYS.time) == "daily ticks in Europe/Berlin from 2024-01-01 00:00"


@pytest.mark.parametrize("zone", [BERLIN, "Europe/Berlin"])
def test_a_zone_may_be_an_object(zone: Any) -> None:
    assert Calendar.between("day", "2024-01-01", "2024-12-31", zone=zone) == DAYS
    assert Calendar("x", "2024", "1d", 1, zone=UTC).zone == "UTC"


@pytest.mark.parametrize(
    ("zone", "complaint"),
    [
        (
            "Europe/Berln",
            r"zone is 'Europe/Berln', which is not known; did you mean 'Europe/Berlin'\? give the IANA name",
        ),
        ("Europe", "zone is 'Europe', which is not known"),
        ("", "zone is ''"),
        ("/etc/passwd", "zone is '/etc/passwd'"),
        ("../UTC", r"zone is '\.\./UTC'"),
        ("localtime", "zone is 'localtime', which is not known"),
        (3, "zone is of type int; give the IANA name"),
        (timezone(timedelta(hours=1)), "zone is of type timezone; give the IANA name"),
    ],
)
def test_zones_that_are_none(zone: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}") as error:
        Calendar("day", "2024-01-01", "1d", 3, zone=zone)
    assert len(str(error.value)) < 200
    assert isinstance(zone, str) == isinstance(error.value, UnknownName)
