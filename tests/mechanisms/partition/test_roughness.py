"""Rough blocks and cells that stand out: a sum each, that one person changes by no more than the noise is made for."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Integers
from sparsedp.mechanisms.partition.roughness import BLOCK, NOISE_DEVIATIONS, STANDS_OUT, rough_share, standing_out

EVERY_LOOK = st.sampled_from([rough_share, standing_out])


def look(
    row: list[int] | Integers, deviation: float, noise: int = 0, how: Callable[..., float] = rough_share
) -> tuple[float, int]:
    """The answer, and the exact sum that the noise was added to."""
    seen: list[int] = []

    def add(values: Integers) -> None:
        assert values.shape == (1,)
        assert values.dtype == np.int64
        seen.append(int(values[0]))
        values += noise

    share = how(np.asarray(row, np.int64), deviation, add)
    assert len(seen) == 1, "noise is added once, to one number"
    return share, seen[0]


@given(
    st.lists(st.integers(-30, 30) | st.sampled_from([2**62, -(2**62)]), min_size=1, max_size=70),
    st.integers(0, 69),
    st.sampled_from([1, -1]),
    st.floats(0, 10),
    EVERY_LOOK,
)
def test_one_unit_changes_the_sum_by_one_at_most(
    row: list[int], place: int, step: int, deviation: float, how: Callable[..., float]
) -> None:
    other = row.copy()
    other[place % len(row)] += step
    assert abs(look(row, deviation, how=how)[1] - look(other, deviation, how=how)[1]) <= 1


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


def test_a_cell_stands_out_by_what_it_is_above_the_noise() -> None:
    row = [3] * 40
    row[20] = 103
    slack = int(STANDS_OUT * 2.0)
    assert look(row, 2.0, how=standing_out) == ((100 - slack) / 2.0, 100 - slack)
    assert look(row, 2.0, noise=-5, how=standing_out)[0] == (95 - slack) / 2.0
    assert look(row, 25.0, how=standing_out) == (0.0, 0)
    assert look([0, 9] * 8, 2.0, how=standing_out) == (0.0, 0), "nothing does if all cells are rough alike, and little"
    assert look(row, 0.0, how=standing_out)[0] > 1e6
