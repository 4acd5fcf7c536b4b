"""The largest cells in the axes' own words, and places by time."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import SeededSource
from sparsedp.releases.error_models import IndependentCells

DOMAIN = sdp.Domain(
    [
        sdp.Categories("sex", ["F", "M"]),
        sdp.Calendar("hour", "2024-03-01T00:00Z", "1h", 30),
        sdp.Bins("age", [0, 18, 65]),
        sdp.Integers("dose", 1, 2),
    ]
)
COUNTS = np.random.default_rng(1).poisson(20, DOMAIN.shape)
with noise_from(__name__):
    RELEASE = sdp.release(COUNTS, epsilon=1, domain=DOMAIN, mechanism="laplace")


def test_they_are_the_largest_and_can_be_asked_for_again() -> None:
    top = RELEASE.top(5)
    assert [cell.interval.estimate for cell in top] == sorted(RELEASE.values.ravel().tolist())[:-6:-1]
    for cell in top:
        assert RELEASE.box_sum(cell.place) == cell.interval.estimate
        assert RELEASE.interval(cell.place) == cell.interval
    place = tuple(int(part) for part in np.unravel_index(RELEASE.values.argmax(), RELEASE.shape))
    first = top[0].place
    assert first["sex"] == "FM"[place[0]]
    assert first["hour"] == datetime(2024, 3, 1 + place[1] // 24, place[1] % 24, tzinfo=UTC)
    assert first["age"] == [(0, 18), (18, 65)][place[2]]
    assert first["dose"] == 1 + place[3]
    assert str(top[0]).startswith(f"sex {first['sex']}, hour 2024-03-0")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 10))
def test_of_equal_cells_the_first_come_first(cells: list[int], k: int) -> None:
    values = np.array(cells, dtype=float)
    certain = IndependentCells(np.zeros(len(cells)))
    release = sdp.Release(values, RELEASE.guarantee, "laplace", {}, {}, uncertainty=certain)
    expected = sorted(range(len(cells)), key=lambda cell: (-cells[cell], cell))[:k]
    assert [cell.place["cell"] for cell in release.top(k)] == expected


def test_the_largest_are_chosen_for_their_noise_and_simultaneous_intervals_hold_all_the_same() -> None:
    """Of 400 equal cells the largest was lucky: its own interval often misses, the simultaneous one does not."""
    alone: list[bool] = []
    together: list[bool] = []
    for seed in range(60):
        release = sdp.Laplace().release(np.full(400, 50), epsilon="0.5", source=SeededSource(seed))
        for found, simultaneous in ((alone, False), (together, True)):
            interval = release.top(1, simultaneous=simultaneous)[0].interval
            found.append(interval.low <= 50 <= interval.high)
    assert np.mean(alone) < 0.5
    assert np.mean(together) >= 0.87


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(InvalidInput, match="k is 0"):
        RELEASE.top(0)
    with pytest.raises(InvalidInput, match="simultaneous is of type str"):
        RELEASE.top(3, simultaneous="yes")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="simultaneous is asked for 240 intervals at once"):
        RELEASE.top(3, level="0.999999999", simultaneous=True)


with noise_from(__name__):
    DAYS = sdp.release(np.arange(60), epsilon=1, domain=sdp.Domain(sdp.Calendar("day", "2024-02-01", "1d", 60)))
    TICKS = replace(sdp.release(np.arange(60), epsilon=1), time=Schedule("2024-02-01", "1d"))


@pytest.mark.parametrize("release", [DAYS, TICKS], ids=["a calendar", "a schedule"])
def test_slices_between_times(release: sdp.Release) -> None:
    march = release["2024-03-01":"2024-03-31"]
    np.testing.assert_array_equal(march, release.values[29:59])
    np.testing.assert_array_equal(release[:"2024-02-03"], release.values[:2])
    np.testing.assert_array_equal(release[datetime(2024, 3, 1) :], release.values[29:])
    asked = slice("2024-03-01", "2024-03-31")
    assert release.interval(asked) == release.interval((29, 59))
    assert release.interval(asked).estimate == pytest.approx(release.range_sum("2024-03-01", "2024-03-31"))
    with pytest.raises(InvalidInput, match="with a step"):
        release["2024-03-01":"2024-03-31":2]
    with pytest.raises(InvalidInput):
        release["2023-03-01":"2024-03-31"]
    with pytest.raises(InvalidInput):
        release["2024-03-02":"2024-03-01"]


def test_slices_between_times_in_a_table() -> None:
    found = RELEASE["F", "2024-03-01T02:00Z":"2024-03-01T05:00Z", 1]
    np.testing.assert_array_equal(found, RELEASE.values[0, 2:5, 1])
    asked = ("F", slice("2024-03-01T02:00Z", "2024-03-01T05:00Z"), 1, 0)
    assert RELEASE.interval(asked).estimate == pytest.approx(RELEASE.values[0, 2:5, 1, 0].sum())
    with pytest.raises(InvalidInput, match="cells is a slice between labels"):
        RELEASE["F":"M"]
