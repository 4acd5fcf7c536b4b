"""Sums without a negative one: the projection onto a simplex."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparsedp.arrays import Floats
from sparsedp.recovery.layers.nonnegative import keeping_total


@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e6)))
def test_what_is_not_negative_is_left_alone(row: Floats) -> None:
    found = keeping_total(row)
    np.testing.assert_array_equal(found, row if row.sum() > 0 else 0 * row)
    assert found is not row


@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e4, 1e4)))
def test_a_negative_total_becomes_zeros(row: Floats) -> None:
    row = row - max(row.sum(), 0.0) / len(row) - 1.0
    assert not keeping_total(row).any()


@given(arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e3, 1e3)))
def test_the_total_is_kept_by_the_nearest_point_of_the_simplex(sums: Floats) -> None:
    """The projection onto {z ≥ 0, Σz = t}: by bisection of the threshold, an independent way to it."""
    total = float(sums.sum())
    found = keeping_total(sums)
    assert found.min() >= 0.0
    if total <= 1e-6:
        return
    low, high = float(sums.min()) - total - 1.0, float(sums.max())
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(sums - middle, 0.0).sum() > total else (low, middle)
    assert found.sum() == pytest.approx(total)
    np.testing.assert_allclose(found, np.maximum(sums - high, 0.0), atol=1e-6)


def test_totals_lost_in_rounding_raise_nothing() -> None:
    """Sums so far apart that their total is rounding error: any answer near zero will do, but an answer."""
    found = keeping_total(np.array([1e17, -1e17, 1.0]))
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
