"""A schedule of ticks reads times as people write them, exactly, and refuses what is not on it."""

import json
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.moments import FARTHEST, UNITS
from sparsedp.validate import MAX_CELLS

HOURS = Schedule("2026-01-01T00:00Z", every="1h")
LOCAL_HOURS = Schedule("2026-01-01", every="1h")
NUMBERED = Schedule()

starts = st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=-7, minutes=-30))])).filter(
    lambda start: 1 < start.year < 9998
)
steps = st.timedeltas(timedelta(microseconds=1), timedelta(days=36500))


@given(starts, steps, st.integers(1, 300))
def test_every_tick_is_found_at_its_time(start: datetime, every: timedelta, count: int) -> None:
    axis = Schedule(start, every)
    times = axis.times(count)
    assert times.dtype == np.dtype("datetime64[us]")
    np.testing.assert_array_equal(axis.ticks_of("at", times), np.arange(count))
    last = count - 1
    assert axis.tick_of("at", times[last]) == axis.tick_of("at", np.int64(last)) == last


@given(starts, st.timedeltas(timedelta(microseconds=1), timedelta(days=1)), st.integers(0, 300))
def test_a_time_may_be_written_in_many_ways(start: datetime, every: timedelta, tick: int) -> None:
    axis = Schedule(start, every)
    at = start + tick * every
    for written in (at, at.isoformat(), pd.Timestamp(at), pd.Timestamp(at).isoformat(), axis.shown(tick)):
        assert axis.tick_of("at", written) == tick


@given(starts, steps)
def test_its_description_gives_it_back(start: datetime, every: timedelta) -> None:
    axis = Schedule(start, every)
    again = Schedule.from_description(json.loads(json.dumps(axis.describe())))
    assert again == axis
    assert hash(again) == hash(axis)
    assert (again.start, again.every, again.utc) == (start, every, start.tzinfo is not None)
    assert eval(repr(axis), {"Schedule": Schedule}) == axis  # noqa: S307
    assert Schedule(axis.start, axis.every) == axis
    assert pickle.loads(pickle.dumps(axis)) == axis


@given(starts, steps, st.integers(0, 300), st.data())
def test_what_is_off_the_schedule_is_refused(start: datetime, every: timedelta, tick: int, data: st.DataObject) -> None:
    axis = Schedule(start, every + timedelta(microseconds=1))
    step = every // timedelta(microseconds=1) + 1
    astray = data.draw(st.integers(1, step - 1), "microseconds after the tick")
    at = axis.times(tick + 1)[tick] + np.timedelta64(astray, "us")
    nearest = axis.shown(tick + (2 * astray > step))
    for ask in (axis.tick_of, axis.ticks_of):
        with pytest.raises(InvalidInput, match=r"^at is .* not on the schedule") as error:
            ask("at", at)
        assert error.value.remedy == f"the nearest tick is {nearest}"


SAME_START: list[Any] = [
    "2026-01-01",
    "2026-01-01T00:00",
    " 2026-01-01 00:00:00 ",
    "2026-01-01T00:00:00.000000000",
    date(2026, 1, 1),
    datetime(2026, 1, 1),
    datetime(2026, 1, 1, fold=1),
    pd.Timestamp("2026-01-01"),
    np.datetime64("2026"),
    np.datetime64("2026-01-01"),
    np.datetime64("2026-01-01T00:00:00.000000000"),
]
SAME_START_IN_UTC: list[Any] = [
    "2026-01-01T00:00Z",
    "2026-01-01T02:00+02:00",
    "2026-01-01 00:00 UTC",
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2025, 12, 31, 17, tzinfo=timezone(timedelta(hours=-7))),
    pd.Timestamp("2026-01-01T01:00", tz="Europe/Berlin"),
]
SAME_STEP: list[Any] = [
    "90min",
    "90 minutes",
    "5400s",
    "5400000ms",
    "5400000000us",
    timedelta(hours=1.5),
    pd.Timedelta("1h30min"),
    np.timedelta64(90, "m"),
    np.timedelta64(5400 * 10**9, "ns"),
]


