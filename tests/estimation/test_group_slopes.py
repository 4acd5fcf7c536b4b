"""Slopes within groups: sums are kept, ramps are found, steps and peaks stay flat, nothing becomes negative."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.estimation.groups import sloped_cells
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource

groups = st.lists(st.tuples(st.floats(0, 1e6), st.sampled_from([1, 2, 3, 4, 8, 32])), min_size=1, max_size=30)


@given(groups)
def test_sums_are_kept_and_no_cell_is_negative(given_groups: list[tuple[float, int]]) -> None:
    sums, sizes = np.array([each[0] for each in given_groups]), np.array([each[1] for each in given_groups])
    cells = sloped_cells(sums, sizes, np.full(len(sums), 1e9))
    assert len(cells) == sizes.sum()
    np.testing.assert_allclose(np.add.reduceat(cells, np.cumsum(sizes) - sizes), sums, rtol=1e-9, atol=1e-6)
    assert cells.min() >= -1e-9 * max(float(sums.max()), 1.0)


@given(groups)
def test_inner_cells_stay_between_the_means_around(given_groups: list[tuple[float, int]]) -> None:
    sums, sizes = np.array([each[0] for each in given_groups]), np.array([each[1] for each in given_groups])
    means, cells = sums / sizes, np.split(sloped_cells(sums, sizes, np.full(len(sums), 1e9)), np.cumsum(sizes)[:-1])
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
    np.testing.assert_allclose(sloped_cells(sums, lengths, np.full(len(sizes), 1e9)), ramp)


@pytest.mark.parametrize(("factor", "left"), [(0.4, 0.15), (0.8, 0.04), (1.5, 0.07)])
def test_counts_that_fall_off_by_the_same_factor_come_nearly_back(factor: float, left: float) -> None:
    """Inner groups, with a small part of the error that they would have if they were flat."""
    falling = 1000.0 * factor ** (np.arange(48) / 8)
    found = sloped_cells(falling.reshape(6, 8).sum(axis=1), np.full(6, 8), np.full(6, 1e9)).reshape(6, 8)[1:-1]
    truth = falling.reshape(6, 8)[1:-1]
    assert np.linalg.norm(found - truth) < left * np.linalg.norm(truth - truth.mean(axis=1, keepdims=True))


def test_steps_and_peaks_stay_flat() -> None:
    for means in ([5.0, 5.0, 90.0, 90.0], [5.0, 90.0, 5.0, 5.0], [7.0], [7.0, 80.0]):
        sizes = np.full(len(means), 4)
        np.testing.assert_allclose(
            sloped_cells(np.array(means) * 4, sizes, np.full(len(means), 1e9)), np.repeat(means, 4)
        )


def test_a_ramp_up_from_nothing_stops_at_zero() -> None:
    cells = sloped_cells(np.array([1.0, 40.0, 79.0]) * 8, np.full(3, 8), np.full(3, 1e9))
    assert cells.min() >= 0.0
    assert cells[0] < cells[7]


def test_no_slope_is_steeper_than_a_look_would_have_left() -> None:
    sizes, unseen = np.array([64, 32, 128, 32]), np.array([10.0, 5.0, 20.0, 0.0])
    cells = sloped_cells(np.array([10.0, 20.0, 30.0, 40.0]) * 1e3 * sizes, sizes, unseen)
    for group, hidden in zip(np.split(cells, np.cumsum(sizes)[:-1]), unseen, strict=True):
        np.testing.assert_allclose(np.abs(group - np.median(group)).sum(), hidden, atol=1e-6)


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_stairs_are_not_published_as_a_ramp(workload: str) -> None:
    """Four steps that any look sees to be flat: their noise is all that may be wrong with them."""
    counts = np.repeat([1000, 2000, 3000, 4000], 1024)
    for seed in range(4):
        release = Adaptive(workload).release(counts, epsilon=1, source=SeededSource(seed))
        assert np.linalg.norm(release.values - counts) < 40
