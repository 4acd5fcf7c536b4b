from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sparsedp.arrays import Floats
from sparsedp.constraints._impose import Halving, rounded, rounded_monotone
from sparsedp.constraints._margins import Margin, rounded_with_two_margins
from sparsedp.errors import SparsedpError

TABLES = arrays(
    np.float64,
    array_shapes(max_dims=3, max_side=9),
    elements=st.one_of(st.floats(0, 3), st.just(0.0), st.just(0.5), st.floats(0, 1e9)),
)


@given(table=TABLES)
def test_every_node_is_its_own_sum_up_or_down(table: Floats) -> None:
    whole = rounded(table, None)
    assert whole.min() >= 0
    assert not whole[table == 0.0].any()
    halving = Halving(table.shape)
    for exact, found in zip(halving.sums(table), halving.sums(whole.astype(float)), strict=True):
        assert (np.abs(found - exact) < 1.0).all()
    assert whole.sum() == np.rint(halving.sums(table)[-1][0])


@given(line=arrays(np.float64, st.integers(1, 70), elements=st.floats(0, 3)))
def test_aligned_dyadic_sums_of_a_line_are_off_by_less_than_one_and_any_range_by_little(line: Floats) -> None:
    whole = rounded(line, None)
    off = np.concatenate([[0.0], np.cumsum(whole - line)])
    for width in (1, 2, 4, 8, 16, 32, 64):
        starts = np.arange(0, len(line), width)
        assert (np.abs(off[np.minimum(starts + width, len(line))] - off[starts]) < 1.0 + 1e-9).all()
    assert off.max() - off.min() < 2 * max(1, (len(line) - 1).bit_length())


def test_the_largest_remainder_goes_up() -> None:
    assert rounded(np.array([0.6, 0.4, 2.2, 0.8]), None).tolist() == [1, 0, 2, 1]
    assert rounded(np.full(8, 0.25), None).sum() == 2


@given(table=TABLES, seed=st.integers(0, 2**32))
def test_totals_of_an_axis_are_exact(table: Floats, seed: int) -> None:
    table = np.minimum(table, 1e6)
    sums = table.reshape(table.shape[0], -1).sum(axis=1)
    ups = np.random.default_rng(seed).random(len(sums)) < 0.5
    totals = np.where(ups, np.ceil(sums), np.floor(sums)).astype(np.int64)
    whole = rounded(table, Margin((0,), totals))
    np.testing.assert_array_equal(whole.reshape(len(sums), -1).sum(axis=1), totals)
    assert (np.abs(whole - table) <= 1.0).all()


def test_totals_beyond_the_digits_of_the_sums_are_still_exact() -> None:
    line = np.array([0.0, 4503599627370496.5, 0.25, 1e15])
    total = Margin((), np.asarray(4503599627370496 + 10**15 + 40))
    whole = rounded(line, total)
    assert whole.sum() == total.totals
    assert whole[0] == 0


@given(
    table=arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=6), elements=st.floats(0, 4)),
    sign=st.sampled_from([1, -1]),
    flat=st.booleans(),
)
def test_cells_in_order_stay_in_order(table: Floats, sign: int, flat: bool) -> None:
    if flat:
        table = np.full(table.shape, 0.5)
    table = np.sort(table, axis=-1)[..., ::sign]
    last = table.ndim - 1
    whole = rounded_monotone(table, None, {last: sign})
    assert (np.diff(whole, axis=-1) * sign >= 0).all()
    assert (np.abs(whole - table) < 1.0 + 1e-8).all()
    assert abs(float(whole.sum() - table.sum())) <= 0.5 + 1e-6


def fractional(seed: int, rows: int, columns: int, depth: int) -> tuple[Floats, Margin, Margin]:
    """A table with fractions whose sums over the first two axes are whole: units moved around rectangles."""
    generator = np.random.default_rng(seed)
    counts = generator.poisson(1.5, (rows, columns, depth))
    table = counts.astype(float)
    for _ in range(2 * table.size):
        i, j = generator.integers(0, rows, 2)
        k, m = generator.integers(0, columns, 2)
        d = generator.integers(0, depth)
        step = min(generator.random(), table[i, k, d], table[j, m, d])
        if i != j and k != m:
            table[[i, j, i, j], [k, m, m, k], d] += [-step, -step, step, step]
    return table, Margin((0,), counts.sum(axis=(1, 2))), Margin((1,), counts.sum(axis=(0, 2)))


@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(1, 8), st.integers(1, 3))
def test_two_margins_are_kept_and_every_cell_is_next_to_its_own(seed: int, rows: int, columns: int, depth: int) -> None:
    table, first, second = fractional(seed, rows, columns, depth)
    whole = rounded_with_two_margins(table, first, second)
    for margin in (first, second):
        np.testing.assert_array_equal(margin.of(whole), margin.totals)
    assert (np.abs(whole - table) < 1.0 + 1e-6).all()
    assert whole.min() >= 0


def test_rounding_with_two_margins_stays_near() -> None:
    """Rounding each cell by chance would move it by 0.41 in the mean square, to the nearest by 0.29."""
    table, first, second = fractional(0, 40, 40, 1)
    off = rounded_with_two_margins(table, first, second) - table
    assert float(np.sqrt(np.mean(off[table % 1 != 0] ** 2))) < 0.36


def test_totals_that_the_table_does_not_have_are_refused() -> None:
    table, first, _ = fractional(0, 4, 5, 1)
    with pytest.raises(SparsedpError, match="whole numbers"):
        rounded_with_two_margins(table, first, Margin((1,), np.array([100, 0, 0, 0, 0])))
