"""What groups would hide: a sum that one person changes by no more than the noise is made for."""

from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.hiding import MOST, hiding
from sparsedp.mechanisms.partition.standing_out import HIDDEN

COUNTS = st.lists(st.integers(-30, 30) | st.sampled_from([2**62, -(2**62)]), min_size=1, max_size=70)


def look(row: list[int] | Integers, starts: list[int], deviation: float, noise: int = 0) -> tuple[float, int]:
    """The answer, and the exact sum that the noise was added to."""
    seen: list[int] = []
    cells = np.asarray(row, np.int64)
    before = cells.copy()

    def add(values: Integers) -> None:
        assert values.shape == (1,)
        assert values.dtype == np.int64
        seen.append(int(values[0]))
        values += noise

    answer = hiding(np.array(starts, np.int64), cells, deviation, add)
    assert len(seen) == 1, "noise is added once, to one number"
    np.testing.assert_array_equal(cells, before)
    return answer, seen[0]


@given(COUNTS, st.integers(0, 69), st.sampled_from([1, -1]), st.floats(0, 10), st.sets(st.integers(1, 69), max_size=12))
def test_one_unit_changes_the_sum_by_one_at_most(
    row: list[int], place: int, step: int, deviation: float, cuts: set[int]
) -> None:
    starts = [0, *sorted(cut for cut in cuts if cut < len(row))]
    other = row.copy()
    other[place % len(row)] += step
    assert abs(look(row, starts, deviation)[1] - look(other, starts, deviation)[1]) <= 1


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=70), st.sets(st.integers(1, 69)), st.integers(2, 9))
def test_it_is_what_a_plain_loop_finds(row: list[int], cuts: set[int], slack: int) -> None:
    starts = [0, *sorted(cut for cut in cuts if cut < len(row))]
    together = 0
    for start, end in zip(starts, [*starts[1:], len(row)], strict=True):
        for first in range(start, end, 16):
            run = row[first : min(first + 16, end)]
            together += max(max(run) - min(run) - slack, 0)
    assert look(row, starts, slack / HIDDEN)[1] == together


def test_cells_of_different_groups_may_differ() -> None:
    row = [5] * 8 + [905] * 8
    assert look(row, [0, 8], 2.0) == (0.0, 0)
    assert look(row, [0], 2.0)[1] == min(900 - 4, ceil(MOST * 2.0))
    assert look(row, list(range(16)), 2.0) == (0.0, 0)


def test_the_answer_has_the_noise_and_is_in_deviations() -> None:
    row = [3] * 40
    row[20] = 53
    slack = int(HIDDEN * 2.0)
    assert look(row, [0], 2.0, noise=-5) == ((45 - slack) / 2.0, 50 - slack)
    assert look(row, [0], 25.0) == (0.0, 0), "the noise hides it"


def test_places_count_not_heights() -> None:
    low, high = [0] * 64, [0] * 64
    low[5], high[5] = 10**3, 10**9
    assert look(low, [0], 1.5) == look(high, [0], 1.5) == (MOST, ceil(MOST * 1.5))
    high[25] = 10**9
    assert look(high, [0], 1.5)[1] == 2 * ceil(MOST * 1.5)


def test_a_budget_without_noise_is_no_division_by_zero() -> None:
    assert look([0, 1] * 8, [0], 0.0)[1] == 1
    assert look([0, 1] * 8, [0], 0.0)[0] > 1e6
