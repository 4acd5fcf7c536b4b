import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sparse_problems import Floats, materialized, relative_error, sense, sparse_in, steps

from sparsedp.recovery import SparseProblem, Status
from sparsedp.recovery.basis_pursuit import DEVIATIONS, EXIT_FLAGS, basis_pursuit, promising_columns
from sparsedp.recovery.explanation import residual_bound

module = sys.modules["sparsedp.recovery.basis_pursuit"]


def bound_of(problem: SparseProblem) -> float:
    return residual_bound(len(problem.observed), problem.noise_variance, problem.noise_fourth_moment, DEVIATIONS)


def assert_optimal(problem: SparseProblem, value: Floats, tolerance: float) -> None:
    """Feasible, and Aᵀr is a multiple of a subgradient of ‖x‖₁: together they prove the optimum."""
    residual = problem.observed - problem.forward(value)
    assert np.linalg.norm(residual) == pytest.approx(bound_of(problem), rel=tolerance)
    correlation = problem.adjoint(residual)
    multiplier = np.abs(correlation).max()
    support = value != 0
    np.testing.assert_allclose(correlation[support], multiplier * np.sign(value[support]), rtol=tolerance)


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
def test_optimality_conditions_on_a_working_set_of_columns(noise: float) -> None:
    problem = sense(steps(4096, 6, 3), "haar", "hadamard", 600, 40, noise, 3)
    solution = basis_pursuit(problem)
    assert solution.stats["columns"] < problem.size
    assert solution.stats["polished"]
    assert_optimal(problem, solution.value, 1e-5)


def test_columns_that_the_guess_missed_are_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sense(steps(2048, 5, 3), "haar", "hadamard", 300, 40, 0.1, 3)

    def worst(problem: SparseProblem, count: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        return np.arange(problem.size - count, problem.size)

    monkeypatch.setattr(module, "promising_columns", worst)
    solution = basis_pursuit(problem)
    outside = np.flatnonzero(solution.value[: problem.size - len(problem.observed)])
    assert len(outside) > 0
    assert solution.stats["columns"] > len(problem.observed)
    assert_optimal(problem, solution.value, 1e-5 if solution.stats["polished"] else 2e-2)


def test_the_guess_contains_the_support() -> None:
    problem = sense(steps(4096, 6, 3), "haar", "hadamard", 600, 40, 0.1, 3)
    support = np.flatnonzero(basis_pursuit(problem).value)
    assert np.isin(support, promising_columns(problem, 600)).mean() > 0.95


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


def test_every_exit_of_the_solver_has_a_status() -> None:
    import spgl1.spgl1

    flags = {
        value
        for name, value in vars(sys.modules["spgl1.spgl1"]).items()
        if name.startswith("EXIT_") and "spgline" not in name
    }
    assert flags == set(EXIT_FLAGS)
    assert spgl1


def test_the_iteration_limit_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sense(sparse_in("haar", 256, 20, 0), "haar", "hadamard", 60, 20, 0.05, 0)
    no_polish: Callable[..., None] = lambda *_: None  # noqa: E731
    monkeypatch.setattr(module, "MOST_ITERATIONS", 2)
    monkeypatch.setattr(module, "polish", no_polish)
    assert basis_pursuit(problem).status is Status.ITERATION_LIMIT
