"""Layers of group sums: nested, every cell once a layer, refused otherwise, exact, and back from a description."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.sensing import sensing_from
from sparsedp.sensing.group_sums import MOST_LAYERS, GroupSums
from sparsedp.validate import MAX_CELLS


@st.composite
def nested(draw: st.DrawFn) -> GroupSums:
    """Up to four layers over a table of up to 60 cells, each made of whole groups of the one before."""
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3).filter(lambda sides: np.prod(sides) <= 60))
    ordered = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    n = int(np.prod(shape))
    starts = list(range(n))
    layers: list[int | list[int]] = [1] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0 if layers else 1, 3))):
        kept = draw(st.lists(st.booleans(), min_size=len(starts), max_size=len(starts)))
        starts = [start for start, keep in zip(starts, kept, strict=True) if keep or start == 0]
        layers.append(starts)
    return GroupSums(n, layers, shape, ordered)


@given(nested())
def test_every_cell_is_in_one_group_of_each_layer(sensing: GroupSums) -> None:
    matrix = sensing.materialize()
    begin = 0
    for starts in sensing.starts:
        assert (matrix[begin : begin + len(starts)].sum(axis=0) == 1).all()
        begin += len(starts)
    assert begin == sensing.rows == len(matrix)


@given(nested())
def test_groups_are_runs_of_the_row(sensing: GroupSums) -> None:
    order = np.arange(sensing.n) if sensing.order is None else sensing.order
    for group in sensing.materialize()[:, order]:
        members = np.flatnonzero(group)
        assert members.tolist() == list(range(members[0], members[-1] + 1))


@given(nested())
def test_descriptions_give_it_back(sensing: GroupSums) -> None:
    again = sensing_from(json.loads(json.dumps(sensing.describe())))
    assert isinstance(again, GroupSums)
    assert again == sensing
    assert hash(again) == hash(sensing)
    np.testing.assert_array_equal(again.materialize(), sensing.materialize())


@given(nested(), st.integers(0, 2**32))
def test_layer_by_layer_is_all_at_once_modulo_two_to_the_64(sensing: GroupSums, seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.integers(-(2**63), 2**63 - 1, size=sensing.n, endpoint=True)
    row = sensing.in_a_row(counts)
    parts = [sensing.apply_layer(row, layer) for layer in range(len(sensing.starts))]
    for part, alone in zip(parts, sensing.split(sensing.apply(counts).astype(np.float64)), strict=True):
        np.testing.assert_array_equal(part.astype(np.float64), alone)
    exact = [sum(int(count) for count in counts[group == 1]) for group in sensing.materialize()]
    assert np.concatenate(parts).tolist() == [(total + 2**63) % 2**64 - 2**63 for total in exact]


def test_layers_are_fresh_arrays() -> None:
    row = np.arange(6)
    for layer in range(2):
        GroupSums(6, [1, 3]).apply_layer(row, layer)[:] = -1
    assert row.tolist() == [0, 1, 2, 3, 4, 5]


@given(nested())
def test_in_and_out_of_the_row(sensing: GroupSums) -> None:
    cells = np.arange(sensing.n, dtype=np.float64)
    np.testing.assert_array_equal(sensing.out_of_row(sensing.in_a_row(cells)), cells)
    assert sensing.n % sensing.run == 0


def test_block_sizes_and_first_cells_say_the_same() -> None:
    by_size, by_start = GroupSums(10, [1, 4, 10]), GroupSums(10, [list(range(10)), [0, 4, 8], [0]])
    np.testing.assert_array_equal(by_size.materialize(), by_start.materialize())
    assert GroupSums(10, [4, 40]).rows == 4  # a block beyond the end is what is left


def test_a_plain_vector_is_described_shortly() -> None:
    assert GroupSums(9, [1, [0, 3, 8]]).describe() == {"name": "group_sums", "n": 9, "layers": [1, [0, 3, 8]]}
    assert GroupSums(9, [1]) != GroupSums(9, [1], [3, 3])
    assert GroupSums(9, [1]) != GroupSums(9, [1], [9], [False])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no cells": ({"n": 0}, "n is 0"),
    "too many": ({"n": MAX_CELLS + 1}, "n is"),
    "no layers": ({"layers": []}, "layers is 0 of them; give from 1 to 40"),
    "many layers": ({"layers": [1] * (MOST_LAYERS + 1)}, "layers is 41 of them"),
    "size zero": ({"layers": [0]}, "layers is 0"),
    "size true": ({"layers": [True]}, "layers is of type bool"),
    "no groups": ({"layers": [[]]}, "first cells that do not rise from 0"),
    "not from 0": ({"layers": [[1, 2]]}, "first cells that do not rise from 0"),
    "falling": ({"layers": [[0, 5, 3]]}, "first cells that do not rise from 0"),
    "twice": ({"layers": [[0, 5, 5]]}, "first cells that do not rise from 0"),
    "beyond": ({"layers": [[0, 12]]}, "layers is 12; give a whole number from 0 to 11"),
    "half": ({"layers": [[0, 1.5]]}, "layers is 1.5"),
    "text": ({"layers": ["all"]}, "letters without blocks of 2, 4, 8, … cells above"),
    "text below a list": ({"layers": ["aab", [0, 4, 8]]}, "letters without blocks of 2, 4, 8, … cells above"),
    "text below odd blocks": ({"layers": ["aa", 6]}, "letters without blocks of 2, 4, 8, … cells above"),
    "text below huge blocks": ({"layers": ["a", 2**26]}, "letters without blocks of 2, 4, 8, … cells above"),
    "letters": ({"layers": ["aa", 4]}, "layers is 2 letters; give one for each of 3 blocks"),
    "large parts": ({"layers": ["aad", 4]}, "layers is other letters; give letters from a to c"),
    "capitals": ({"layers": ["aaA", 4]}, "layers is other letters; give letters from a to c"),
    "half a letter": ({"layers": ["aa\ud800", 4]}, "layers is other letters; give letters from a to c"),
    "letters above": ({"n": 2**20, "layers": ["a", 2**20] * 20}, "layers is letters above the finest layer"),
    "many parts": ({"n": 2**21, "layers": ["aa", 2**20]}, "layers is more than 1048576 parts of blocks"),
    "cut by size": ({"layers": [4, 6]}, "cutting through groups of the layer before; give them finest first"),
    "cut by start": ({"layers": [4, [0, 6]]}, "cutting through groups of the layer before"),
    "cut a list": ({"layers": [[0, 4, 6], 6, [0, 4]]}, "cutting through groups of the layer before"),
    "coarse first": ({"layers": [12, 1]}, "cutting through groups of the layer before"),
    "shape": ({"shape": [5, 2]}, "shape is (5, 2); give the sides of a table of 12 cells"),
    "side": ({"shape": [12, 0]}, "shape is 0"),
    "ordered": ({"shape": [3, 4], "ordered": [True]}, "shape is (3, 4)"),
}


@pytest.mark.parametrize(("change", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_nested_groups_is_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        GroupSums(**{"n": 12, "layers": [1], **change})
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("layers", [None, 5, [None], [{"a": 1}]])
def test_damaged_descriptions_are_refused_in_a_sentence(layers: object) -> None:
    with pytest.raises((BadFile, InvalidInput)):
        sensing_from({"name": "group_sums", "n": 12, "layers": layers})


def test_tables_have_no_more_axes_than_domains() -> None:
    with pytest.raises(InvalidInput, match="shape is of 33 axes; give at most 32"):
        GroupSums(256, [1], [1] * 32 + [256])


def test_what_a_description_claims_is_counted_before_it_is_built() -> None:
    """A file of a few bytes may speak of 2³¹ cells: nothing of that size is made until it is asked for."""
    sensing = sensing_from({"name": "group_sums", "n": MAX_CELLS, "layers": [1, MAX_CELLS]})
    assert sensing.rows == MAX_CELLS + 1
    with pytest.raises(InvalidInput, match="cutting through"):
        GroupSums(MAX_CELLS, [[0, 2], 1])
    assert GroupSums(MAX_CELLS, [[0, 2**30], MAX_CELLS]).rows == 3


def test_first_cells_may_come_as_an_array() -> None:
    assert GroupSums(8, [np.array([0, 4, 6])]) == GroupSums(8, [[0, 4, 6]])
    for wrong in ([1, 4], [0, 4, 4], [0, 8], [0.0, 1.7], ["0", "2"], [[0, 2], [4, 6]]):
        with pytest.raises(InvalidInput):
            GroupSums(8, [np.array(wrong)])


def test_a_table_of_unequal_sides_says_how_the_row_runs() -> None:
    """A synopsis that was stored with another order is refused: its sums would be put into wrong cells."""
    sensing = GroupSums(64, [1, 4], (4, 16))
    described = sensing.describe()
    assert described["curve"] == "proportional"
    assert sensing_from(json.loads(json.dumps(described))) == sensing
    assert "curve" not in GroupSums(64, [1, 4], (8, 8)).describe()
    with pytest.raises(InvalidInput, match="described"):
        sensing_from({key: value for key, value in described.items() if key != "curve"})
    with pytest.raises(InvalidInput, match="curve"):
        sensing_from({**described, "curve": "other"})
