import sys

import numpy as np
import pytest
from sparse_problems import Floats, relative_error, sense, sparse_in, steps

from sparsedp.decoders.problem import SparseProblem
from sparsedp.decoders.registry import DECODERS
from sparsedp.decoders.vamp import MOST_ROUNDS, decode_or_fall_back, pass_messages, vamp, vamp_tree
from sparsedp.errors import InvalidInput
from sparsedp.solution import Solution, Status

module = sys.modules["sparsedp.decoders.vamp"]


@pytest.mark.parametrize("decoder", [vamp, vamp_tree])
@pytest.mark.parametrize("sensing", ["hadamard", "bernoulli"])
@pytest.mark.parametrize("n", [2048, 1500])
def test_exact_without_noise(decoder: object, sensing: str, n: int) -> None:
    assert callable(decoder)
    signal = steps(n, 3, 1)
    problem = sense(signal, "haar", sensing, 400, 30, 0.0, 1)
    solution = decoder(problem)
    assert solution.status is Status.CONVERGED
    assert relative_error(problem, solution.value, signal) < 1e-6


@pytest.mark.parametrize(
    ("sensing", "basis", "n"), [("bernoulli", "cosine", 1500), ("hadamard", "cosine", 1500), ("hadamard", "db4", 1500)]
)
def test_other_bases_and_rows_that_are_not_orthogonal(sensing: str, basis: str, n: int) -> None:
    for seed in range(3):
        signal = sparse_in(basis, n, 15, seed)
        problem = sense(signal, basis, sensing, 300, 15, 0.1, seed)
        assert not problem.row_orthogonal
        solution = vamp(problem)
        assert solution.status is Status.CONVERGED
        assert relative_error(problem, solution.value, signal) < 0.06


def test_strong_noise_ranks_the_decoders() -> None:
    errors = dict.fromkeys(DECODERS, 0.0)
    for seed in range(5):
        signal = steps(2**16, 5, seed)
        problem = sense(signal, "haar", "hadamard", 2560, 64, 1.0, seed)
        for name, decoder in DECODERS.items():
            errors[name] += relative_error(problem, decoder(problem).value, signal) / 5
    assert errors["vamp_tree"] < 0.8 * errors["vamp"]
    assert errors["vamp"] < 0.95 * errors["basis_pursuit"]
    assert errors["basis_pursuit"] < 0.8 * errors["cosamp"]


class Wild:
    """A prior that blows the estimate up."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def denoise(self, looks: Floats, variance: float) -> tuple[Floats, float]:
        return self.factor * looks, 0.5


@pytest.mark.parametrize("factor", [1e3, np.nan, np.inf])
@pytest.mark.parametrize(("noise", "error"), [(0.05, 0.15), (1.0, 0.8)])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_divergence_falls_back_and_says_so(factor: float, noise: float, error: float) -> None:
    signal = sparse_in("haar", 256, 5, 0)
    problem = sense(signal, "haar", "hadamard", 100, 20 if noise == 1.0 else 5, noise, 0)
    solution = decode_or_fall_back(problem, lambda _: Wild(factor))
    assert solution.status is Status.FELL_BACK
    assert solution.stats["fallback"] in ("cosamp", "basis_pursuit")
    assert relative_error(problem, solution.value, signal) < error


def test_the_last_resort_is_cosamp(monkeypatch: pytest.MonkeyPatch) -> None:
    signal = sparse_in("haar", 256, 5, 0)
    problem = sense(signal, "haar", "hadamard", 100, 4, 0.01, 0)

    def broken(problem: SparseProblem) -> Solution:
        return Solution(np.full(problem.size, np.nan), Status.CONVERGED)

    monkeypatch.setattr(module, "basis_pursuit", broken)
    solution = decode_or_fall_back(problem, lambda _: Wild(1e3))
    assert solution.status is Status.FELL_BACK
    assert solution.stats["fallback"] == "cosamp"
    assert relative_error(problem, solution.value, signal) < 0.6


class Creeping:
    """A prior under which every round moves on a little."""

    def __init__(self) -> None:
        self.round = 0

    def denoise(self, looks: Floats, variance: float) -> tuple[Floats, float]:
        self.round += 1
        return np.full(len(looks), 1e-3 * self.round), 1e-9


def test_the_round_limit_is_reported() -> None:
    problem = sense(sparse_in("haar", 256, 5, 0), "haar", "hadamard", 100, 5, 0.5, 0)
    estimate, trace = pass_messages(problem, Creeping())
    assert trace.ending == "limit"
    assert trace.rounds == MOST_ROUNDS
    assert np.isfinite(estimate).all()


def test_tree_needs_haar() -> None:
    problem = sense(sparse_in("cosine", 256, 5, 0), "cosine", "hadamard", 100, 5, 0.5, 0)
    with pytest.raises(InvalidInput, match="choose 'vamp'"):
        vamp_tree(problem)


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_smallest_problems_give_finite_answers(name: str, n: int) -> None:
    for seed in range(4):
        problem = sense(np.arange(1.0, n + 1), "haar", "hadamard", max(1, n - 1), 1, 0.5, seed)
        solution = DECODERS[name](problem)
        assert solution.value.shape == (problem.size,)
        assert np.isfinite(solution.value).all()
