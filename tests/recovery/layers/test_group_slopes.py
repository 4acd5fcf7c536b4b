"""Slopes within groups: sums are kept, ramps are found, steps and peaks stay flat, nothing becomes negative."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.recovery.layers.group_slopes import sloped_cells

groups = st.lists(st.tuples(st.floats(0, 1e6), st.sampled_from([1, 2, 3, 4, 8, 32])), min_size=1, max_size=30)


@given(groups)
def test_sums_are_kept_and_no_cell_is_negative(given_groups: list[tuple[float, int]]) -> None:
    sums, sizes = np.array([each[0] for each in given_groups]), np.array([each[1] for each in given_groups])
    cells = sloped_cells(sums, sizes)
    assert len(cells) == sizes.sum()
    np.testing.assert_allclose(np.add.reduceat(cells, np.cumsum(sizes) - sizes), sums, rtol=1e-9, atol=1e-6)
    assert cells.min() >= -1e-9 * max(float(sums.max()), 1.0)


@given(groups)
def test_inner_cells_stay_between_the_means_around(given_groups: list[tuple[float, int]]) -> None:
    sums, sizes = np.array([each[0] for each in given_groups]), np.array([each[1] for each in given_groups])
    means, cells = sums / sizes, np.split(sloped_cells(sums, sizes), np.cumsum(sizes)[:-1])
    for group in range(1, len(sizes) - 1):
        around = means[group - 1 : group + 2]
        assert cells[group].min() >= around.min() - 1e-9 * max(float(around.max()), 1.0)
        assert cells[group].max() <= around.max() * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("sizes", [[8] * 6, [4, 4, 8, 16, 16], [16, 1, 1, 2, 4, 8]])
@pytest.mark.parametrize("slope", [3.0, -2.0])
def test_a_ramp_comes_back(sizes: list[int], slope: float) -> None:
    ramp = 200.0 + slope * np.arange(sum(sizes))
    lengths = np.array(sizes)
    sums = np.add.reduceat(ramp, np.cumsum(lengths) - lengths)
    np.testing.assert_allclose(sloped_cells(sums, lengths), ramp)


def test_steps_and_peaks_stay_flat() -> None:
    for means in ([5.0, 5.0, 90.0, 90.0], [5.0, 90.0, 5.0, 5.0], [7.0], [7.0, 80.0]):
        sizes = np.full(len(means), 4)
        np.testing.assert_allclose(sloped_cells(np.array(means) * 4, sizes), np.repeat(means, 4))


def test_a_ramp_up_from_nothing_stops_at_zero() -> None:
    cells = sloped_cells(np.array([1.0, 40.0, 79.0]) * 8, np.full(3, 8))
    assert cells.min() >= 0.0
    assert cells[0] < cells[7]
