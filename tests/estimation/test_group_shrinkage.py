"""Chosen groups joined again where halving them was needless: the total is kept, steps stay, noise goes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.groups import shrink_groups


def leaves(n: int, seed: int, odds: float) -> Ints:
    """The leaves of a random tree of aligned halves."""
    generator = np.random.default_rng(seed)
    found: list[int] = []

    def grow(start: int, size: int) -> None:
        if start >= n:
            return
        if size == 1 or generator.random() > odds:
            found.append(start)
            return
        grow(start, size // 2)
        grow(start + size // 2, size // 2)

    grow(0, 1 << (n - 1).bit_length())
    return np.array(found, np.int64)


@given(st.integers(1, 300), st.integers(0, 2**32), st.floats(0.3, 1.0))
def test_the_total_is_kept(n: int, seed: int, odds: float) -> None:
    generator = np.random.default_rng(seed)
    starts = leaves(n, seed, odds)
    sums, variances = generator.normal(scale=50, size=len(starts)), generator.uniform(0, 9, size=len(starts))
    shrunk = shrink_groups(starts, sums, variances, n)
    assert shrunk.shape == sums.shape
    assert shrunk.sum() == pytest.approx(sums.sum(), abs=1e-7)
    assert np.isfinite(shrunk).all()


def errors(heights: Floats, deviation: float) -> tuple[float, float]:
    """Of 64 groups of 4 cells before and after, over 20 draws."""
    starts, truth = np.arange(0, 256, 4), np.repeat(4.0 * heights, 64 // len(heights))
    generator = np.random.default_rng(5)
    before = after = 0.0
    for _ in range(20):
        sums = truth + generator.normal(scale=deviation, size=64)
        before += float(((sums - truth) ** 2).sum())
        after += float(((shrink_groups(starts, sums, np.full(64, deviation**2), 256) - truth) ** 2).sum())
    return before, after


def test_needless_halvings_are_undone() -> None:
    before, after = errors(np.array([7.0]), 3.0)
    assert after < 0.15 * before


def test_steps_that_stand_out_stay() -> None:
    before, after = errors(np.array([0.0, 500.0, 3.0, 90.0]), 3.0)
    assert after < 0.5 * before


def test_where_every_halving_was_needed_little_is_lost() -> None:
    before, after = errors(np.random.default_rng(6).uniform(0, 1000, 64), 3.0)
    assert after < 1.05 * before


def test_one_or_two_groups_are_left_alone() -> None:
    for sums in (np.array([5.0]), np.array([5.0, -2.0])):
        found = shrink_groups(np.arange(len(sums)) * 4, sums, np.ones(len(sums)), 8)
        np.testing.assert_array_equal(found, sums)
        assert found is not sums


def test_no_noise_no_change() -> None:
    sums = np.arange(16.0) ** 2
    np.testing.assert_allclose(shrink_groups(np.arange(16), sums, np.zeros(16), 16), sums, atol=1e-6)
