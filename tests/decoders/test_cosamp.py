import numpy as np
import pytest
from sparse_problems import relative_error, sense, sparse_in

from sparsedp.decoders.cosamp import cosamp
from sparsedp.solution import Status


@pytest.mark.parametrize("sensing", ["hadamard", "bernoulli"])
@pytest.mark.parametrize(
    ("basis", "n"), [("haar", 1024), ("haar", 700), ("cosine", 1000), ("identity", 1000), ("db4", 1024)]
)
def test_exact_without_noise_above_the_phase_transition(sensing: str, basis: str, n: int) -> None:
    for seed in range(3):
        signal = sparse_in(basis, n, 10, seed)
        problem = sense(signal, basis, sensing, 160, 10, 0.0, seed)
        solution = cosamp(problem)
        assert solution.status is Status.CONVERGED
        assert relative_error(problem, solution.value, signal) < 1e-8


def test_far_below_the_phase_transition_it_does_not_claim_to_converge() -> None:
    problem = sense(sparse_in("haar", 1024, 60, 0), "haar", "hadamard", 80, 20, 0.0, 0)
    assert cosamp(problem).status is Status.STAGNATED


def test_noise_is_fitted_as_least_squares_on_the_true_support_would() -> None:
    signal = sparse_in("haar", 1024, 10, 4)
    problem = sense(signal, "haar", "hadamard", 200, 10, 0.05, 4)
    solution = cosamp(problem)
    truth = problem.basis.analyze(signal)
    support = np.flatnonzero(np.abs(truth) > 1e-9)
    columns = np.stack([problem.forward(np.eye(problem.size)[place]) for place in support], axis=1)
    oracle = np.zeros(problem.size)
    oracle[support] = np.linalg.lstsq(columns, problem.observed, rcond=None)[0]
    np.testing.assert_allclose(solution.value, oracle, atol=1e-7)


def test_at_most_the_planned_sparsity() -> None:
    problem = sense(sparse_in("haar", 256, 30, 0), "haar", "hadamard", 100, 7, 0.3, 0)
    assert np.count_nonzero(cosamp(problem).value) <= 7


def test_nothing_observed_is_nothing() -> None:
    problem = sense(np.zeros(64), "haar", "hadamard", 20, 3, 0.0, 0)
    solution = cosamp(problem)
    assert solution.status is Status.CONVERGED
    assert not solution.value.any()
