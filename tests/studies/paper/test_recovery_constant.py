"""The constants of recovery."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from studies.paper.experiment import Effort, Found, Outcome, Outcomes, Settings, Verdict
from studies.paper.recovery_constant import EXPERIMENT, claims
from studies.paper.recovery_constant.measuring import (
    aligned_noise,
    clean_problem,
    compressible_vector,
    laplace_noise,
    measure,
    sparse_vector,
    tail_sum,
    with_noise,
)
from studies.paper.running import timed


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, {}))


@pytest.mark.slow
def test_the_experiment_runs_whole(outcomes: Outcomes, tmp_path: Path) -> None:
    pictures = EXPERIMENT.draw(outcomes, tmp_path)
    assert [picture.path.name for picture in pictures] == ["recovery-constant.png", "recovery-constant-decoders.png"]
    assert all(picture.path.stat().st_size > 10_000 for picture in pictures)
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [16, 2, 4]
    for claim in EXPERIMENT.claims:
        assert claim.judge(outcomes).measured


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert measure(outcome.settings) == outcome.found


def test_noise_has_the_length_asked_for() -> None:
    truth = sparse_vector(128, 4, np.random.default_rng(1))
    problem = clean_problem(truth, "hadamard", 48, 4, seed=2)
    for errors in (laplace_noise(problem, 0.5, np.random.default_rng(3)), aligned_noise(problem, truth, 0.5)):
        assert np.linalg.norm(errors) == pytest.approx(0.5)
        noisy = with_noise(problem, errors)
        np.testing.assert_allclose(noisy.observed - problem.observed, errors)
        assert noisy.noise_variance * 48 == pytest.approx(0.25)


def test_aligned_noise_moves_least_squares_as_far_as_any_noise_can() -> None:
    truth = sparse_vector(128, 4, np.random.default_rng(1))
    problem = clean_problem(truth, "bernoulli", 48, 4, seed=2)
    columns = np.stack([problem.forward(unit) for unit in np.eye(128)[np.flatnonzero(truth)]], axis=1)
    errors = aligned_noise(problem, truth, 1.0)
    moved = np.linalg.lstsq(columns, errors, rcond=None)[0]
    assert np.linalg.norm(moved) == pytest.approx(1 / np.linalg.svd(columns, compute_uv=False)[-1])


def test_signals_are_what_they_are_called() -> None:
    sparse = sparse_vector(256, 8, np.random.default_rng(4))
    assert sorted(np.abs(sparse[sparse != 0])) == [1.0] * 8
    assert tail_sum(sparse, 8) == 0
    compressible = compressible_vector(256, 0.5, np.random.default_rng(5))
    np.testing.assert_allclose(np.sort(np.abs(compressible))[::-1], np.arange(1, 257) ** -2.0)
    assert tail_sum(compressible, 10) == pytest.approx(sum(i**-2.0 for i in range(11, 257)))


def _like(outcomes: Outcomes, law: Callable[[Settings, Found], float]) -> Outcomes:
    """Errors of all decoders as a law has them."""
    return Outcomes(
        Outcome(
            one.settings,
            {**one.found, "errors": {name: [law(one.settings, one.found)] * one.settings["runs"] for name in DECODERS}},
            0.0,
        )
        for one in outcomes
    )


DECODERS = ("cosamp", "basis_pursuit", "vamp", "vamp_tree")


def the_bound(settings: Settings, found: Found) -> float:
    if settings["part"] == "tail":
        return float(0.5 * settings["sparsity"] ** (0.5 - 1 / settings["power"]))
    return float(0.5 * found["noises"][0])


def at_a_standstill(settings: Settings, found: Found) -> float:
    """An exact 1 would have no interval."""
    return 1.0 + 0.01 * the_bound(settings, found)


@pytest.mark.slow
def test_what_obeys_the_bound_holds(outcomes: Outcomes) -> None:
    good = _like(outcomes, the_bound)
    for judge in (
        claims.judge_bound,
        claims.judge_same_bound,
        claims.judge_reconstruction,
        claims.judge_compressible_tail,
        claims.judge_corollary,
    ):
        assert judge(good).verdict is Verdict.HOLDS
    assert claims.judge_convex(good).verdict is Verdict.HOLDS_ONLY


@pytest.mark.slow
def test_what_does_not_is_noticed(outcomes: Outcomes) -> None:
    stuck = _like(outcomes, at_a_standstill)
    for judge in (claims.judge_bound, claims.judge_same_bound, claims.judge_reconstruction, claims.judge_corollary):
        assert judge(stuck).verdict is Verdict.DOES_NOT_HOLD
    large = _like(outcomes, lambda settings, found: 50 * the_bound(settings, found))
    for judge in (claims.judge_bound, claims.judge_same_bound, claims.judge_convex):
        assert judge(large).verdict is Verdict.DOES_NOT_HOLD
    heavy = Outcomes(Outcome(one.settings, {**one.found, "tails": [9.0]}, 0.0) for one in outcomes.where(part="tail"))
    assert claims.judge_compressible_tail(heavy).verdict is Verdict.DOES_NOT_HOLD


@pytest.mark.slow
def test_what_scatters_decides_nothing(outcomes: Outcomes) -> None:
    places = {id(one): place for place, one in enumerate(outcomes)}

    def scattered(one: Outcome) -> dict[str, list[float]]:
        error = the_bound(one.settings, one.found) * 3 ** (places[id(one)] % 2)
        return {name: [error] * one.settings["runs"] for name in DECODERS}

    noisy = Outcomes(Outcome(one.settings, {**one.found, "errors": scattered(one)}, 0.0) for one in outcomes)
    for judge in (claims.judge_bound, claims.judge_same_bound, claims.judge_corollary):
        assert judge(noisy).verdict is Verdict.UNDECIDED
    assert "not clear that both errors are linear" in claims.judge_same_bound(noisy).measured


@pytest.mark.slow
def test_words_follow_the_verdict(outcomes: Outcomes) -> None:
    good, stuck = _like(outcomes, the_bound), _like(outcomes, at_a_standstill)
    for judge in (claims.judge_same_bound, claims.judge_corollary):
        assert "both errors are linear" in judge(good).measured
        assert "not both errors are linear" in judge(stuck).measured
