"""Laws that every axis obeys."""

import json
import pickle

import numpy as np
import pytest

from every_axis import EVERY_AXIS
from sparsedp.axes import AXES, Axis, axis_from, parse_axis
from sparsedp.errors import InvalidInput


@pytest.fixture(params=EVERY_AXIS, name="axis")
def one_axis(request: pytest.FixtureRequest) -> Axis:
    return EVERY_AXIS[request.param]


def test_every_kind_is_tested_here() -> None:
    assert {axis.kind for axis in EVERY_AXIS.values()} == set(AXES)


def test_description_gives_an_equal_axis_back(axis: Axis) -> None:
    rebuilt = axis_from(json.loads(json.dumps(axis.describe(), allow_nan=False)))
    assert rebuilt == axis
    assert hash(rebuilt) == hash(axis)
    assert pickle.loads(pickle.dumps(axis)) == axis
    assert all(axis != other for other in EVERY_AXIS.values() if other is not axis)


def test_columns_say_what_each_cell_is(axis: Axis) -> None:
    columns = axis.columns()
    assert tuple(columns) == axis.column_names
    assert set(axis.utc) <= set(columns)
    for column in columns.values():
        assert column.shape == (len(axis),)


def test_the_first_column_falls_into_its_own_cells(axis: Axis) -> None:
    first = next(iter(axis.columns().values()))
    indices = axis.index_of(first)
    assert indices.dtype == np.int64
    np.testing.assert_array_equal(indices, np.arange(axis.length))
    np.testing.assert_array_equal(axis.index_of(first[::-1][:, None]), np.arange(axis.length)[::-1, None])


def test_missing_values_are_outside(axis: Axis) -> None:
    assert axis.index_of(np.array([None, float("nan")], dtype=object)).tolist() == [-1, -1]
    assert axis.index_of(np.array([], dtype=object)).tolist() == []


def test_slices_count_cells(axis: Axis) -> None:
    assert axis.cells_of(slice(1, 3)) == slice(1, 3)
    assert axis.cells_of(slice(None)) == slice(0, axis.length)
    assert axis.cells_of(slice(-1, None)) == slice(axis.length - 1, axis.length)
    assert axis.cells_of(slice(2, 1)) == slice(2, 2)
    with pytest.raises(InvalidInput, match=f"{axis.name} is a slice with the step 2"):
        axis.cells_of(slice(0, 3, 2))
    with pytest.raises(InvalidInput, match="not of whole numbers"):
        axis.cells_of(slice("a", "b"))


@pytest.mark.parametrize("wanted", [None, object(), {}, 2j, (1, 2, 3)])
def test_what_is_no_place_on_it_is_refused(axis: Axis, wanted: object) -> None:
    with pytest.raises(InvalidInput, match=f"^{axis.name} is"):
        axis.cells_of(wanted)


def test_axes_cannot_be_changed(axis: Axis) -> None:
    with pytest.raises(AttributeError):
        axis.name = "other"


@pytest.mark.parametrize("name", ["", " x", "x" * 101, "a\nb", None, 3])
def test_names_that_cannot_be_columns_are_refused(axis: Axis, name: object) -> None:
    with pytest.raises(InvalidInput, match=r"^name is"):
        axis_from({**axis.describe(), "name": name})


@pytest.mark.parametrize(
    "description", [None, {}, {"kind": "bins"}, {"kind": "bin", "name": "x"}, {"kind": 3}, {"kind": "integers", "x": 1}]
)
def test_what_describes_no_axis_is_refused(description: object) -> None:
    with pytest.raises(InvalidInput):
        axis_from(description)  # type: ignore[arg-type]


def test_its_line_of_text_gives_an_equal_axis_back(axis: Axis) -> None:
    assert parse_axis(axis.spec) == axis
    assert parse_axis(f"  {axis.spec} ") == axis
