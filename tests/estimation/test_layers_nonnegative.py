"""Removing negative cells: against non-negative least squares, and the projection onto a simplex."""

import numpy as np
import pytest
from dense_layers import haar_matrix
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import nnls

from sparsedp.arrays import Floats
from sparsedp.estimation.nonnegative import nearest_nonnegative

LENGTHS = [2, 3, 5, 8, 16, 31, 64, 100]


class Oracle:
    """The problem as a stored matrix: ‖A z − b‖² over z ≥ 0, the cells beyond n being zero."""

    def __init__(self, row: Floats, variances: Floats, total_variance: float) -> None:
        n = len(row)
        levels = max(n - 1, 1).bit_length()
        haar, level_of = haar_matrix(levels)
        weighted = haar / np.sqrt(np.append(variances[:levels], total_variance)[level_of])[:, None]
        self.matrix, self.target = weighted[:, :n], weighted[:, :n] @ row

    def nearest(self) -> Floats:
        solution: Floats = nnls(self.matrix, self.target, maxiter=5000)[0]
        return solution

    def cost(self, cells: Floats) -> float:
        return float(((self.matrix @ cells - self.target) ** 2).sum())


def variances_of(kind: str, n: int) -> tuple[Floats, float]:
    level = np.arange(max(n - 1, 1).bit_length())
    if kind == "equal":
        return np.full(len(level), 2.0), 2.0
    # Cells, blocks of 16 that are measured too, and the total better still.
    ladder: Floats = 2.0 / (1 + 3.0 * (level >= 4).astype(np.float64))
    return ladder, float(ladder[-1]) / 10


def rows_of(n: int) -> list[Floats]:
    generator = np.random.default_rng(n)
    truths = [np.where(generator.random(n) < 0.1, 20.0, 0.2) for _ in range(5)]
    noisy = [truth + generator.normal(scale=2.0**0.5, size=n) for truth in truths]
    below = [row - row.mean() - 0.1 for row in noisy[:2]]
    return [row for row in [*noisy, *below] if row.min() < 0]


@pytest.mark.parametrize("kind", ["equal", "ladder"])
@pytest.mark.parametrize("n", LENGTHS)
def test_it_is_the_constrained_least_squares_fit(n: int, kind: str) -> None:
    """Up to what 60 rounds leave: a thousandth of what plain clipping loses, and a fraction of a deviation."""
    variances, total_variance = variances_of(kind, n)
    for row in rows_of(n):
        oracle = Oracle(row, variances, total_variance)
        best, found = oracle.nearest(), nearest_nonnegative(row, variances, total_variance)
        assert found.shape == (n,)
        assert found.min() >= 0.0
        lost_by_clipping = oracle.cost(np.maximum(row, 0.0)) - oracle.cost(best)
        assert oracle.cost(found) - oracle.cost(best) <= 2e-3 * lost_by_clipping + 1e-3
        np.testing.assert_allclose(found, best, atol=0.2 * 2.0**0.5)


def test_equal_variances_are_plain_clipping() -> None:
    """All directions being equally uncertain, the nearest point is the clipped one."""
    for row in rows_of(64):
        np.testing.assert_allclose(nearest_nonnegative(row, np.full(6, 3.0), 3.0), np.maximum(row, 0.0), atol=1e-2)


def test_a_total_that_is_well_known_hardly_moves() -> None:
    for row in rows_of(100):
        found = nearest_nonnegative(row, np.full(7, 2.0), 0.002)
        clipped = np.maximum(row, 0.0).sum() - row.sum()
        assert abs(found.sum() - max(row.sum(), 0.0)) < 0.05 * clipped


@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e6)))
def test_what_is_not_negative_is_left_alone(row: Floats) -> None:
    found = nearest_nonnegative(row, np.full(6, 2.0), 1.0)
    np.testing.assert_array_equal(found, row)
    assert found is not row


def test_a_cell_that_is_seen_stays_whatever_a_badly_known_total_is() -> None:
    """A total below zero, by its noise, is no reason to lose what stands far above that of the cells."""
    row = np.random.default_rng(0).normal(size=4096)
    row[77] = 900.0
    row -= (row.sum() + 300.0) / 4096  # the total is −300, its deviation 700
    found = nearest_nonnegative(row, np.full(12, 1.0), 700.0**2 / 4096)
    assert 890.0 < found[77] < 910.0
    assert not nearest_nonnegative(-np.arange(64.0), np.full(6, 2.0), 1.0).any()
