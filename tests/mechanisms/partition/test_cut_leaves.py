"""What is cut further of the groups that a tree chose, by plain loops and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.mechanisms.partition.cut_leaves import down_to_the_first, singled


@given(st.sets(st.integers(1, 69), max_size=20), st.integers(70, 80), st.sampled_from([1, 2, 4, 100]))
def test_small_groups_are_taken_apart(later: set[int], n: int, most: int) -> None:
    starts = [0, *sorted(later)]
    expected: list[int] = []
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        expected += range(start, end) if end - start <= most else [start]
    assert singled(np.array(starts, np.int64), n, most).tolist() == expected


@pytest.mark.parametrize(
    ("starts", "n", "expected"),
    [
        ([0], 1, [0]),
        ([0], 64, [0]),
        ([0, 8, 16, 32], 64, [0, 1, 2, 4, 8, 16, 32]),
        ([0, 8, 16, 32], 33, [0, 1, 2, 4, 8, 16, 32]),
        ([0, 8, 16], 32, [0, 8, 16]),
        ([0, 4, 8, 16, 32], 60, [0, 1, 2, 4, 8, 16, 32]),
        ([0, 16, 32, 40], 64, [0, 16, 32, 40]),
        ([0, 1, 2, 3, 4, 8], 16, [0, 1, 2, 3, 4, 8]),
        ([0, 2, 3, 4, 8], 16, [0, 1, 2, 3, 4, 8]),
    ],
)
def test_the_first_group_is_cut_down_to_the_first_cell(starts: list[int], n: int, expected: list[int]) -> None:
    assert down_to_the_first(np.array(starts), n).tolist() == expected
