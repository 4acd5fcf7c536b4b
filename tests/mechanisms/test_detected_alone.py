"""Records in cells that are seen one by one: a sum that one person changes by no more than the noise is made for."""

from hypothesis import given
from hypothesis import strategies as st
from one_number import looked_at

from sparsedp.arrays import Ints
from sparsedp.mechanisms._private_tests import detected_alone


def look(row: list[int] | Ints, deviation: float, noise: int = 0) -> tuple[float, int]:
    return looked_at(detected_alone, row, deviation, noise)


@given(
    st.lists(st.integers(-30, 30) | st.sampled_from([2**62, -(2**62), 2**31]), min_size=1, max_size=40),
    st.lists(st.integers(-3, 3), min_size=40, max_size=40),
    st.floats(0, 10) | st.floats(0, 1e12),
)
def test_the_sum_changes_by_the_distance_of_the_tables_at_most(
    row: list[int], change: list[int], deviation: float
) -> None:
    other = [count + step for count, step in zip(row, change, strict=False)]
    distance = sum(abs(a - b) for a, b in zip(row, other, strict=True))
    assert abs(look(row, deviation)[1] - look(other, deviation)[1]) <= distance


def test_one_record_more_in_a_cell_that_is_seen_is_one_more() -> None:
    """The bound is met, so that noise for less would not do."""
    assert look([0, 9, 50], 4.0)[1] + 1 == look([0, 10, 50], 4.0)[1]


def test_a_cell_counts_for_what_it_has_beyond_one_deviation() -> None:
    row = [3, 0, 5, 53, 20, -7]
    assert look(row, 4.0) == ((1 + 49 + 16) / 4.0, 66)
    assert look(row, 3.5) == (66 / 3.5, 66), "a deviation is rounded up"
    assert look(row, 4.0, noise=-70)[0] == -1.0
    assert look(row, 60.0) == (0.0, 0)


def test_counts_beyond_all_bounds_stay_within_64_bits() -> None:
    assert look([2**62, -(2**62), 2**63 - 1], 10.0)[1] == 2 * (2**31 - 10)
    assert look([2**62, 5], 1e300) == (0.0, 0)
    assert look([5, 0], 0.0)[1] == 5
    assert look([5, 0], 0.0)[0] > 1e6
