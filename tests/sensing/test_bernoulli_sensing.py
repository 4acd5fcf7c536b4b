"""Bernoulli sensing: fair signs, and the same matrix however much of it is kept."""

import numpy as np
import pytest

from sparsedp.errors import InvalidInput
from sparsedp.sensing import bernoulli
from sparsedp.sensing.bernoulli import Bernoulli


def test_entries_are_fair_and_independent() -> None:
    matrix = Bernoulli(3000, rows=400, seed=1).materialize()
    assert abs(matrix.mean()) < 5 / np.sqrt(matrix.size)
    correlations = matrix @ matrix.T / 3000 - np.eye(400)
    assert np.abs(correlations).max() < 6 / np.sqrt(3000)
    assert correlations.std() == pytest.approx(1 / np.sqrt(3000), rel=0.05)


@pytest.mark.parametrize("rows", [1, 3, 16, 70])
def test_a_matrix_drawn_in_parts_is_the_same(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 1500
    counts = np.random.default_rng(rows).integers(-(2**63), 2**63 - 1, size=n)
    values = np.random.default_rng(rows).normal(size=rows)
    kept = Bernoulli(n, rows=rows, seed=9)
    measured, cells = kept.apply(counts), kept.adjoint(values)
    monkeypatch.setattr(bernoulli, "KEPT_BYTES", 0)
    monkeypatch.setattr(bernoulli, "PART_BYTES", 16)
    drawn = Bernoulli(n, rows=rows, seed=9)
    assert len(list(drawn._parts())) > 5
    np.testing.assert_array_equal(drawn.apply(counts), measured)
    np.testing.assert_array_equal(drawn.adjoint(values), cells)


@pytest.mark.parametrize("rows", [1, 3, 7, 16, 65, 640])
def test_columns_are_those_of_the_matrix(rows: int) -> None:
    """Also of more rows than cells: the prefix of a stream may be shorter than its counters are many."""
    matrix = Bernoulli(100, rows=rows, seed=4).materialize()
    for first, stop in [(0, 100), (0, 1), (99, 100), (7, 9), (8, 16), (13, 77)]:
        columns = Bernoulli(stop, rows=rows, seed=4).columns(first, stop)
        np.testing.assert_array_equal(columns, matrix.T[first:stop])


def test_no_rows_are_refused() -> None:
    with pytest.raises(InvalidInput, match="rows"):
        Bernoulli(100, rows=0, seed=0)
