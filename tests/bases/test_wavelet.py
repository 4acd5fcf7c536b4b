"""Named orthogonal wavelets: which there are, and what they are good for."""

import numpy as np
import pytest

from sparsedp.bases import basis_from
from sparsedp.bases.haar import Haar
from sparsedp.bases.wavelet import Wavelet, orthogonal_wavelets


def test_only_filters_that_are_orthonormal_are_offered() -> None:
    names = orthogonal_wavelets()
    assert {"db2", "db38", "sym20", "coif17"} <= set(names)
    assert "dmey" not in names
    assert "bior1.3" not in names


@pytest.mark.parametrize("name", ["db2", "db38", "sym20", "coif17"])
def test_row_sum_bound_of_long_filters(name: str) -> None:
    basis = basis_from(name, 700)
    largest = np.abs(basis.materialize()).sum(axis=1).max()
    assert largest <= basis.row_sum_bound <= 1.0001 * largest


def test_first_daubechies_wavelet_is_haar() -> None:
    cells = np.random.default_rng(0).normal(size=64)
    np.testing.assert_allclose(Wavelet("db1", 64).analyze(cells), Haar(64).analyze(cells), atol=1e-12)


def test_polynomials_vanish_in_the_details() -> None:
    basis = Wavelet("db4", 256)
    cubic = np.linspace(-1, 1, 256) ** 3
    finest = basis.analyze(cubic)[128:]
    assert np.abs(finest[8:-8]).max() < 1e-9
    assert np.abs(finest).max() > 1e-3
