"""Message passing near and beyond its limits: an accurate answer, or a status that says it is not one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_problems import Floats, relative_error, sense, sparse_in, steps

from sparsedp.bases import basis_from
from sparsedp.decoders._denoisers import BernoulliGaussian, starting_activity, starting_energy
from sparsedp.decoders.problem import DEVIATIONS, SparseProblem, residual_bound, residual_power
from sparsedp.decoders.registry import DECODERS
from sparsedp.decoders.vamp import Held, pass_messages, vamp
from sparsedp.mechanisms.selection.sparsity_choice import constants_for, rows_for
from sparsedp.solution import Status

CLAIMS = (Status.CONVERGED, Status.ITERATION_LIMIT)


def spikes(n: int, count: int, seed: int) -> Floats:
    signal = np.zeros(n)
    signal[np.random.default_rng(seed).choice(n, count, replace=False)] = 1.0
    return signal


def wave(n: int, count: int, seed: int) -> Floats:
    basis = basis_from("cosine", n)
    coefficients = np.zeros(basis.size)
    coefficients[np.random.default_rng(seed).choice(n // 4, count, replace=False)] = 1.0
    return basis.synthesize(coefficients)


def leaves_no_more_than_the_noise(problem: SparseProblem, value: Floats) -> bool:
    bound = residual_bound(
        len(problem.observed), problem.noise_variance, problem.noise_fourth_moment, deviations=DEVIATIONS
    )
    floor = 1e-5 * float(np.linalg.norm(problem.observed))
    return bool(np.sqrt(residual_power(problem, value)) <= 1.5 * max(bound, floor))


@pytest.mark.parametrize(
    ("basis", "count"), [("identity", 1), ("identity", 8), ("cosine", 1), ("cosine", 4), ("db4", 6)]
)
@pytest.mark.parametrize("noise", [1e-5, 1e-2])
def test_the_rows_of_the_default_constants_suffice(basis: str, count: int, noise: float) -> None:
    n = 4096
    rows = rows_for(n, count, constants_for("vamp", basis).rows_constant)
    right = 0
    for seed in range(8):
        makers = {"identity": spikes, "cosine": wave}
        signal = makers[basis](n, count, seed) if basis in makers else sparse_in(basis, n, count, seed)
        problem = sense(signal, basis, "hadamard", rows, count, noise, seed)
        solution = vamp(problem)
        right += relative_error(problem, solution.value, signal) < max(5 * noise, 1e-4)
    assert right >= 7


@pytest.mark.parametrize(
    ("basis", "make", "count"), [("identity", spikes, 8), ("identity", spikes, 1), ("cosine", wave, 1)]
)
def test_with_too_few_rows_nothing_wrong_is_claimed(basis: str, make: object, count: int) -> None:
    assert callable(make)
    n = 1024
    rows = rows_for(n, count, Fraction(3, 4))
    for seed in range(5):
        signal = make(n, count, seed)
        problem = sense(signal, basis, "hadamard", rows, count, 1e-4, seed)
        solution = vamp(problem)
        assert solution.status not in CLAIMS or relative_error(problem, solution.value, signal) < 0.01


def test_held_beliefs_find_what_eager_learning_misses() -> None:
    found = {"eager": 0, "held": 0}
    for seed in range(10):
        signal = spikes(4096, 1, seed)
        problem = sense(signal, "identity", "hadamard", 15, 1, 1e-3, seed)
        for name in found:
            energy = starting_energy(problem.observed, problem.noise_variance, 1)
            prior = BernoulliGaussian(starting_activity(1, problem.size), energy)
            estimate, _ = pass_messages(problem, prior if name == "eager" else Held(prior, 20))
            found[name] += relative_error(problem, estimate, signal) < 0.01
    assert found["held"] >= found["eager"] + 3


def test_a_prior_held_forgets_and_then_learns() -> None:
    prior = BernoulliGaussian(0.2, 1.0)
    held = Held(prior, 2)
    looks = np.array([5.0, 0.1, 0.2])
    for _ in range(2):
        held.denoise(looks, 1.0)
        assert prior.activity == 0.2
    held.denoise(looks, 1.0)
    assert prior.activity != 0.2


def test_nearly_sparse_counts_keep_the_messages_and_say_what_is_left() -> None:
    place = np.arange(4096)
    signal = np.random.default_rng(0).permutation(1.0 / (place + 1.0) ** 1.2)
    problem = sense(signal, "identity", "hadamard", 300, 16, 1e-4, 0)
    solution = vamp(problem)
    assert solution.status is Status.UNEXPLAINED
    error = relative_error(problem, solution.value, signal)
    assert error < 0.12
    for name in ("basis_pursuit", "cosamp"):
        assert error < relative_error(problem, DECODERS[name](problem).value, signal)


def test_strong_noise_is_no_reason_to_fall_back() -> None:
    for seed in range(5):
        problem = sense(steps(4096, 6, seed), "haar", "hadamard", 400, 40, 1.0, seed)
        for name in ("vamp", "vamp_tree"):
            assert DECODERS[name](problem).status in CLAIMS


@given(
    n=st.integers(1, 64),
    share=st.floats(0.05, 1.0),
    sparsity=st.integers(1, 8),
    noise=st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0]),
    kind=st.sampled_from(["spikes", "dense", "steps"]),
    basis=st.sampled_from(["identity", "haar", "cosine", "db4"]),
    sensing=st.sampled_from(["hadamard", "bernoulli"]),
    tree=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(max_examples=150)
def test_converged_never_leaves_what_the_noise_cannot(
    n: int, share: float, sparsity: int, noise: float, kind: str, basis: str, sensing: str, tree: bool, seed: int
) -> None:
    sparsity = min(sparsity, n)
    if kind == "spikes":
        signal = 1e5 * spikes(n, sparsity, seed)
    elif kind == "steps":
        signal = 1e3 * steps(n, min(sparsity, n - 1), seed)
    else:
        signal = np.random.default_rng(seed).integers(0, 1000, n).astype(np.float64)
    problem = sense(signal, "haar" if tree else basis, sensing, max(1, round(share * n)), sparsity, noise, seed)
    solution = DECODERS["vamp_tree" if tree else "vamp"](problem)
    assert np.isfinite(solution.value).all()
    if solution.status in CLAIMS:
        assert leaves_no_more_than_the_noise(problem, solution.value)


@pytest.mark.parametrize("name", ["vamp", "vamp_tree"])
@pytest.mark.parametrize("sensing", ["hadamard", "bernoulli"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_counts_come_back_within_the_noise(name: str, sensing: str, n: int) -> None:
    signal = np.array([900.0, 400.0, 1300.0])[:n]
    checked = 0
    for seed in range(20):
        problem = sense(signal, "haar", sensing, n, n, 1e-4, seed)
        cells = np.stack([problem.sensing.forward(unit) for unit in np.eye(n)], axis=1)
        # Random signs may repeat a row; then no decoder can tell the cells apart.
        if np.linalg.matrix_rank(cells) < n:
            continue
        checked += 1
        solution = DECODERS[name](problem)
        assert relative_error(problem, solution.value, signal) < 2e-3
    assert checked >= 5
