"""Cells that stand out: a sum that one person changes by no more than the noise is made for."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st
from one_number import looked_at

from sparsedp.arrays import Ints
from sparsedp.mechanisms._private_tests import HIDDEN_BETWEEN_CELLS, MOST_OF_A_BLOCK, standing_out


def look(row: list[int] | Ints, deviation: float, noise: int = 0) -> tuple[float, int]:
    return looked_at(standing_out, row, deviation, noise)


@given(
    st.lists(st.integers(-30, 30) | st.sampled_from([2**62, -(2**62)]), min_size=1, max_size=70),
    st.integers(0, 69),
    st.sampled_from([1, -1]),
    st.floats(0, 10),
)
def test_one_unit_changes_the_sum_by_one_at_most(row: list[int], place: int, step: int, deviation: float) -> None:
    other = row.copy()
    other[place % len(row)] += step
    assert abs(look(row, deviation)[1] - look(other, deviation)[1]) <= 1


def test_a_cell_stands_out_by_what_it_is_above_the_noise() -> None:
    row = [3] * 40
    row[20] = 53
    slack = int(HIDDEN_BETWEEN_CELLS * 2.0)
    assert look(row, 2.0) == ((50 - slack) / 2.0, 50 - slack)
    assert look(row, 2.0, noise=-5)[0] == (45 - slack) / 2.0
    assert look(row, 25.0) == (0.0, 0)
    assert look([0, 4] * 8, 2.0) == (0.0, 0), "nothing does if all cells are rough alike, and little"
    assert look([7] * 40, 2.0) == (0.0, 0)


def test_places_count_not_heights() -> None:
    """A block counts for so much at most, however high its cells are."""
    low, high = [0] * 64, [0] * 64
    low[5], high[5] = 10**3, 10**9
    assert look(low, 1.5) == look(high, 1.5) == (MOST_OF_A_BLOCK, ceil(MOST_OF_A_BLOCK * 1.5))
    high[25] = 10**9
    assert look(high, 1.5)[1] == 2 * ceil(MOST_OF_A_BLOCK * 1.5)


def test_noiseless_budgets_still_have_a_cap() -> None:
    assert look([0, 1] * 8, 0.0)[1] == 1
    assert look([0, 1] * 8, 0.0)[0] > 1e6
