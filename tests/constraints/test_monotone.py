from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import isotonic_regression

from sparsedp.arrays import Floats
from sparsedp.constraints._margins import filled_up, forced_zeros, monotone_lines, nearest_monotone

TABLES = arrays(np.float64, array_shapes(max_dims=3, max_side=8), elements=st.floats(-100, 100))


@given(values=TABLES, axis=st.integers(0, 2), sign=st.sampled_from([1, -1]), seed=st.integers(0, 2**32))
def test_every_line_is_the_isotonic_regression_lifted_to_zero(values: Floats, axis: int, sign: int, seed: int) -> None:
    axis %= values.ndim
    weights = np.random.default_rng(seed).uniform(0.1, 1.0, values.shape)
    nearest, blocks = monotone_lines(values, weights, np.ones(values.shape, bool), axis, sign)
    lines = [np.moveaxis(table, axis, -1).reshape(-1, values.shape[axis]) for table in (values, weights, nearest)]
    for line, variance, found in zip(*lines, strict=True):
        regression = isotonic_regression(line, weights=1.0 / variance, increasing=sign > 0)
        np.testing.assert_allclose(found, np.maximum(regression.x, 0.0), atol=1e-10)
    assert blocks.min() == 0
    for block in range(blocks.max() + 1):
        assert len(np.unique(nearest[blocks == block])) == 1


def test_cells_that_are_not_free_stay_zero_and_out() -> None:
    values = np.array([5.0, 4.0, 3.0, 6.0, 2.0])
    free = np.array([False, True, True, True, True])
    nearest, blocks = monotone_lines(values, np.ones(5), free, 0, 1)
    assert nearest.tolist() == [0.0, 3.5, 3.5, 4.0, 4.0]
    assert blocks.tolist() == [-1, 0, 0, 1, 1]
    nearest, _ = monotone_lines(values[::-1].copy(), np.ones(5), free[::-1].copy(), 0, -1)
    assert nearest.tolist() == [4.0, 4.0, 3.5, 3.5, 0.0]


@given(values=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 100)))
def test_two_axes_at_once(values: Floats) -> None:
    signs = {0: 1, 1: -1}
    table = nearest_monotone(values, np.ones(values.shape), np.ones(values.shape, bool), signs)
    assert (np.diff(table, axis=0) >= 0.0).all()
    assert (np.diff(table, axis=1) <= 0.0).all()
    assert table.sum() == pytest.approx(values.sum(), rel=1e-6)
    # Nearest: no step towards any other monotone table comes closer.
    others = [filled_up(np.random.default_rng(seed).uniform(0, 100, values.shape), signs) for seed in range(5)]
    for other in [*others, np.zeros(values.shape), 2.0 * table]:
        assert float(np.sum((values - table) * (other - table))) <= 1e-4 * (1.0 + float(values.sum()))


def test_filling_up_raises_the_least() -> None:
    table = np.array([[1.0, 3.0], [2.0, 0.0]])
    assert filled_up(table, {0: 1, 1: 1}).tolist() == [[1.0, 3.0], [2.0, 3.0]]
    assert filled_up(table, {0: -1, 1: -1}).tolist() == [[3.0, 3.0], [2.0, 0.0]]


def test_zeros_force_what_may_not_exceed_them() -> None:
    zeros = np.zeros((3, 3), bool)
    zeros[1, 1] = True
    assert forced_zeros(zeros, {}).sum() == 1
    assert forced_zeros(zeros, {0: 1}).nonzero()[0].tolist() == [0, 1]
    np.testing.assert_array_equal(forced_zeros(zeros, {0: 1, 1: -1}), [[0, 1, 1], [0, 1, 1], [0, 0, 0]])
