import numpy as np
import pytest
from sparse_problems import materialized, sense, sparse_in

CASES = [
    (sensing, basis, n)
    for sensing in ("hadamard", "bernoulli")
    for basis in ("haar", "cosine", "db4")
    for n in (64, 45, 7)
]


@pytest.mark.parametrize(("sensing", "basis", "n"), CASES)
def test_adjoint_is_the_transpose(sensing: str, basis: str, n: int) -> None:
    problem = sense(sparse_in(basis, n, 2, 0), basis, sensing, min(n, 20), 2, 0.1, 0)
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=problem.size), generator.normal(size=len(problem.observed))
    assert problem.forward(x) @ y == pytest.approx(x @ problem.adjoint(y), rel=1e-12)


@pytest.mark.parametrize(("sensing", "basis", "n"), CASES)
def test_the_true_coefficients_explain_the_clean_observations(sensing: str, basis: str, n: int) -> None:
    signal = sparse_in(basis, n, 2, 0)
    problem = sense(signal, basis, sensing, min(n, 20), 2, 0.0, 0)
    np.testing.assert_allclose(problem.forward(problem.basis.analyze(signal)), problem.observed, atol=1e-12)


@pytest.mark.parametrize(("sensing", "basis", "n"), CASES)
def test_row_orthogonal_means_what_it_says(sensing: str, basis: str, n: int) -> None:
    problem = sense(sparse_in(basis, n, 2, 0), basis, sensing, min(n, 20), 2, 0.1, 0)
    matrix = materialized(problem)
    rows = len(matrix)
    exact = np.allclose(matrix @ matrix.T, problem.size / rows * np.eye(rows), atol=1e-12)
    assert problem.row_orthogonal == (sensing == "hadamard" and n & (n - 1) == 0)
    assert exact or not problem.row_orthogonal


@pytest.mark.parametrize("n", [1, 2, 3, 5, 64, 100, 3000])
def test_products_that_reuse_memory_equal_plain_ones(n: int) -> None:
    problem = sense(sparse_in("haar", n, 1, 0), "haar", "hadamard", max(1, n // 2), 1, 0.1, 0)
    generator = np.random.default_rng(n)
    scale = np.sqrt(problem.sensing.rows)
    for _ in range(2):
        coefficients, values = generator.normal(size=problem.size), generator.normal(size=problem.sensing.rows)
        plain = problem.sensing.forward(problem.basis.synthesize(coefficients)) / scale
        np.testing.assert_allclose(problem.forward(coefficients), plain, rtol=1e-12, atol=1e-12)
        plain = problem.basis.analyze(problem.sensing.adjoint(values / scale))
        np.testing.assert_allclose(problem.adjoint(values), plain, rtol=1e-12, atol=1e-12)
