import numpy as np
import pytest
from sparse_problems import materialized, sense, sparse_in

from sparsedp.recovery.explanation import explained, residual_bound, residual_power, standing_out


def test_residual_bound_is_the_mean_and_z_deviations() -> None:
    generator = np.random.default_rng(0)
    powers = (generator.laplace(size=(4000, 300)) ** 2).sum(axis=1)
    assert residual_bound(300, 2.0, 24.0, 0.0) ** 2 == pytest.approx(powers.mean(), rel=0.01)
    above = residual_bound(300, 2.0, 24.0, 2.0) ** 2 - residual_bound(300, 2.0, 24.0, 0.0) ** 2
    assert above == pytest.approx(2 * powers.std(), rel=0.05)


def test_the_power_left_is_that_of_the_matrix() -> None:
    problem = sense(sparse_in("cosine", 40, 3, 0), "cosine", "bernoulli", 12, 3, 0.5, 0)
    estimate = np.random.default_rng(0).normal(size=problem.size)
    left = problem.observed - materialized(problem) @ estimate
    assert residual_power(problem, estimate) == pytest.approx(left @ left)
    assert residual_power(problem, np.full(problem.size, np.nan)) == np.inf


@pytest.mark.parametrize("rows", [1, 9, 100])
def test_the_noise_itself_is_explained_and_ten_times_it_is_not(rows: int) -> None:
    problem = sense(np.ones(128), "identity", "hadamard", rows, 1, 1.0, 0)
    deviation = np.sqrt(problem.noise_variance / 2)
    powers = (np.random.default_rng(0).laplace(size=(2000, rows)) ** 2).sum(axis=1) * deviation**2
    assert np.mean([explained(problem, float(power)) for power in powers]) > 0.985
    assert not explained(problem, 30 * rows * problem.noise_variance)


def test_without_noise_only_rounding_is_explained() -> None:
    problem = sense(np.ones(128), "identity", "hadamard", 20, 1, 0.0, 0)
    signal = float(problem.observed @ problem.observed)
    assert explained(problem, 1e-14 * signal)
    assert not explained(problem, 1e-10 * signal)


def test_coefficients_stand_out_of_the_noise() -> None:
    problem = sense(np.ones(128), "identity", "hadamard", 20, 1, 1.0, 0)
    estimate = np.zeros(problem.size)
    estimate[:3] = np.array([0.5, 2.0, -3.0]) * np.sqrt(problem.noise_variance)
    assert standing_out(problem, estimate) == 2
