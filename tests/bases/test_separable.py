"""Separable bases equal the Kronecker product of the axes' matrices, and obey the laws of every basis."""

from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.axes import Bins, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.bases import Basis, basis_from
from sparsedp.bases.base import Identity
from sparsedp.bases.haar import Haar
from sparsedp.bases.separable import Separable, basis_for
from sparsedp.errors import InvalidInput, UnknownName

SHAPES: list[tuple[int, ...]] = [(1,), (7,), (1, 1), (5, 8), (8, 5), (3, 1, 4), (2, 3, 2, 3)]
NAMES = ["identity", "haar", "cosine", "db2"]


class Flipped(Basis):
    """A basis that `separable.py` has no special way for: coefficient j is cell n − 1 − j."""

    name = "flipped"
    row_sum_bound = Fraction(1)

    def __init__(self, n: int) -> None:
        self.n = n

    def analyze(self, signal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return signal[::-1].copy()

    def synthesize(self, coefficients: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return coefficients[::-1].copy()


def bases_over(shape: tuple[int, ...], first: int = 0) -> Separable:
    """Another basis along every axis, starting anywhere in the list."""
    return Separable([basis_from(NAMES[(first + axis) % len(NAMES)], n) for axis, n in enumerate(shape)])


CASES = list(product(SHAPES, range(len(NAMES))))


@pytest.fixture(params=CASES, ids=[f"{shape} {bases_over(shape, first).name}" for shape, first in CASES])
def basis(request: pytest.FixtureRequest) -> Separable:
    return bases_over(*request.param)


def random(length: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(length).normal(size=length)


def kron(basis: Separable) -> npt.NDArray[np.floating]:
    matrix: npt.NDArray[np.floating] = np.ones((1, 1))
    for one in basis.bases:
        matrix = np.kron(matrix, one.materialize())
    return matrix


def test_it_is_the_kronecker_product(basis: Separable) -> None:
    matrix = kron(basis)
    assert matrix.shape == (basis.n, basis.size)
    cells, coefficients = random(basis.n), random(basis.size)
    np.testing.assert_allclose(basis.analyze(cells), matrix.T @ cells, atol=1e-12)
    np.testing.assert_allclose(basis.synthesize(coefficients), matrix @ coefficients, atol=1e-12)


def test_orthonormal_on_padded_cells(basis: Separable) -> None:
    analysis = np.stack([basis.analyze(unit) for unit in np.eye(basis.size)], axis=1)
    np.testing.assert_allclose(analysis @ analysis.T, np.eye(basis.size), atol=1e-12)


def test_synthesize_inverts_analyze(basis: Separable) -> None:
    cells = random(basis.n)
    np.testing.assert_allclose(basis.synthesize(basis.analyze(cells)), cells, atol=1e-12)


def test_padded_cells_are_zeros(basis: Separable) -> None:
    cells = random(basis.n)
    padded = np.zeros(basis.padded_shape)
    padded[tuple(slice(length) for length in basis.shape)] = cells.reshape(basis.shape)
    np.testing.assert_allclose(basis.analyze(cells), basis.analyze(padded.ravel()), atol=1e-12)


def test_row_sum_bound_is_above_and_near_the_largest_row_sum(basis: Separable) -> None:
    largest = np.abs(kron(basis)).sum(axis=1).max()
    assert largest * (1 - 1e-13) <= basis.row_sum_bound <= 1.01 ** len(basis.shape) * largest


def test_input_is_left_alone_and_any_layout_is_taken(basis: Separable) -> None:
    cells = random(2 * basis.n)[::2]
    kept = cells.copy()
    cells.flags.writeable = False
    coefficients = basis.analyze(cells)
    kept_coefficients = coefficients.copy()
    basis.synthesize(coefficients)[:] = 0
    basis.analyze(kept)[:] = 0
    np.testing.assert_array_equal(cells, kept)
    np.testing.assert_array_equal(coefficients, kept_coefficients)


@pytest.mark.parametrize("shape", [(300, 70), (5, 1000, 9), (3, 40_000), (40_000, 3)])
def test_haar_blocks_equal_the_vector_transform_on_every_row(shape: tuple[int, ...]) -> None:
    """Large enough for several tiles and for several blocks of the vector transform."""
    table = np.random.default_rng(3).normal(size=shape)
    basis = Separable([Haar(n) for n in shape])
    expected = table
    for axis, n in enumerate(shape):
        expected = np.apply_along_axis(Haar(n).analyze, axis, expected)
    coefficients = basis.analyze(table.ravel())
    np.testing.assert_allclose(coefficients, expected.ravel(), atol=1e-10)
    np.testing.assert_allclose(basis.synthesize(coefficients), table.ravel(), atol=1e-10)


def test_a_basis_without_a_faster_way_goes_row_by_row() -> None:
    basis = Separable([Haar(3), Flipped(4), Haar(2)])
    cells = random(24)
    flipped = cells.reshape(3, 4, 2)[:, ::-1].ravel()
    np.testing.assert_allclose(basis.analyze(cells), Separable([Haar(3), Identity(4), Haar(2)]).analyze(flipped))
    np.testing.assert_allclose(basis.synthesize(basis.analyze(cells)), cells)


def test_a_domain_has_the_basis_along_its_ordered_axes_only() -> None:
    domain = Domain([Categories("region", list("abc")), Bins("age", [0, 1, 2, 3, 4, 5]), Integers("hour", 0, 23)])
    basis = basis_for(domain, "haar")
    assert isinstance(basis, Separable)
    assert basis.name == "identity × haar × haar"
    assert basis.shape == domain.shape
    assert basis.padded_shape == (3, 8, 32)
    assert isinstance(basis_for(Domain([Integers("hour", 0, 23)]), "haar"), Haar)
    assert isinstance(basis_for(Domain([Categories("region", list("abc"))]), "haar"), Identity)
    with pytest.raises(UnknownName, match="did you mean 'haar'"):
        basis_for(Domain([Categories("region", list("abc"))]), "harr")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.sampled_from(["haar", "cosine"]))
def test_a_constant_table_has_one_coefficient_where_nothing_is_padded(levels: list[int], name: str) -> None:
    basis = basis_for(Domain.of_shape([2**level for level in levels]), name)
    coefficients = basis.analyze(np.ones(basis.n))
    assert coefficients[0] == pytest.approx(np.sqrt(basis.n))
    np.testing.assert_allclose(coefficients[1:], 0, atol=1e-12)


def test_what_cannot_be_a_basis_is_refused() -> None:
    with pytest.raises(InvalidInput, match="bases is empty"):
        Separable([])
    with pytest.raises(InvalidInput, match="something of type str"):
        Separable(["haar"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="bases is over"):
        Separable([Identity(2**16), Identity(2**16)])
    with pytest.raises(InvalidInput, match="signal"):
        bases_over((2, 3)).analyze(np.zeros(5))
    with pytest.raises(InvalidInput, match="coefficients"):
        bases_over((2, 3)).synthesize(np.zeros(7))
