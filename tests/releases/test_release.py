"""A release answers anything, opens in other tools, and says what it promises."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sparsedp as sdp
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files import columns_file
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours

GUARANTEE = Guarantee((Expense("measure", sdp.Budget(epsilon="0.5")),), Neighbours(), private=True)

HOURS_IN_UTC = Schedule("2026-01-01T00:00Z", every="1h")
AXES = {
    "in UTC": HOURS_IN_UTC,
    "without a timezone": Schedule("2026-01-01", every="1h"),
    "without a calendar": Schedule(),
}


def release_of(values: npt.NDArray[np.float64]) -> sdp.Release:
    return sdp.Release(
        values, GUARANTEE, "laplace", {"name": "discrete_laplace", "scale": "2"}, {"status": "converged"}
    )


@given(
    arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e6, 1e6)),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8),
)
def test_range_sums_are_slices(values: npt.NDArray[np.float64], bounds: list[tuple[int, int]]) -> None:
    release = release_of(values)
    clipped = [sorted(min(bound, values.size) for bound in pair) for pair in bounds]
    starts, stops = np.array(clipped).T
    expected = [values[start:stop].sum() for start, stop in clipped]
    np.testing.assert_allclose(release.range_sum(starts, stops), expected, atol=1e-6)
    assert release.range_sum(int(starts[0]), int(stops[0])) == pytest.approx(expected[0], abs=1e-6)


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (0, 5), (3, 2), (0.5, 2), ("a", 2), (None, 1)])
def test_ranges_outside_are_refused(start: object, stop: object) -> None:
    with pytest.raises(InvalidInput, match=r"^(start|stop) is"):
        release_of(np.arange(4.0)).range_sum(start, stop)  # type: ignore[arg-type]


def test_bounds_of_different_shapes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="as many bounds as start"):
        release_of(np.arange(4.0)).range_sum([0, 1], [2, 3, 4])
    assert release_of(np.arange(4.0)).range_sum(0, [1, 2, 4]).tolist() == [0.0, 1.0, 6.0]


def test_any_query() -> None:
    release = release_of(np.array([3.0, 1.0, 4.0, 1.0]))
    assert release.query(np.argmax) == 2
    assert release.query(lambda cells: cells[cells > 1].sum()) == 7.0
    assert release.query([0, 1, 1, 0]) == 5.0
    assert release.query(np.arange(4) < 2) == 4.0
    assert np.quantile(release, 0.5) == 2.0
    assert np.asarray(release, dtype=np.float32).dtype == np.float32
    assert len(release) == 4
    assert release[2] == 4.0
    assert list(release) == [3.0, 1.0, 4.0, 1.0]
    np.testing.assert_array_equal(release[1:3], [1.0, 4.0])
    assert pd.Series(release).tolist() == [3.0, 1.0, 4.0, 1.0]
    with pytest.raises(InvalidInput, match="one number for each of the 4 cells"):
        release.query([1, 2, 3])


def test_values_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        release_of(np.zeros(3)).values[0] = 1


def test_saved_and_opened(tmp_path: Path) -> None:
    release = sdp.release(np.arange(20), epsilon="0.25", contribution=3)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    np.testing.assert_array_equal(again.values, release.values)
    assert again.spent == sdp.Budget(epsilon="0.25")
    assert again.guarantee == release.guarantee
    assert again.mechanism == release.mechanism
    assert again.recovery == release.recovery


def test_paths_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    release = sdp.release(np.arange(20), epsilon=1)
    with pytest.raises(InvalidInput, match=r"ending in \.csv; give one ending in \.parquet"):
        release.save(tmp_path / "x.csv")
    with pytest.raises(BadFile, match="is a folder"):
        sdp.open_release(tmp_path)
    with pytest.raises(InvalidInput, match="path is of type NoneType"):
        sdp.open_release(None)  # type: ignore[arg-type]


def test_pandas_opens_it_as_it_is(tmp_path: Path) -> None:
    release = sdp.release(np.arange(20), epsilon=1)
    frame = pd.read_parquet(release.save(tmp_path / "x.parquet"))
    assert list(frame.columns) == ["cell", "count", "stderr"]
    np.testing.assert_array_equal(frame["cell"], np.arange(20))
    np.testing.assert_array_equal(frame["count"], release.values)


def test_a_synopsis_is_not_a_release(tmp_path: Path) -> None:
    path = sdp.Laplace().measure([1, 2, 3], epsilon=1).save(tmp_path / "x")
    with pytest.raises(BadFile, match="open it with open_synopsis"):
        sdp.open_release(path)


def test_pages_and_pictures_are_made_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """And loaded only when they are asked for."""
    asked: list[tuple[object, ...]] = []
    pages = ModuleType("sparsedp.reports")
    monkeypatch.setattr(pages, "write_report", lambda *given, title: asked.append((*given, title)), raising=False)
    monkeypatch.setattr(pages, "plot", lambda *given: asked.append(given), raising=False)
    monkeypatch.setitem(sys.modules, "sparsedp.reports", pages)
    release = release_of(np.arange(4.0))
    release.report("x.html", title="Visits")
    release.plot()
    release.plot("x.png")
    assert asked == [(release, "x.html", "Visits"), (release, None), (release, "x.png")]


def test_it_introduces_itself() -> None:
    text = repr(sdp.release([1, 2, 3], epsilon=1))
    assert "3 cells by adaptive" in text
    assert "ε = 1" in text
    assert "promised by the caller" in text


def test_without_a_schedule_there_are_no_times(tmp_path: Path) -> None:
    release = release_of(np.arange(4.0))
    assert release.time is None
    with pytest.raises(InvalidInput, match=r"release is without times; .*declare them with a Calendar"):
        _ = release.times
    with pytest.raises(InvalidInput, match="time is of type str; give the schedule of a stream"):
        replace(release, time="1h")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="start is not whole numbers"):
        release.range_sum("2026-01-01", 2)
    assert "time" not in columns_file.read(release.save(tmp_path / "x.parquet"), "release")[1]


def test_with_a_schedule_everything_else_stays() -> None:
    release = release_of(np.arange(30.0))
    timed = replace(release, time=HOURS_IN_UTC)
    assert timed.time == HOURS_IN_UTC
    assert release.time is None
    assert timed.guarantee == release.guarantee
    np.testing.assert_array_equal(timed.values, release.values)
    np.testing.assert_array_equal(timed.times, HOURS_IN_UTC.times(30))
    assert "30 cells by laplace, hourly ticks from 2026-01-01 00:00 UTC to 2026-01-02 05:00 UTC. " in repr(timed)
    assert "30 cells by laplace, ticks numbered from 0 to 29. " in repr(replace(release, time=Schedule()))
    assert timed.range_sum([0, 3], 5).tolist() == release.range_sum([0, 3], 5).tolist()
    with pytest.raises(InvalidInput, match="the calendar ends before"):
        replace(release, time=Schedule("2026-01-01", every=timedelta(days=365 * 10_000)))


@given(arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e6, 1e6)), st.data())
def test_range_sums_between_times(values: npt.NDArray[np.float64], data: st.DataObject) -> None:
    """The last bound is the tick just after the last."""
    release = replace(release_of(values), time=HOURS_IN_UTC)
    start, stop = sorted(data.draw(st.tuples(st.integers(0, values.size), st.integers(0, values.size))))
    first = datetime(2026, 1, 1, tzinfo=UTC)
    expected = release.range_sum(start, stop)
    for at in (lambda tick: first + timedelta(hours=tick), lambda tick: (first + timedelta(hours=tick)).isoformat()):
        assert release.range_sum(at(start), at(stop)) == release.range_sum(start, at(stop)) == expected
    bounds = HOURS_IN_UTC.times(values.size + 1)
    assert release.range_sum(bounds[start], bounds[stop]) == expected
    np.testing.assert_array_equal(
        release.range_sum(bounds[:-1], bounds[-1]), release.range_sum(range(values.size), values.size)
    )


OUTSIDE: list[tuple[Any, Any, str]] = [
    ("2025-12-31T23:00Z", 4, "start is 2025-12-31 23:00 UTC, which is before the first tick"),
    (
        0,
        "2026-01-01T05:00Z",
        "stop is outside the cells; give .* 0 to 4, or times from 2026-.* to 2026-01-01 04:00 UTC",
    ),
    (0, "2026-01-01T02:20Z", "stop is 2026-01-01 02:20 UTC, which is not on .*nearest tick is 2026-01-01 02:00 UTC"),
    (0, "2026-01-01T02:00", "stop is a time without a timezone"),
    (np.datetime64("NaT"), 4, "start is no time at all"),
    ("2026-01-01T03:00Z", "2026-01-01T02:00Z", "start is after stop"),
    (0, 5, "stop is outside the cells"),
    (0, 2**70, "stop is outside the cells"),
    (-1, 4, "start is -1; give the number of a tick"),
    (0.5, 4, "start is 0.5; give the number of a tick"),
    (None, 4, "start is of type NoneType; give the number of a tick"),
]


@pytest.mark.parametrize(("start", "stop", "complaint"), OUTSIDE, ids=[case[2] for case in OUTSIDE])
def test_times_outside_are_refused(start: Any, stop: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{complaint}"):
        replace(release_of(np.arange(4.0)), time=HOURS_IN_UTC).range_sum(start, stop)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES.keys())
def test_the_schedule_is_saved_and_opened(axis: Schedule, tmp_path: Path) -> None:
    release = replace(release_of(np.arange(30.0)), time=axis)
    again = sdp.open_release(release.save(tmp_path / "x.parquet"))
    assert again.time == axis
    np.testing.assert_array_equal(again.times, release.times)
    np.testing.assert_array_equal(again.values, release.values)
    assert repr(again) == repr(release)


TIME_TYPES = {"in UTC": "datetime64[us, UTC]", "without a timezone": "datetime64[us]", "without a calendar": None}


@pytest.mark.parametrize("name", AXES)
def test_pandas_and_arrow_open_proper_timestamps(name: str, tmp_path: Path) -> None:
    release = replace(release_of(np.arange(30.0)), time=AXES[name])
    path = release.save(tmp_path / "x.parquet")
    frame = pd.read_parquet(path)
    schema = pq.read_schema(path)
    np.testing.assert_array_equal(frame["tick"], np.arange(30))
    np.testing.assert_array_equal(frame["count"], release.values)
    assert schema.field("tick").type == pa.int64()
    if TIME_TYPES[name] is None:
        assert list(frame.columns) == ["tick", "count"]
        return
    assert list(frame.columns) == ["tick", "time", "count"]
    assert str(frame["time"].dtype) == TIME_TYPES[name]
    assert schema.field("time").type == pa.timestamp("us", tz="UTC" if name == "in UTC" else None)
    assert frame["time"].iloc[25] == pd.Timestamp("2026-01-02T01:00", tz="UTC" if name == "in UTC" else None)
    daily = frame.set_index("time")["count"].resample("1D").sum()
    assert daily.tolist() == [release.range_sum(0, 24), release.range_sum(24, 30)]
    assert release.range_sum(frame["time"], 30).tolist() == release.range_sum(range(30), 30).tolist()


def forged(path: Path, columns: dict[str, columns_file.Column], *, utc: bool = True) -> Path:
    """A file with a digest that fits, and columns that do not fit its axis."""
    honest = replace(release_of(np.arange(4.0)), time=HOURS_IN_UTC)
    written, description = columns_file.read(honest.save(path), "release")
    kept = {name: column for name, column in {**written, **columns}.items() if column.size}
    return columns_file.write(path, "release", kept, description, utc=["time"] if utc and "time" in kept else [])


FORGERIES: dict[str, dict[str, columns_file.Column]] = {
    "an hour late": {"time": HOURS_IN_UTC.times(5)[1:]},
    "no times": {"time": np.array([], dtype="datetime64[us]")},
    "ticks from 1": {"tick": np.arange(1, 5)},
    "a column too many": {"hour": np.arange(4)},
}


@pytest.mark.parametrize("columns", FORGERIES.values(), ids=FORGERIES.keys())
def test_columns_that_disagree_with_the_axis_are_refused(
    columns: dict[str, columns_file.Column], tmp_path: Path
) -> None:
    assert sdp.open_release(forged(tmp_path / "x.parquet", {})).time == HOURS_IN_UTC
    with pytest.raises(BadFile, match="columns that disagree with hourly ticks from 2026-01-01 00:00 UTC to"):
        sdp.open_release(forged(tmp_path / "x.parquet", columns))


def test_times_of_another_type_are_refused(tmp_path: Path) -> None:
    numbers = HOURS_IN_UTC.times(4).view(np.int64)
    with pytest.raises(BadFile, match="columns that disagree with hourly ticks"):
        sdp.open_release(forged(tmp_path / "x.parquet", {"time": numbers}, utc=False))


@pytest.mark.parametrize("change", ["a time", "the timezone", "the axis"])
def test_the_digest_covers_the_times(change: str, tmp_path: Path) -> None:
    path = replace(release_of(np.arange(4.0)), time=HOURS_IN_UTC).save(tmp_path / "x.parquet")
    table = pq.read_table(path)
    times, metadata = table.column("time"), dict(table.schema.metadata)
    if change == "a time":
        times = pa.array(HOURS_IN_UTC.times(5)[1:], table.schema.field("time").type)
    elif change == "the timezone":
        times = pa.array(HOURS_IN_UTC.times(4))
    else:
        metadata[b"sparsedp"] = metadata[b"sparsedp"].replace(
            b"2026-01-01T00:00:00+00:00", b"2027-01-01T00:00:00+00:00"
        )
    pq.write_table(table.set_column(1, "time", times).replace_schema_metadata(metadata), path)
    with pytest.raises(BadFile, match="does not match its digest"):
        sdp.open_release(path)


@pytest.mark.parametrize("time", [{}, [], 5, {"start": "2026-01-01", "every": None}, {"start": 1, "every": 2}])
def test_a_description_that_is_no_axis_is_refused(time: Any, tmp_path: Path) -> None:
    release = replace(release_of(np.arange(4.0)), time=Schedule())
    columns, description = columns_file.read(release.save(tmp_path / "x.parquet"), "release")
    columns_file.write(tmp_path / "x.parquet", "release", columns, {**description, "time": time})
    with pytest.raises(BadFile, match="fields missing"):
        sdp.open_release(tmp_path / "x.parquet")


def test_a_tick_is_found_by_its_time() -> None:
    release = replace(release_of(np.arange(30.0)), time=Schedule("2026-01-01", "1d"))
    assert release["2026-01-03"] == release[np.datetime64("2026-01-03")] == release[2] == 2.0
    for time, complaint in (("2026-03-01", "after the last tick"), ("2025-01-01", "before"), ("soon", "give")):
        with pytest.raises(InvalidInput, match=complaint):
            release[time]
