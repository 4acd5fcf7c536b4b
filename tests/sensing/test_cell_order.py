"""Cells of a table laid in a row: a permutation, boxes all the way, and unordered axes apart from one another."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Ints
from sparsedp.sensing import cell_order as subject
from sparsedp.sensing.cell_order import box_of, cell_order, separate_runs, z_order

shapes = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def row_of(shape: list[int], ordered: list[bool]) -> Ints:
    order = cell_order(shape, ordered)
    return np.arange(prod(shape)) if order is None else order


@given(shapes, st.data())
def test_every_cell_is_in_the_row_once(shape: list[int], data: st.DataObject) -> None:
    ordered = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    row = row_of(shape, ordered)
    assert row.dtype == np.int64
    assert sorted(row.tolist()) == list(range(prod(shape)))


@given(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=4))
def test_aligned_runs_are_boxes_of_nearly_the_tables_proportions(shape: list[int]) -> None:
    row = row_of(shape, [True] * len(shape))
    size = 1
    while size <= len(row):
        for start in range(0, len(row), size):
            places = np.unravel_index(row[start : start + size], shape)
            sides = [int(axis.max() - axis.min()) + 1 for axis in places]
            assert prod(sides) == size, "a box has no holes"
            # What a box takes of each axis is within a factor of two, but that it is a cell wide at least.
            shares = [side / length for side, length in zip(sides, shape, strict=True)]
            wide = [share for share, side in zip(shares, sides, strict=True) if side > 1]
            assert max(wide, default=0) <= 2 * min(shares)
        size *= 2


@given(shapes, st.data())
def test_unordered_axes_vary_slowest(shape: list[int], data: st.DataObject) -> None:
    """Each run of neighbours lies at one place on all unordered axes, and these come in their own order."""
    ordered = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    run = separate_runs(shape, ordered)
    assert run == prod(length for length, is_ordered in zip(shape, ordered, strict=True) if is_ordered)
    apart = [axis for axis, is_ordered in enumerate(ordered) if not is_ordered]
    runs = prod(shape) // run
    places = np.array(np.unravel_index(row_of(shape, ordered), shape))[apart].reshape(len(apart), runs, run)
    expected = np.array(np.unravel_index(np.arange(runs), [shape[axis] for axis in apart]) if apart else [])
    np.testing.assert_array_equal(places, np.repeat(expected.reshape(len(apart), runs, 1), run, axis=2))


@pytest.mark.parametrize(
    ("shape", "ordered"),
    [((9,), [True]), ((9,), [False]), ((3, 5), [False, True]), ((3, 5), [False, False]), ((1, 6, 1), [True] * 3)],
)
def test_none_where_nothing_moves(shape: tuple[int, ...], ordered: list[bool]) -> None:
    assert cell_order(shape, ordered) is None


def test_small_tables_by_hand() -> None:
    order = cell_order((4, 4), [True, True])
    assert order is not None
    assert order.tolist() == [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
    long = cell_order((2, 8), [True, True])
    assert long is None, "halves of the long axis first, then of both"
    tall = cell_order((8, 2), [True, True])
    assert tall is not None
    assert tall.tolist() == [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]
    odd = cell_order((3, 3), [True, True])
    assert odd is not None
    assert odd.tolist() == [0, 1, 3, 4, 2, 5, 6, 7, 8]
    months_first = cell_order((3, 2), [True, False])
    assert months_first is not None
    assert months_first.tolist() == [0, 2, 4, 1, 3, 5]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_other_sides_are_parts_of_a_table_of_powers_of_two(shape: list[int]) -> None:
    """The row of the table around it, without the cells that are not there."""
    around = [1 << (side - 1).bit_length() for side in shape]
    ordered = [True] * len(shape)
    places = np.array(np.unravel_index(row_of(around, ordered), around))
    inside = (places < np.reshape(shape, (-1, 1))).all(axis=0)
    found = np.array(np.unravel_index(row_of(shape, ordered), shape))
    np.testing.assert_array_equal(found, places[:, inside])


@pytest.mark.parametrize("sides", [(4, 4), (3, 5), (7, 2, 9), (1, 6), (5, 5, 5, 5)], ids=str)
def test_sorting_with_and_without_comparing_is_the_same(
    sides: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = subject._made(sides)
    monkeypatch.setattr(subject, "MOST_SLOTS", 0)
    assert (subject._made(sides) == without).all()


def test_orders_are_shared_and_not_to_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    assert z_order((8, 8)) is z_order([8, 8])
    for most in (subject.MOST_KEPT, 1):
        monkeypatch.setattr(subject, "MOST_KEPT", most)
        with pytest.raises(ValueError, match="read-only"):
            z_order((8, 8))[0] = 1


@pytest.mark.parametrize(("sides", "cells"), [((64, 64), 32), ((4, 256), 128), ((8, 8, 8), 16), ((512, 512), 8192)])
def test_the_first_cells_of_the_curve_are_a_box(sides: tuple[int, ...], cells: int) -> None:
    box = box_of(sides, cells)
    places = np.array(np.unravel_index(z_order(sides)[:cells], sides))
    assert (places.max(axis=1) + 1).tolist() == box
    assert np.prod(box) == cells
