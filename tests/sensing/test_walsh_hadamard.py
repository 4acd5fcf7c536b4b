"""The fast Walsh–Hadamard transform against the stored matrix and against a plain loop."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from sparsedp.arrays import Numbers
from sparsedp.sensing.walsh_hadamard import walsh_hadamard


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
