"""The error measures, against their plain definitions."""

import numpy as np
import pytest

from studies.metrics import RANGES, cell_error, range_error


def test_cell_error_is_the_euclidean_distance() -> None:
    assert cell_error(np.array([3, 0]), np.array([0.0, 4.0])) == 5.0
    assert cell_error(np.array([[3], [0]]), np.array([[0.0], [4.0]])) == 5.0


def test_range_error_is_the_root_mean_square_over_the_same_ranges() -> None:
    generator = np.random.default_rng(1)
    truth, values = generator.integers(0, 9, 50), generator.normal(size=50)
    bounds = np.sort(np.random.default_rng(0).integers(0, 51, size=(RANGES, 2)), axis=1)
    expected = [(values[low:high].sum() - truth[low:high].sum()) ** 2 for low, high in bounds]
    assert range_error(truth, values) == pytest.approx(np.sqrt(np.mean(expected)))


def test_in_a_table_the_ranges_are_boxes() -> None:
    generator = np.random.default_rng(1)
    truth, values = generator.integers(0, 9, (7, 12)), generator.normal(size=(7, 12))
    public = np.random.default_rng(5)
    rows, columns = (np.sort(public.integers(0, size + 1, size=(RANGES, 2)), axis=1) for size in truth.shape)
    expected = [
        (values - truth)[top:bottom, left:right].sum() ** 2
        for (top, bottom), (left, right) in zip(rows, columns, strict=True)
    ]
    assert range_error(truth, values, seed=5) == pytest.approx(np.sqrt(np.mean(expected)))
    assert range_error(truth, values, seed=6) != range_error(truth, values, seed=5)
