"""Randomised Hadamard sensing: what decoders rely on beyond the laws."""

import numpy as np
import pytest

from sparsedp.bases.haar import Haar
from sparsedp.errors import InvalidInput
from sparsedp.sensing.hadamard import Hadamard


@pytest.mark.parametrize("n", [1, 2, 64, 2048, 2**16])
def test_rows_are_orthogonal_when_no_cell_is_padded(n: int) -> None:
    sensing = Hadamard(n, rows=max(1, n // 3), seed=1)
    values = np.random.default_rng(n).normal(size=sensing.rows)
    back = sensing.forward(sensing.adjoint(values))
    np.testing.assert_allclose(back, n * values, rtol=1e-9, atol=1e-6)


def test_all_rows_are_distinct() -> None:
    sensing = Hadamard(64, rows=64, seed=3)
    gram = sensing.materialize() @ sensing.materialize().T
    np.testing.assert_array_equal(gram, 64 * np.eye(64))


def test_seeds_give_different_matrices() -> None:
    one, other = (Hadamard(100, rows=50, seed=seed).materialize() for seed in (1, 2))
    assert 0.3 < (one == other).mean() < 0.7


def test_rows_are_incoherent_with_haar_wavelets() -> None:
    """Without the permutation some row would equal a fine wavelet's signs on long stretches."""
    sensing, basis = Hadamard(4096, rows=512, seed=4), Haar(4096)
    products = np.stack([basis.analyze(row) for row in sensing.materialize().astype(float)])
    assert np.abs(products).max() < 6


@pytest.mark.parametrize("rows", [0, 101, 1.0])
def test_impossible_numbers_of_rows_are_refused(rows: int) -> None:
    with pytest.raises(InvalidInput, match="rows"):
        Hadamard(100, rows=rows, seed=0)
