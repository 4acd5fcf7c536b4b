"""Deviations from the median: brute force, Lipschitz, never more in a part than in the whole, exact for any counts."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_oracle import plain_deviation

from sparsedp.mechanisms.partition.deviation import (
    MOST_COUNT,
    capped_deviations,
    deviation,
    node_deviations,
)

small = st.integers(-50, 50)
near_the_cut = st.integers(MOST_COUNT - 3, MOST_COUNT + 3) | st.integers(-MOST_COUNT - 3, -MOST_COUNT + 3)
huge = st.sampled_from([2**62, -(2**62), 2**63 - 1, -(2**63), 2**31, -(2**31)])
rows = st.lists(small | near_the_cut | huge, min_size=1, max_size=40)


def of(cells: npt.NDArray[np.int64]) -> int:
    return int(deviation(cells[None])[0])


def cut(row: list[int]) -> list[int]:
    return [max(-MOST_COUNT, min(MOST_COUNT, cell)) for cell in row]


def moved(row: list[int], place: int, step: int) -> list[int]:
    """The row with one cell changed by one, where 64 bits have room for it."""
    changed = row.copy()
    changed[place % len(row)] = max(-(2**63), min(2**63 - 1, changed[place % len(row)] + step))
    return changed


@given(rows, st.data())
def test_it_is_the_least_sum_of_distances(row: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(row) - 1))
    stop = data.draw(st.integers(start + 1, len(row)))
    assert of(np.array(row, np.int64)[start:stop]) == plain_deviation(cut(row)[start:stop])


@given(rows, st.integers(0, 39), st.sampled_from([1, -1]))
def test_a_change_by_one_changes_it_by_one_at_most(row: list[int], place: int, step: int) -> None:
    before, after = (of(np.array(each, np.int64)) for each in (row, moved(row, place, step)))
    assert abs(before - after) <= 1


@given(rows, st.data())
def test_no_part_deviates_more_than_the_whole(row: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(row) - 1))
    stop = data.draw(st.integers(start + 1, len(row)))
    cells = np.array(row, np.int64)
    assert 0 <= of(cells[start:stop]) <= of(cells)


@given(rows, st.sampled_from([1, 2, 4, 16, 64]))
def test_nodes_are_aligned_and_the_last_may_be_short(row: list[int], size: int) -> None:
    cells = np.array(row, np.int64)
    nodes = np.arange(-(-len(row) // size))[::-1].copy()
    expected = [plain_deviation(cut(row)[node * size : (node + 1) * size]) for node in nodes]
    assert node_deviations(cells, nodes, size).tolist() == expected


@pytest.mark.parametrize("n", [2, 3, 1000, 65536])
def test_the_widest_rows_stay_within_64_bits(n: int) -> None:
    """Half the cells at one end of 64 bits and half at the other: 2³² apart after the cut, exactly."""
    row = np.where(np.arange(n) % 2 == 0, -(2**63), 2**63 - 1).astype(np.int64)
    assert of(row) == (n // 2) * 2**32
    assert capped_deviations(row, 16, 2**62) == sum(min(16, n - start) // 2 for start in range(0, n, 16)) * 2**32


@given(rows, st.integers(0, 39), st.sampled_from([1, -1]), st.sampled_from([1, 3, 16]), st.integers(1, 200))
def test_capped_sums_change_by_one_at_most(row: list[int], place: int, step: int, size: int, cap: int) -> None:
    before, after = (capped_deviations(np.array(each, np.int64), size, cap) for each in (row, moved(row, place, step)))
    assert abs(before - after) <= 1
    blocks = [cut(row)[start : start + size] for start in range(0, len(row), size)]
    assert before == sum(min(plain_deviation(block), cap) for block in blocks)


@given(rows, st.integers(0, 39), st.sampled_from([1, -1]), st.sampled_from([1, 3, 16]), st.integers(0, 40))
def test_with_slack_too(row: list[int], place: int, step: int, size: int, slack: int) -> None:
    both = (np.array(each, np.int64) for each in (row, moved(row, place, step)))
    before, after = (capped_deviations(each, size, 2**62, slack) for each in both)
    assert abs(before - after) <= 1
    expected = 0
    for start in range(0, len(row), size):
        block = sorted(cut(row)[start : start + size])
        pairs = zip(block, reversed(block), strict=True)
        expected += sum(max(high - low - slack, 0) for low, high in list(pairs)[: len(block) // 2])
    assert before == expected
