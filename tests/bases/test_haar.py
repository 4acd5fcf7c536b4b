"""The fast Haar transform against a plain recursion, and its coefficient order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.arrays import Floats
from sparsedp.bases.haar import Haar


def plain_haar(cells: Floats) -> Floats:
    """Heap order: [total, coarsest detail, …, finest details], by the definition of one level, repeated."""
    if len(cells) == 1:
        return cells
    left, right = cells[0::2], cells[1::2]
    return np.concatenate([plain_haar((left + right) / np.sqrt(2)), (left - right) / np.sqrt(2)])


@pytest.mark.parametrize("n", [1, 2, 3, 8, 1025, 4097, 2**13, 2**13 + 1, 2**15, 2**16 - 3, 2**17])
def test_equals_a_plain_recursion(n: int) -> None:
    basis = Haar(n)
    cells = np.random.default_rng(n).normal(size=n)
    padded = np.concatenate([cells, np.zeros(basis.size - n)])
    coefficients = basis.analyze(cells)
    np.testing.assert_allclose(coefficients, plain_haar(padded), atol=1e-11)
    np.testing.assert_allclose(basis.synthesize(coefficients), cells, atol=1e-11)


@given(st.integers(1, 300), st.data())
def test_children_are_within_their_parent(n: int, data: st.DataObject) -> None:
    basis = Haar(n)
    index = data.draw(st.integers(0, basis.size - 1))
    matrix = np.abs(basis.synthesize(np.eye(basis.size)[index])) > 0
    parent = np.abs(basis.synthesize(np.eye(basis.size)[index // 2])) > 0
    assert (parent >= matrix).all()


def test_details_are_left_minus_right() -> None:
    np.testing.assert_allclose(Haar(4).analyze(np.array([4.0, 0, 0, 0])), [2, 2, np.sqrt(8), 0])


def test_row_sum_bound_is_rational_and_tight() -> None:
    assert Haar(1).row_sum_bound == 1
    assert Fraction(0) < Haar(2).row_sum_bound ** 2 - 2 < Fraction(1, 10**30)
    assert Haar(2**31).row_sum_bound < Fraction(24143, 10000)
