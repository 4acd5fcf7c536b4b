"""Hierarchical, end to end: least squares on the noisy tree, unbiased, and better on ranges than noise per cell."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.noise.source import SeededSource


@pytest.mark.parametrize("branching", [2, 3, 16])
@pytest.mark.parametrize("cells", [1, 2, 3, 31, 100])
def test_a_release_is_least_squares_on_the_materialised_tree(cells: int, branching: int) -> None:
    synopsis = sdp.Hierarchical(branching).measure(np.arange(cells), epsilon=1)
    matrix = synopsis.sensing.materialize().astype(float)
    expected = np.linalg.lstsq(matrix, synopsis.values.astype(float), rcond=None)[0]
    np.testing.assert_allclose(synopsis.recover().values, expected, rtol=1e-9, atol=1e-9)


def test_it_is_unbiased_and_good_at_long_ranges() -> None:
    cells, source = 1024, SeededSource(4)
    truth = np.arange(cells) % 17
    tree, direct = [], []
    for _ in range(60):
        tree.append(sdp.Hierarchical().release(truth, epsilon=1, source=source).range_sum(0, 700) - truth[:700].sum())
        direct.append(sdp.Laplace().release(truth, epsilon=1, source=source).range_sum(0, 700) - truth[:700].sum())
    assert abs(np.mean(tree)) < 4 * np.std(tree) / np.sqrt(60)
    assert np.std(tree) < 0.8 * np.std(direct)
