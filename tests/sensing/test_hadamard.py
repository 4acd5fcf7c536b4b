"""Randomised Hadamard sensing: what decoders rely on beyond the laws."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from sparsedp.arrays import Numbers
from sparsedp.bases.haar import Haar
from sparsedp.errors import InvalidInput
from sparsedp.sensing.hadamard import Hadamard, walsh_hadamard


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


def plain(values: Numbers) -> Numbers:
    """One stage after the other, as in the definition."""
    distance = 1
    while distance < len(values):
        pairs = values.reshape(-1, 2, distance)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        distance *= 2
    return values


@pytest.mark.parametrize("exponent", range(12))
def test_equals_the_stored_matrix(exponent: int) -> None:
    values = np.random.default_rng(exponent).normal(size=2**exponent)
    expected = hadamard(2**exponent, dtype=np.int64) @ values
    walsh_hadamard(values)
    np.testing.assert_allclose(values, expected, atol=1e-10)


@pytest.mark.parametrize("exponent", range(19))
def test_integers_wrap_exactly(exponent: int) -> None:
    values = np.random.default_rng(exponent).integers(0, 2**64 - 1, size=2**exponent, dtype=np.uint64)
    expected = plain(values)
    walsh_hadamard(values)
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("exponent", [12, 13, 15, 16, 17, 18, 20])
def test_long_vectors_equal_a_plain_loop(exponent: int) -> None:
    values = np.random.default_rng(exponent).normal(size=2**exponent)
    expected = plain(values)
    walsh_hadamard(values)
    np.testing.assert_allclose(values, expected, atol=1e-8)


def test_twice_is_the_length_times_the_vector() -> None:
    values = np.arange(2**13, dtype=np.uint64)
    walsh_hadamard(values)
    walsh_hadamard(values)
    np.testing.assert_array_equal(values, 2**13 * np.arange(2**13))
