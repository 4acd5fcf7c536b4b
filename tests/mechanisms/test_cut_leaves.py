"""What is cut further of the groups that a tree chose, by plain loops and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.mechanisms._private_tree import down_to_the_ends, singled


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
        ([0, 1], 2, [0, 1]),
        ([0], 64, [0]),
        ([0, 8, 16, 32], 64, [0, 1, 2, 4, 8, 16, 32]),
        ([0, 8, 16, 32], 33, [0, 1, 2, 4, 8, 16, 32]),
        ([0, 32, 48, 56], 64, [0, 32, 48, 56, 60, 62, 63]),
        ([0, 32, 48, 56], 62, [0, 32, 48, 56, 60, 61]),
        ([0, 32, 48, 56], 61, [0, 32, 48, 56, 60]),
        ([0, 32, 48, 56], 57, [0, 32, 48, 56]),
        ([0, 32, 48], 64, [0, 32, 48]),
        ([0, 64], 72, [0, 64]),
        ([0, 64, 68], 71, [0, 64, 68, 70]),
        ([0, 8, 16, 32, 48, 56], 64, [0, 1, 2, 4, 8, 16, 32, 48, 56, 60, 62, 63]),
        ([0, 8, 16], 32, [0, 8, 16]),
        ([0, 4, 8, 16, 32], 60, [0, 1, 2, 4, 8, 16, 32]),
        ([0, 16, 32, 40], 64, [0, 16, 32, 40]),
        ([0, 1, 2, 3, 4, 8], 16, [0, 1, 2, 3, 4, 8]),
        ([0, 2, 3, 4, 8], 16, [0, 1, 2, 3, 4, 8]),
    ],
)
def test_groups_at_the_ends_are_cut_down_to_the_first_and_the_last_cell(
    starts: list[int], n: int, expected: list[int]
) -> None:
    assert down_to_the_ends(np.array(starts), n).tolist() == expected


@given(st.integers(2, 300), st.data())
def test_what_is_cut_are_aligned_halves(n: int, data: st.DataObject) -> None:
    """Every group fills a run of 2^k cells that begins at a multiple of 2^k, but for the row's end; none is lost."""
    starts, at = {0}, data.draw(st.integers(0, n - 1))
    size = 1 << (n - 1).bit_length()
    for _ in range(data.draw(st.integers(0, 8))):
        size //= 2
        if size:
            starts |= {begin for begin in (at // size * size, (at // size ^ 1) * size) if begin < n}
    found = down_to_the_ends(np.array(sorted(starts), np.int64), n)
    assert starts <= set(found.tolist())
    for begin, end in zip(found.tolist(), [*found[1:].tolist(), n], strict=True):
        whole = 1 << (end - begin - 1).bit_length()
        assert begin % whole == 0
        assert end == n or end - begin == whole