@pytest.mark.parametrize("start", SAME_START, ids=repr)
def test_a_start_without_a_timezone(start: Any) -> None:
    axis = Schedule(start, "1h")
    assert axis == LOCAL_HOURS
    assert axis.start == datetime(2026, 1, 1)
    assert type(axis.start) is datetime
    assert not axis.utc


@pytest.mark.parametrize("start", SAME_START_IN_UTC, ids=repr)
def test_a_start_with_a_timezone_makes_an_axis_in_utc(start: Any) -> None:
    axis = Schedule(start, "1h")
    assert axis == HOURS != LOCAL_HOURS
    assert axis.utc
    assert axis.times(2).tolist() == [datetime(2026, 1, 1, 0), datetime(2026, 1, 1, 1)]


@pytest.mark.parametrize("every", SAME_STEP, ids=repr)
def test_a_step(every: Any) -> None:
    assert Schedule("2026-01-01", every).every == timedelta(minutes=90)


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_by_its_names(unit: str) -> None:
    long, length = UNITS[unit]
    for name in (f"1{unit}", f"1 {long}", f"1{long}s"):
        assert Schedule("2026-01-01", name).every == timedelta(microseconds=length)


def test_a_step_of_months_has_no_fixed_length() -> None:
    quarters = Schedule("2026-01", "3mo")
    assert (quarters.every, quarters.months) == (None, 3)
    assert quarters.times(3).astype("datetime64[D]").astype(str).tolist() == ["2026-01-01", "2026-04-01", "2026-07-01"]
    assert quarters.tick_of("at", "2026-07-01") == 2
    assert Schedule.from_description(quarters.describe()) == quarters
    with pytest.raises(InvalidInput, match=r"^at is 2026-05-01 .*the nearest tick is 2026-04-01"):
        quarters.tick_of("at", "2026-05-01")


def test_it_introduces_itself() -> None:
    assert str(HOURS) == "hourly ticks from 2026-01-01 00:00 UTC"
    assert str(Schedule("2026-01-01T06:00", "1d")) == "daily ticks from 2026-01-01 06:00"
    assert str(Schedule("2026-01-01T06:00", "168h")) == "weekly ticks from 2026-01-01 06:00"
    assert str(Schedule("2026-01-01T06:00:30", "15min")) == "ticks every 15 minutes from 2026-01-01 06:00:30"
    assert str(Schedule("2026-01-01T00:00:00.5", "1s")) == "ticks every second from 2026-01-01 00:00:00.500000"
    assert str(NUMBERED) == "ticks numbered from 0"
    assert HOURS.span(25) == "hourly ticks from 2026-01-01 00:00 UTC to 2026-01-02 00:00 UTC"
    assert NUMBERED.span(25) == "ticks numbered from 0 to 24"
    assert NUMBERED.span(0) == "ticks numbered from 0"
    assert HOURS.describe() == {"start": "2026-01-01T00:00:00+00:00", "every": "1h"}


def test_ticks_without_a_calendar() -> None:
    times = NUMBERED.times(3)
    assert times.tolist() == [0, 1, 2]
    assert times.dtype == np.int64
    assert NUMBERED.tick_of("at", 7) == 7
    assert NUMBERED.ticks_of("at", [3, 1]).tolist() == [3, 1]
    assert Schedule.from_description(NUMBERED.describe()) == NUMBERED != HOURS
    for at in ("2026-01-01", np.datetime64(7, "ns"), np.array([7], "datetime64[ns]")):
        with pytest.raises(InvalidInput, match=r"^at is a time, and these ticks have no calendar; give the number"):
            NUMBERED.ticks_of("at", at)


