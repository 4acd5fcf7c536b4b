from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sparsedp.arrays import Floats
from sparsedp.constraints import nonnegative_keeping_totals
from sparsedp.constraints._impose import Halving, spread_totals

TABLES = arrays(np.float64, array_shapes(max_dims=3, max_side=7), elements=st.floats(-1e6, 1e6))


@given(values=TABLES)
def test_no_cell_is_negative(values: Floats) -> None:
    table = nonnegative_keeping_totals(values)
    assert table.shape == values.shape
    assert table.min() >= 0.0


@given(values=TABLES)
def test_the_total_stays_unless_it_is_less_than_what_is_surely_there(values: Floats) -> None:
    table = nonnegative_keeping_totals(values)
    scale = max(float(np.abs(values).sum()), 1e-300)
    assert table.sum() >= values.sum() - 1e-12 * scale
    assert table.sum() <= np.maximum(values, 0.0).sum() + 1e-12 * scale
    if table.sum() > values.sum() + 1e-9 * scale:
        # Raised: then every cell is what it surely holds, and no more.
        assert (table <= np.maximum(values, 0.0) + 1e-12 * scale).all()


@given(values=TABLES)
def test_a_table_without_negative_cells_stays(values: Floats) -> None:
    np.testing.assert_array_equal(nonnegative_keeping_totals(np.abs(values)), np.abs(values))


@given(values=TABLES)
def test_what_came_out_stays(values: Floats) -> None:
    table = nonnegative_keeping_totals(values)
    np.testing.assert_array_equal(nonnegative_keeping_totals(table), table)


@given(values=TABLES, exponent=st.integers(-30, 30))
def test_units_do_not_matter(values: Floats, exponent: int) -> None:
    values = np.round(values)
    expected = nonnegative_keeping_totals(values) * 2.0**exponent
    np.testing.assert_array_equal(nonnegative_keeping_totals(values * 2.0**exponent), expected)


@given(values=TABLES, seed=st.integers(0, 2**32))
def test_known_totals_and_zeros(values: Floats, seed: int) -> None:
    generator = np.random.default_rng(seed)
    free = generator.random(values.shape) < 0.7
    totals = generator.integers(0, 1000, values.shape[0]) * free.reshape(values.shape[0], -1).any(axis=1)
    weights = generator.uniform(0.01, 1.0, values.shape)
    table = spread_totals(values, weights, free, (0,), totals.astype(float))
    assert table.min() >= 0.0
    assert not table[~free].any()
    np.testing.assert_allclose(table.reshape(values.shape[0], -1).sum(axis=1), totals, rtol=1e-12)


def test_a_deficit_is_taken_from_next_to_it() -> None:
    values = np.array([40.0, 40.0, 41.0, -3.0, 40.0, 40.0, 40.0, 40.0])
    assert nonnegative_keeping_totals(values).tolist() == [40, 40, 38, 0, 40, 40, 40, 40]


def test_the_uncertain_cell_gives_more() -> None:
    """Deficits of whole halves are shared by the variance: the root's known total is 6 less than the sum."""
    values, variance = np.array([100.0, 100.0]), np.array([2.0, 1.0])
    table = spread_totals(values, variance, np.ones(2, bool), (), np.asarray(194.0))
    np.testing.assert_allclose(table, [96.0, 98.0])


def test_a_peak_outlives_the_noise_around_it() -> None:
    """Far more noise in the sum of an empty half than the peak in it: the peak stays, though its half is negative."""
    generator = np.random.default_rng(2)
    values = generator.laplace(-0.05, 1.0, 2**14)
    values[: 2**13] += 1.0
    values[12_000] = 300.0
    half = values[2**13 :].sum()
    assert half < 0.0
    assert nonnegative_keeping_totals(values)[12_000] > 280.0


def range_error(estimate: Floats, counts: Floats) -> float:
    ends = np.sort(np.random.default_rng(0).integers(0, counts.size + 1, (2000, 2)), axis=1)
    sums = np.concatenate([[0.0], np.cumsum(estimate - counts)])
    return float(np.sqrt(np.mean((sums[ends[:, 1]] - sums[ends[:, 0]]) ** 2)))


def half_empty(n: int) -> Floats:
    return np.where(np.arange(n) < n // 2, 80.0, 0.0)


def peaks(n: int) -> Floats:
    counts = np.zeros(n)
    counts[:: n // 64] = 500.0
    return counts


@pytest.mark.parametrize("counts", [half_empty(4096), peaks(4096), np.full(4096, 0.3)], ids=["half", "peaks", "faint"])
def test_long_ranges_are_not_biased_and_cells_gain(counts: Floats) -> None:
    """Clipping makes ranges 7 to 15 times worse here."""
    noisy = counts + np.random.default_rng(1).laplace(0.0, 10.0, counts.size)
    table, clipped = nonnegative_keeping_totals(noisy), np.maximum(noisy, 0.0)
    assert range_error(table, counts) < 1.1 * range_error(noisy, counts)
    assert range_error(clipped, counts) > 4.0 * range_error(table, counts)
    assert np.linalg.norm(table - counts) < np.linalg.norm(clipped - counts)


@given(shape=array_shapes(max_dims=4, max_side=6), kept=st.sets(st.integers(0, 3)))
def test_halving_ends_in_the_sums_over_all_but_the_kept_axes(shape: tuple[int, ...], kept: set[int]) -> None:
    axes = tuple(axis for axis in kept if axis < len(shape))
    cells = np.arange(np.prod(shape), dtype=float).reshape(shape)
    halving = Halving(shape, axes)
    others = tuple(axis for axis in range(len(shape)) if axis not in axes)
    np.testing.assert_array_equal(halving.sums(cells)[-1], cells.sum(axis=others).ravel())
    assert halving.roots == tuple(size if axis in axes else 1 for axis, size in enumerate(shape))


def test_halving_a_line_gives_the_dyadic_sums() -> None:
    levels = Halving((6,)).sums(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert [level.tolist() for level in levels[1:]] == [[3, 7, 11], [10, 11], [21]]
