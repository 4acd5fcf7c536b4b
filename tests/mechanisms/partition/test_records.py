"""The number of records: a sum that one person changes by no more than the noise is made for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.records import records

COUNTS = st.lists(st.integers(-30, 30) | st.sampled_from([2**62, -(2**62)]), min_size=1, max_size=70)


def look(row: list[int], deviation: float, noise: int = 0) -> tuple[float, int]:
    """The answer, and the exact number that the noise was added to."""
    seen: list[int] = []
    cells = np.asarray(row, np.int64)

    def add(values: Integers) -> None:
        assert values.shape == (1,)
        assert values.dtype == np.int64
        seen.append(int(values[0]))
        values += noise

    answer = records(cells, deviation, add)
    assert len(seen) == 1, "noise is added once, to one number"
    assert cells.tolist() == row, "the cells stay as they are"
    return answer, seen[0]


@given(COUNTS, st.integers(0, 69), st.sampled_from([1, -1]))
def test_one_unit_changes_the_sum_by_one(row: list[int], place: int, step: int) -> None:
    other = row.copy()
    other[place % len(row)] += step
    assert (look(other, 1.0)[1] - look(row, 1.0)[1] - step) % 2**64 == 0, "sums are exact modulo 2⁶⁴"


@given(st.lists(st.integers(-30, 30), min_size=1), st.floats(0.1, 100.0), st.integers(-50, 50))
def test_the_answer_has_the_noise_and_is_in_deviations(row: list[int], deviation: float, noise: int) -> None:
    assert look(row, deviation, noise)[0] == (sum(row) + noise) / deviation


def test_a_budget_without_noise_is_no_division_by_zero() -> None:
    assert look([3], 0.0)[0] > 1e9