BAD_AXES: list[tuple[Any, Any, str]] = [
    ("2026-01-01", None, "every is missing; give both"),
    (None, "1h", "start is missing; give both"),
    ("2026-13-01", "1h", "start is '2026-13-01'; give a time such as"),
    ("yesterday", "1h", "start is 'yesterday'; give a time such as"),
    ("", "1h", "start is ''; give a time"),
    (5, "1h", "start is of type int; give a time"),
    (True, "1h", "start is of type bool"),
    (pd.NaT, "1h", r"start is no time at all \(NaT\)"),
    (np.datetime64("NaT"), "1h", r"start is no time at all \(NaT\)"),
    (np.datetime64(1, "ns"), "1h", "start is finer than microseconds"),
    (pd.Timestamp(1), "1h", "start is finer than microseconds"),
    ("2026-01-01T00:00:00.1234567", "1h", "start is finer than microseconds"),
    (np.datetime64(20000 - 1970, "Y"), "1h", "start is outside the calendar; .* years 1 to 9999"),
    (np.datetime64(2**62, "Y"), "1h", "start is beyond 140,000 years"),
    (np.datetime64(2**62, "s"), "1h", "start is beyond 140,000 years"),
    ("0001-01-01T00:00+02:00", "1h", "start is outside the calendar"),
    ("2026-01-01", "1M", "every is '1M'; give a step .*15min.*1mo"),
    ("2026-01-01", "1MS", "every is '1MS'; give a step"),
    ("2026-01-01", "1m", "every is '1m'; give a step .*15min.*1mo"),
    ("2026-01-31", "1mo", "start is 2026-01-31 00:00, and not every month has such a day"),
    ("2026-01-01", "0mo", "every is not above zero"),
    ("2026-01-01", np.timedelta64(1), "every is of type timedelta64; give a step"),
    ("2026-01-01", np.timedelta64("NaT", "s"), r"every is no time at all \(NaT\)"),
    ("2026-01-01", np.timedelta64(1, "ns"), "every is finer than microseconds"),
    ("2026-01-01", np.timedelta64(2**60, "W"), "every is beyond 140,000 years"),
    ("2026-01-01", pd.Timedelta(1, "ns"), "every is finer than microseconds"),
    ("2026-01-01", pd.NaT, "every is of type NaTType"),
    ("2026-01-01", "0s", "every is not above zero"),
    ("2026-01-01", timedelta(hours=-1), "every is not above zero"),
    ("2026-01-01", timedelta.max, "every is longer than 70,000 years"),
    ("2026-01-01", "-1h", "every is '-1h'; give a step such as"),
    ("2026-01-01", "1.5h", "every is '1.5h'; give a step .* a whole number and one of s, min, h"),
    ("2026-01-01", "h", "every is 'h'; give a step"),
    ("2026-01-01", "1 fortnight", "every is '1 fortnight'; give a step"),
    ("2026-01-01", "9" * 5000 + "h", "every is '999.*; give a step"),
    ("2026-01-01", 3600, "every is of type int; give a step"),
]


@pytest.mark.parametrize(("start", "every", "complaint"), BAD_AXES, ids=[case[2] for case in BAD_AXES])
def test_axes_that_cannot_be_meant(start: Any, every: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}") as error:
        Schedule(start, every)
    assert len(str(error.value)) < 200


BAD_TIMES: list[tuple[Any, str]] = [
    (-1, "-1; give the number of a tick, counted from 0, or a time such as"),
    (True, "True; give the number"),
    (np.True_, "of type bool"),
    (1.0, "1.0; give the number"),
    (np.float64(1), "1.0; give the number"),
    (None, "of type NoneType"),
    (np.timedelta64(3, "h"), "3 hours; give the number"),
    (pd.NaT, r"no time at all \(NaT\)"),
    (np.datetime64("NaT"), r"no time at all \(NaT\)"),
    ("noon", "'noon'; give a time such as"),
    ("3", "'3'; give a time such as"),
    ("2025-12-31T23:00Z", "2025-12-31 23:00 UTC, which is before the first tick; give 2026-01-01 00:00 UTC or later"),
    ("2026-01-01T00:30Z", "2026-01-01 00:30 UTC, which is not .*; the nearest tick is 2026-01-01 00:00 UTC"),
    ("2026-01-01T00:31Z", "2026-01-01 00:31 UTC, which is not .*; the nearest tick is 2026-01-01 01:00 UTC"),
    (np.datetime64("2026-01-01T00:30"), "2026-01-01 00:30 UTC, which is not on the schedule of hourly ticks"),
    ("2026-01-01T01:00", "a time without a timezone, and the axis is in UTC; give one such as"),
    (date(2026, 1, 1), "a time without a timezone"),
    (datetime(2026, 1, 1), "a time without a timezone"),
    (pd.Timestamp("2026-01-01"), "a time without a timezone"),
]


