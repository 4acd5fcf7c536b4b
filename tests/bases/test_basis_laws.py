"""Laws that every basis obeys, for many lengths."""

import numpy as np
import pytest

from sparsedp.bases import BASES, Basis, basis_from
from sparsedp.errors import InvalidInput, UnknownName

MATRIX_LENGTHS = [1, 2, 3, 5, 7, 8, 100, 513, 1000]
LENGTHS = [*MATRIX_LENGTHS, 1023, 1025, 4097]
NAMES = [*BASES, "db1", "db4", "sym8", "coif3"]


@pytest.fixture(params=[f"{name} {n}" for name in NAMES for n in LENGTHS])
def basis(request: pytest.FixtureRequest) -> Basis:
    name, n = request.param.split()
    return basis_from(name, int(n))


@pytest.fixture(params=[f"{name} {n}" for name in NAMES for n in MATRIX_LENGTHS])
def small_basis(request: pytest.FixtureRequest) -> Basis:
    name, n = request.param.split()
    return basis_from(name, int(n))


def random(length: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(length).normal(size=length)


def test_names_are_those_of_the_registry(basis: Basis) -> None:
    assert type(basis_from(basis.name, 8)) is type(basis)


def test_the_bases_of_our_own() -> None:
    assert {"identity", "haar", "cosine"} <= set(BASES)


def test_synthesize_inverts_analyze(basis: Basis) -> None:
    cells = random(basis.n)
    np.testing.assert_allclose(basis.synthesize(basis.analyze(cells)), cells, atol=1e-9)


def test_adjoint(basis: Basis) -> None:
    cells, coefficients = random(basis.n), random(basis.size)[::-1]
    left = basis.analyze(cells) @ coefficients
    np.testing.assert_allclose(left, cells @ basis.synthesize(coefficients), rtol=1e-9, atol=1e-9)


def test_orthonormal_on_padded_cells(small_basis: Basis) -> None:
    analysis = np.stack([small_basis.analyze(unit) for unit in np.eye(small_basis.size)], axis=1)
    np.testing.assert_allclose(analysis @ analysis.T, np.eye(small_basis.size), atol=1e-9)


def test_materialize_is_the_transpose_of_analyze(small_basis: Basis) -> None:
    matrix = small_basis.materialize()
    assert matrix.shape == (small_basis.n, small_basis.size)
    cells = random(small_basis.n)
    np.testing.assert_allclose(matrix.T @ cells, small_basis.analyze(cells), atol=1e-9)


def test_row_sum_bound_is_above_and_near_the_largest_row_sum(small_basis: Basis) -> None:
    largest = np.abs(small_basis.materialize()).sum(axis=1).max()
    assert largest * (1 - 1e-13) <= small_basis.row_sum_bound <= 1.01 * largest


def test_padded_cells_are_zeros(basis: Basis) -> None:
    cells = random(basis.n)
    padded = np.concatenate([cells, np.zeros(basis.size - basis.n)])
    np.testing.assert_array_equal(basis.analyze(cells), basis.analyze(padded))


def test_input_is_left_alone_and_any_layout_is_taken(basis: Basis) -> None:
    cells = random(2 * basis.n)[::2]
    kept = cells.copy()
    cells.flags.writeable = False
    coefficients = basis.analyze(cells)
    np.testing.assert_array_equal(cells, kept)
    kept_coefficients = coefficients.copy()
    basis.synthesize(coefficients)[:] = 0
    np.testing.assert_array_equal(coefficients, kept_coefficients)


def test_wrong_lengths_are_refused(basis: Basis) -> None:
    with pytest.raises(InvalidInput, match="signal"):
        basis.analyze(np.zeros(basis.size + 1))
    with pytest.raises(InvalidInput, match="coefficients"):
        basis.synthesize(np.zeros(basis.size + 1))
    with pytest.raises(InvalidInput, match="signal"):
        basis.analyze(np.zeros((basis.n, 1)))


@pytest.mark.parametrize("n", [0, -1, 2**31 + 1, 2.0, True])
@pytest.mark.parametrize("name", NAMES)
def test_impossible_numbers_of_cells_are_refused(name: str, n: int) -> None:
    with pytest.raises(InvalidInput, match="n is"):
        basis_from(name, n)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'haar'"):
        basis_from("harr", 8)
    with pytest.raises(UnknownName):
        basis_from("bior2.2", 8)
    with pytest.raises(InvalidInput, match="basis"):
        basis_from(3, 8)  # type: ignore[arg-type]
