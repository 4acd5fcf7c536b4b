"""How uneven groups are: brute force, Lipschitz, never more in a part than in the whole, exact for any counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_oracle import plain_excess, plain_unevenness

from sparsedp.mechanisms._private_tree import BLOCK, LANES, MOST_COUNT, Unevenness, block_excesses, sorting_network

small = st.integers(-50, 50)
near_the_cut = st.integers(MOST_COUNT - 3, MOST_COUNT + 3) | st.integers(-MOST_COUNT - 3, -MOST_COUNT + 3)
huge = st.sampled_from([2**62, -(2**62), 2**63 - 1, -(2**63), 2**31, -(2**31)])
rows = st.lists(small | near_the_cut | huge, min_size=1, max_size=70)
slacks = st.sampled_from([0, 1, 20, 2**40])


def cut(row: list[int]) -> list[int]:
    return [max(-MOST_COUNT, min(MOST_COUNT, cell)) for cell in row]


def moved(row: list[int], place: int, step: int) -> list[int]:
    """The row with one cell changed by one, where 64 bits have room for it."""
    changed = row.copy()
    changed[place % len(row)] = max(-(2**63), min(2**63 - 1, changed[place % len(row)] + step))
    return changed


def sizes_of(n: int) -> list[int]:
    return [1 << power for power in range((n - 1).bit_length() + 1)]


def every_group(row: list[int], slack: int) -> dict[int, list[int]]:
    found = Unevenness(np.array(row, np.int64), slack)
    return {size: found.of(np.arange(-(-len(row) // size)), size).tolist() for size in sizes_of(len(row))}


@given(rows, slacks)
def test_it_is_the_larger_of_the_two_measures(row: list[int], slack: int) -> None:
    cells = cut(row)
    for size, found in every_group(row, slack).items():
        groups = [cells[start : start + size] for start in range(0, len(row), size)]
        assert found == [plain_unevenness(group, size, slack) for group in groups]


@given(rows, slacks, st.integers(0, 69), st.sampled_from([1, -1]))
def test_a_change_by_one_changes_it_by_one_at_most_and_only_where_the_cell_is(
    row: list[int], slack: int, place: int, step: int
) -> None:
    before, after = every_group(row, slack), every_group(moved(row, place, step), slack)
    for size, values in before.items():
        changes = np.abs(np.array(values) - np.array(after[size]))
        assert changes.max() <= 1
        assert (np.delete(changes, place % len(row) // size) == 0).all()


@given(rows, slacks)
def test_no_part_has_more_than_the_whole(row: list[int], slack: int) -> None:
    found = every_group(row, slack)
    for size in sizes_of(len(row))[1:]:
        for number, part in enumerate(found[size // 2]):
            assert 0 <= part <= found[size][number // 2]


@pytest.mark.parametrize("n", [64, 65, 100, 4096])
def test_even_counts_are_even_and_a_step_is_not(n: int) -> None:
    """Also where the row ends within a half; and scattered counts are nearly even, which distances do not tell."""
    assert every_group([7] * n, 0)[sizes_of(n)[-1]] == [0]
    step = [0] * (n - 3) + [9] * 3
    assert every_group(step, 20)[sizes_of(n)[-1]][0] >= 9
    scattered = np.random.default_rng(1).poisson(0.25, n).tolist()
    assert every_group(scattered, 28)[sizes_of(n)[-1]][0] < 6 * (n / 4) ** 0.5 + 6


def test_a_step_where_the_second_half_is_short() -> None:
    row = [0] * 64 + [5] * 10
    assert every_group(row, 100)[128] == [50]


@pytest.mark.parametrize("n", [2, 3, 1000, 65536])
def test_the_widest_rows_stay_within_64_bits(n: int) -> None:
    """Half the cells at one end of 64 bits and half at the other: 2³² apart after the cut, exactly."""
    row = np.where(np.arange(n) < n // 2, -(2**63), 2**63 - 1).astype(np.int64)
    whole = sizes_of(n)[-1]
    expected = plain_unevenness(cut(row.tolist()), whole, 0)
    assert Unevenness(row, 0).of(np.zeros(1, np.int64), whole).tolist() == [expected]
    assert n < 1000 or expected > 2**31 * n / 8


@given(rows, slacks, st.sampled_from([1, 2, 3, BLOCK]))
def test_excesses_of_small_groups(row: list[int], slack: int, size: int) -> None:
    expected = [plain_excess(cut(row)[start : start + size], slack) for start in range(0, len(row), size)]
    assert block_excesses(np.array(row, np.int64), size, slack).tolist() == expected


def test_the_row_is_left_alone() -> None:
    row = np.array([5, 1, 4, 2**40, -3], np.int64)
    Unevenness(row, 2)
    block_excesses(row, 4, 0)
    assert row.tolist() == [5, 1, 4, 2**40, -3]


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_the_network_sorts(size: int) -> None:
    """All rows of zeros and ones: a network that sorts these sorts everything."""
    rows = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    for lower, upper in sorting_network(size):
        assert lower < upper
        pair = rows[:, [lower, upper]]
        rows[:, lower], rows[:, upper] = pair.min(axis=1), pair.max(axis=1)
    assert (np.diff(rows, axis=1) >= 0).all()


@pytest.mark.parametrize("n", [LANES * BLOCK, LANES * BLOCK + 5, 3 * LANES * BLOCK - 1])
def test_blocks_side_by_side_are_sorted_as_one_by_one(n: int) -> None:
    row = np.random.default_rng(n).integers(-90, 90, n)
    for size in (1, 2, 4, 8, 16):
        groups = [row[start : start + size].tolist() for start in range(0, n, size)]
        assert block_excesses(row, size, 7).tolist() == [plain_excess(group, 7) for group in groups]
