"""Integer Haar sensing of tables: the Kronecker product, its sensitivity, its inverse, and what it refuses."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.estimation.inverses import inverse_haar
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.sensing.integer_haar import IntegerHaarTable

SHAPES = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=4)


@given(SHAPES, st.integers(0, 2**32))
def test_it_is_the_kronecker_product_and_invertible(axes: list[tuple[int, bool]], seed: int) -> None:
    sensing = IntegerHaarTable([length for length, _ in axes], [ordered for _, ordered in axes])
    counts = np.random.default_rng(seed).integers(-(10**9), 10**9, sensing.n)
    matrix = sensing.materialize()
    measured = sensing.apply(counts)
    np.testing.assert_array_equal(measured, matrix @ counts)
    values = np.random.default_rng(seed).normal(size=sensing.rows)
    np.testing.assert_allclose(sensing.adjoint(values), matrix.T @ values, atol=1e-9)
    assert (np.abs(matrix).sum(axis=0) == sensing.max_column_l1).all()
    recovered = inverse_haar(sensing, measured, DiscreteLaplaceLaw(Fraction(1))).value
    np.testing.assert_allclose(recovered, counts, rtol=1e-12, atol=1e-3)


@pytest.mark.parametrize(
    ("shape", "ordered", "argument"),
    [
        ([], [], "ordered"),
        ([2, 3], [True], "ordered"),
        ([2], [1], "ordered"),
        ([0], [True], "shape"),
        ([2.5], [True], "shape"),
        ("ab", [True], "shape"),
        (3, [True], "shape"),
        ([2**16, 2**16], [True, True], "shape"),
        ([3] * 20, [True] * 20, "shape"),
    ],
)
def test_impossible_tables_are_refused(shape: Any, ordered: Any, argument: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{argument} is"):
        IntegerHaarTable(shape, ordered)
