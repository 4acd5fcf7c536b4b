"""What is outside the domain goes where it was declared to go."""

from typing import Any

import numpy as np
import pytest
from where_records_fall import cells_found

from sparsedp.axes import Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput


def test_numbers_go_to_the_nearest_end() -> None:
    clamp = {"outside": {"x": "clamp"}}
    values = np.array([-5, 0, 4.5, 10, 11, np.inf, -np.inf, np.nan])
    assert cells_found(Bins("x", [0, 5, 10]), values, **clamp).tolist() == [0, 0, 0, 1, 1, 1, 0, -1]
    many = Bins.regular("x", 0, 10, 100)
    assert cells_found(many, values, **clamp).tolist() == [0, 0, 45, 99, 99, 99, 0, -1]
    assert cells_found(many, values.astype(np.float32), **clamp).tolist() == [0, 0, 45, 99, 99, 99, 0, -1]
    # 4.5 is not a whole number, and no end of the axis is nearest to it.
    assert cells_found(Integers("x", 0, 9), values, **clamp).tolist() == [0, 0, -1, 9, 9, 9, 0, -1]
    large = np.array([0, 2**64 - 1], dtype=np.uint64)
    assert cells_found(Integers("x", 0, 9), large, **clamp).tolist() == [0, 9]
    assert cells_found(Bins("x", [0, 5, 10]), large, **clamp).tolist() == [0, 1]
    whole = np.array([-(2**63), -1, 5, 11, 2**63 - 1])
    assert cells_found(Bins("x", [0, 5, 10]), whole, **clamp).tolist() == [0, 0, 1, 1, 1]
    assert cells_found(Integers("x", 0, 9), ["-7", "99", "7.5", "x", None], **clamp).tolist() == [0, 9, -1, -1, -1]


def test_times_go_to_the_nearest_end() -> None:
    times = ["1999-01-01", "2024-01-02", "2024-02-30", "3000-01-01T00:00", None, "soon"]
    for axis in (Calendar("x", "2024-01-01", "1d", 3), Calendar("x", "2024-01-01", "1d", 3, zone="Asia/Tokyo")):
        assert cells_found(axis, times, outside={"x": "clamp"}).tolist() == [0, 1, -1, 2, -1, -1]
    monthly = Calendar("x", "2024-01-01", "1mo", 3)
    assert cells_found(monthly, times, outside={"x": "clamp"}).tolist() == [0, 0, -1, 2, -1, -1]


def test_a_label_collects_all_others() -> None:
    sex = Categories("x", ["F", "M", "other"])
    assert cells_found(sex, ["M", "X", "other", None, ""], outside={"x": "other"}).tolist() == [1, 2, 2, 2, 2]
    codes = Categories("x", [1, 2, 9])
    assert cells_found(codes, ["1", "two", "5", None, "9"], outside={"x": 9}).tolist() == [0, 2, 2, 2, 2]
    assert cells_found(sex, ["M", "X"], outside={"x": "drop"}).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("axis", "declared", "complaint"),
    [
        (Integers("x", 0, 1), "clamp", "outside is 'clamp'"),
        (Integers("x", 0, 1), None, "outside is of type NoneType"),
        (Integers("x", 0, 1), {"x": "nearest"}, r"outside\['x'\] is 'nearest'"),
        (Integers("x", 0, 1), {"y": "clamp"}, "'y', which is not known"),
        (Categories("x", ["a"]), {"x": "clamp"}, "one of the labels"),
        (Categories("x", ["a"]), {"x": "other"}, "one of the labels"),
        (Categories("x", [0, 1]), {"x": True}, "one of the labels"),
        (Categories("x", ["a"]), {"x": ["a"]}, "of type list"),
    ],
)
def test_what_cannot_be_declared(axis: Any, declared: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        cells_found(axis, ["1"], outside=declared)
