"""The error measures, against their plain definitions."""

import numpy as np
import pytest

from sparsedp.experiments.metrics import RANGES, cell_error, range_error


def test_cell_error_is_the_euclidean_distance() -> None:
    assert cell_error(np.array([3, 0]), np.array([0.0, 4.0])) == 5.0


def test_range_error_is_the_root_mean_square_over_the_same_ranges() -> None:
    generator = np.random.default_rng(1)
    truth, values = generator.integers(0, 9, 50), generator.normal(size=50)
    bounds = np.sort(np.random.default_rng(0).integers(0, 51, size=(RANGES, 2)), axis=1)
    expected = [(values[low:high].sum() - truth[low:high].sum()) ** 2 for low, high in bounds]
    assert range_error(truth, values) == pytest.approx(np.sqrt(np.mean(expected)))