@pytest.mark.parametrize(("at", "complaint"), BAD_TIMES, ids=[repr(case[0]) for case in BAD_TIMES])
def test_times_that_are_no_tick(at: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^when is {complaint}"):
        HOURS.tick_of("when", at)
    with pytest.raises(InvalidInput, match=r"^when is"):
        HOURS.ticks_of("when", at)


def test_timezones_do_not_mix() -> None:
    for at in ("2026-01-01T01:00Z", datetime(2026, 1, 1, tzinfo=UTC), pd.Timestamp("2026-01-01", tz="UTC")):
        with pytest.raises(
            InvalidInput, match=r"^at is a time with a timezone, and the axis has none; give one without"
        ):
            LOCAL_HOURS.tick_of("at", at)


ARRAYS_OF_TICKS: list[Any] = [
    [0, 2, 25],
    np.array([0, 2, 25], dtype=np.uint8),
    ["2026-01-01T00:00Z", "2026-01-01T03:00+01:00", "2026-01-02T01:00Z"],
    np.array(["2026-01-01T00", "2026-01-01T02", "2026-01-02T01"], dtype="datetime64[h]"),
    np.array(["2026-01-01T00", "2026-01-01T02", "2026-01-02T01"], dtype="datetime64[ns]"),
    pd.to_datetime(["2026-01-01T00", "2026-01-01T02", "2026-01-02T01"], utc=True),
    pd.Series(pd.to_datetime(["2026-01-01T00", "2026-01-01T02", "2026-01-02T01"], utc=True)),
    np.array([datetime(2026, 1, 1, tzinfo=UTC), 2, "2026-01-02T01:00Z"], dtype=object),
]


@pytest.mark.parametrize("at", ARRAYS_OF_TICKS, ids=lambda at: type(at).__name__)
def test_arrays_of_times(at: Any) -> None:
    ticks = HOURS.ticks_of("at", at)
    assert ticks.dtype == np.int64
    assert ticks.tolist() == [0, 2, 25]


def test_arrays_of_times_keep_their_shape() -> None:
    assert HOURS.ticks_of("at", HOURS.times(6).reshape(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert HOURS.ticks_of("at", HOURS.times(6)[5]).shape == ()
    assert HOURS.ticks_of("at", HOURS.times(0)).shape == (0,)
    assert HOURS.ticks_of("at", [2**70]).tolist() == HOURS.ticks_of("at", np.uint64(2**64 - 1)).ravel().tolist()
    assert HOURS.ticks_of("at", [2**70])[0] > MAX_CELLS


BAD_ARRAYS: list[npt.ArrayLike] = [
    [0, -1],
    [0.0, 1.0],
    [True, False],
    [[1], [2, 3]],
    np.array([3], dtype="timedelta64[ns]"),
    np.array(["2026-01-01", "NaT"], dtype="datetime64[D]"),
    np.array(["2026-01-01T00:00", "2025-12-31T23:00"], dtype="datetime64[s]"),
]


@pytest.mark.parametrize("at", BAD_ARRAYS, ids=repr)
def test_arrays_that_are_not_all_ticks(at: npt.ArrayLike) -> None:
    with pytest.raises(InvalidInput, match=r"^at is"):
        HOURS.ticks_of("at", at)


def test_a_calendar_ends() -> None:
    far = Schedule("2026-01-01", every="52w")
    assert far.times(1000)[-1] == np.datetime64("2026-01-01") + np.timedelta64(999 * 52 * 7, "D")
    with pytest.raises(
        InvalidInput, match=r"^count is 1000000, and the calendar ends before so many ticks every 52 weeks"
    ):
        far.times(1_000_000)
    longest = Schedule("9999-12-31", np.timedelta64(FARTHEST // 2, "us"))
    assert longest.times(1)[0] == np.datetime64("9999-12-31")
    with pytest.raises(InvalidInput, match="the calendar ends"):
        longest.times(2)
    for count in (-1, 1.5, True, MAX_CELLS + 1):
        with pytest.raises(InvalidInput, match=r"^count is"):
            HOURS.times(count)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["2026-01-01+02:00", "2026-01-01x02:00", "2026-01-01-02:00"])
def test_an_offset_is_not_taken_for_an_hour(text: str) -> None:
    with pytest.raises(InvalidInput, match="at is"):
        Schedule("2026-01-01", every="1h").tick_of("at", text)
