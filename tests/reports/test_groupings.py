"""How cells are taken together: nothing is lost, and times go by the calendar."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.axes import Axis
from sparsedp.reports.grouping import groupings_of
from sparsedp.reports.words import labels_of

AXES: list[Axis] = [
    sdp.Calendar("hour", "2013-01-01", every="1h", length=8760),
    sdp.Calendar("day", "2024-01-30", every="1d", length=100),
    sdp.Calendar("month", "2024-01-01", every="1mo", length=30),
    sdp.Calendar("second", "2024-01-01T00:00Z", every="1s", length=5000),
    sdp.Calendar("one", "2024-01-01", every="1d", length=1),
    sdp.Integers("age", -7, 120),
    sdp.Bins("income", [float("-inf"), 0, 10, 20, float("inf")]),
    sdp.Bins.regular("delay", 0, 1000, 500),
    sdp.Categories("kind", ["a", "b"]),
    sdp.Categories("code", [3, 1, 2]),
]


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.name)
def test_every_cell_is_in_exactly_one_point_and_every_point_has_a_label(axis: Axis) -> None:
    values = np.arange(1.0, axis.length + 1)
    for grouping in groupings_of(axis, steps=(1, 2, 5)):
        assert grouping.sums(values, 0).sum() == values.sum()
        members = np.concatenate([np.arange(axis.length)[grouping.members(point)] for point in range(len(grouping))])
        assert members.tolist() == list(range(axis.length))
        labels = labels_of(grouping)
        assert len(labels) == len(set(labels)) == len(grouping)
    assert groupings_of(axis)[-1].finest


def test_a_year_of_hours_by_the_calendar() -> None:
    found = {grouping.name: grouping for grouping in groupings_of(AXES[0])}
    assert {name: len(grouping) for name, grouping in found.items()} == {
        "month": 12,
        "week": 53,
        "day": 365,
        "6 hours": 1460,
        "hour": 8760,
    }
    assert np.diff(found["month"].starts)[:3].tolist() == [31 * 24, 28 * 24, 31 * 24]
    assert found["week"].partial == (0, 52)
    assert found["month"].partial == ()
    assert labels_of(found["month"])[1] == "Feb 2013"
    # Weeks begin on Mondays, and 7 January 2013 was one.
    assert found["week"].starts[1] == 6 * 24


def test_a_month_that_is_cut_is_called_a_part() -> None:
    month = next(grouping for grouping in groupings_of(AXES[1]) if grouping.name == "month")
    assert labels_of(month) == ["Jan 2024", "Feb 2024", "Mar 2024", "Apr 2024", "May 2024"]
    assert month.partial == (0, 4)


def test_cells_of_odd_length_are_cells() -> None:
    axis = sdp.Calendar("shift", "2024-01-01T06:00", every="8h", length=21)
    assert groupings_of(axis)[-1].name == "cell"


def test_labels_of_bins_without_ends() -> None:
    assert labels_of(groupings_of(AXES[6])[-1]) == ["under 0", "0 to 10", "10 to 20", "20 and more"]
