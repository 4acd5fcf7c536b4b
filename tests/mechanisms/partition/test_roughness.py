"""The share of rough blocks: one number, a sum that one person changes by no more than the noise is made for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.roughness import BLOCK, NOISE_DEVIATIONS, rough_share


def look(row: list[int] | Integers, deviation: float, noise: int = 0) -> tuple[float, int]:
    """The share, and the exact sum that the noise was added to."""
    seen: list[int] = []

    def add(values: Integers) -> None:
        assert values.shape == (1,)
        assert values.dtype == np.int64
        seen.append(int(values[0]))
        values += noise

    share = rough_share(np.asarray(row, np.int64), deviation, add)
    assert len(seen) == 1, "noise is added once, to one number"
    return share, seen[0]


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


@pytest.mark.parametrize("n", [1, 15, 16, 17, 256, 1000])
def test_flat_rows_have_none_and_rough_rows_all(n: int) -> None:
    assert look([7] * n, 2.0) == (0.0, 0)
    rough = [1000 * (cell % 2) for cell in range(n)]
    blocks = -(-n // BLOCK)
    alone = n % BLOCK == 1  # the last block has a single cell, which cannot deviate
    assert look(rough, 2.0)[0] == pytest.approx((blocks - alone) / blocks)


def test_the_noise_reaches_the_share() -> None:
    quiet, total = look([0, 5] * 40, 1.0)
    cap = NOISE_DEVIATIONS
    assert quiet == total / cap / 5
    assert look([0, 5] * 40, 1.0, noise=-7000)[0] == (total - 7000) / cap / 5


def test_noiseless_budgets_still_have_a_cap() -> None:
    assert look([0, 1] * 8, 0.0) == (1.0, 1)
