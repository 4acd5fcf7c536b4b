from dataclasses import replace

import numpy as np
import pytest
from sparse_problems import materialized, sense, sparse_in

from sparsedp.decoders.problem import description_length, explained, residual_bound, residual_power


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


def test_fitting_noise_takes_longer_to_describe_than_nothing_does() -> None:
    """Least squares on the columns that look best in pure noise explains a lot, and is still not worth its words."""
    problem = sense(np.zeros(512), "identity", "hadamard", 100, 5, 0.0, 0)
    noise = np.random.default_rng(1).laplace(size=100)
    problem = replace(problem, observed=noise, noise_variance=2.0, noise_fourth_moment=24.0)
    matrix = materialized(problem)
    best = np.argsort(-np.abs(matrix.T @ noise))[:5]
    fitted = np.zeros(problem.size)
    fitted[best] = np.linalg.lstsq(matrix[:, best], noise, rcond=None)[0]
    nothing = np.zeros(problem.size)
    powers = [residual_power(problem, estimate) for estimate in (fitted, nothing)]
    assert powers[0] < 0.8 * powers[1]
    assert description_length(problem, fitted, powers[0]) > description_length(problem, nothing, powers[1])


def test_a_true_signal_is_shorter_to_describe_than_nothing() -> None:
    signal = sparse_in("identity", 512, 5, 0)
    problem = sense(signal, "identity", "hadamard", 100, 5, 0.2, 0)
    lengths = [
        description_length(problem, estimate, residual_power(problem, estimate))
        for estimate in (problem.basis.analyze(signal), np.zeros(problem.size), np.full(problem.size, np.nan))
    ]
    assert lengths[0] < lengths[1] < lengths[2] == np.inf
