from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sparse_problems import Floats, materialized, relative_error, sense, sparse_in, steps

from sparsedp.bases.base import Identity
from sparsedp.decoders.basis_pursuit import DEVIATIONS, basis_pursuit
from sparsedp.decoders.problem import SparseProblem, residual_bound
from sparsedp.sensing.tree import Tree
from sparsedp.solution import Status


def bound_of(problem: SparseProblem) -> float:
    return residual_bound(len(problem.observed), problem.noise_variance, problem.noise_fourth_moment, DEVIATIONS)


def gap_of(problem: SparseProblem, value: Floats) -> float:
    """How far ‖x‖₁ is at most above the least that is possible: z = r/‖Aᵀr‖∞ bounds it from below."""
    residual = problem.observed - problem.forward(value)
    below = problem.observed @ residual - bound_of(problem) * np.linalg.norm(residual)
    size = np.abs(value).sum()
    return float((size - below / np.abs(problem.adjoint(residual)).max()) / size)


def assert_optimal(problem: SparseProblem, value: Floats, tolerance: float) -> None:
    """Feasible, and no feasible x is smaller: that proves the optimum."""
    residual = problem.observed - problem.forward(value)
    assert np.linalg.norm(residual) == pytest.approx(bound_of(problem), rel=tolerance)
    assert gap_of(problem, value) < tolerance


@pytest.mark.parametrize("noise", [0.05, 0.3, 0.8])
@pytest.mark.parametrize(
    ("sensing", "basis", "n"), [("hadamard", "haar", 128), ("bernoulli", "haar", 100), ("hadamard", "cosine", 90)]
)
def test_agrees_with_an_interior_point_solver(sensing: str, basis: str, n: int, noise: float) -> None:
    cvxpy: Any = import_module("cvxpy")
    problem = sense(sparse_in(basis, n, 5, 1), basis, sensing, 50, 5, noise, 1)
    solution = basis_pursuit(problem)
    x = cvxpy.Variable(problem.size)
    constraint = cvxpy.norm(materialized(problem) @ x - problem.observed, 2) <= bound_of(problem)
    oracle = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(x)), [constraint])
    oracle.solve(solver=cvxpy.CLARABEL)
    assert np.abs(solution.value).sum() == pytest.approx(oracle.value, rel=1e-6)
    np.testing.assert_allclose(solution.value, x.value, atol=1e-4 * np.abs(x.value).max())


@pytest.mark.parametrize("noise", [0.01, 0.3, 1.0])
def test_no_smaller_one_is_feasible(noise: float) -> None:
    problem = sense(steps(4096, 6, 3), "haar", "hadamard", 600, 40, noise, 3)
    solution = basis_pursuit(problem)
    assert solution.status is Status.CONVERGED
    assert_optimal(problem, solution.value, 1e-5)
    assert abs(solution.stats["gap"] - gap_of(problem, solution.value)) < 1e-9
    residual = problem.observed - problem.forward(solution.value)
    correlation = problem.adjoint(residual)
    support = solution.value != 0
    expected = np.abs(correlation).max() * np.sign(solution.value[support])
    np.testing.assert_allclose(correlation[support], expected, rtol=1e-2)


def test_the_gap_tells_what_is_not_optimal() -> None:
    problem = sense(steps(512, 6, 3), "haar", "hadamard", 200, 20, 0.1, 3)
    value = basis_pursuit(problem).value
    assert gap_of(problem, value) < 1e-6
    assert gap_of(problem, 1.01 * value) > 1e-3


@pytest.mark.parametrize("rows", [30, 60])
def test_a_solution_that_is_not_sparse(rows: int) -> None:
    """Slow going: as many coefficients as rows, and columns that are hard to tell apart."""
    problem = sense(sparse_in("haar", 256, 20, 0), "haar", "hadamard", rows, 20, 0.05, 0)
    solution = basis_pursuit(problem)
    assert_optimal(problem, solution.value, 1e-5 if solution.status is Status.CONVERGED else 1e-2)


def test_nearer_than_any_gets_to_the_observations() -> None:
    """With more rows than columns nothing comes as near to y as θ: least squares is the best there is."""
    tree = Tree(8)
    problem = SparseProblem(tree, Identity(8), np.sin(np.arange(tree.rows)), 1e-6, 6e-12, 1)
    solution = basis_pursuit(problem)
    assert solution.status is Status.CONVERGED
    best = np.linalg.lstsq(materialized(problem), problem.observed, rcond=None)[0]
    np.testing.assert_allclose(solution.value, best, atol=1e-5)


def test_exact_without_noise() -> None:
    signal = sparse_in("haar", 512, 8, 0)
    problem = sense(signal, "haar", "hadamard", 120, 8, 0.0, 0)
    assert relative_error(problem, basis_pursuit(problem).value, signal) < 1e-3


def test_zero_where_the_noise_explains_everything() -> None:
    problem = sense(sparse_in("haar", 128, 3, 0), "haar", "hadamard", 60, 3, 0.1, 0)
    quiet = SparseProblem(problem.sensing, problem.basis, problem.observed, 1e6, 6e12, 3)
    solution = basis_pursuit(quiet)
    assert solution.status is Status.CONVERGED
    assert not solution.value.any()


def test_the_iteration_limit_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sense(sparse_in("haar", 256, 20, 0), "haar", "hadamard", 60, 20, 0.05, 0)
    monkeypatch.setattr("sparsedp.decoders.basis_pursuit.MOST_ITERATIONS", 2)
    solution = basis_pursuit(problem)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.stats["gap"] > 1e-3
