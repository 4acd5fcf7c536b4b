"""The noise's norm and its bounds."""

from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate

from studies.paper.experiment import Effort, Outcome, Outcomes, Verdict
from studies.paper.noise_norm import EXPERIMENT, claims
from studies.paper.noise_norm.measuring import (
    CORRECTED,
    PAPER,
    SumOfSquares,
    bound,
    log_moment_integral,
    measure,
    most_by_moments,
    worst_on_integers,
)
from studies.paper.running import timed


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, {}))


@pytest.mark.slow
def test_the_experiment_runs_whole(outcomes: Outcomes, tmp_path: Path) -> None:
    (picture,) = EXPERIMENT.draw(outcomes, tmp_path)
    assert picture.path.stat().st_size > 10_000
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [2, 2]
    for claim in EXPERIMENT.claims:
        assert claim.judge(outcomes).measured


def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert measure(outcome.settings) == outcome.found


@pytest.mark.parametrize("level", [0.5, 3.0, 19.7, 60.0])
def test_one_row_has_the_known_tail(level: float) -> None:
    low, high = SumOfSquares(1, 200.0, 2**16).exceedance(level)
    assert low <= exp(-sqrt(level)) <= high
    assert high - low < 0.003


@pytest.mark.parametrize("level", [1.0, 8.0, 25.0])
def test_two_rows_have_the_tail_that_an_integral_gives(level: float) -> None:
    """P(X₁² + X₂² > t) = e^(−√t) + ∫₀^√t e^(−s)·e^(−√(t − s²)) ds."""
    inner, _ = integrate.quad(lambda s: exp(-s - sqrt(max(level - s * s, 0.0))), 0, sqrt(level))
    low, high = SumOfSquares(2, 200.0, 2**16).exceedance(level)
    assert low <= exp(-sqrt(level)) + inner <= high
    assert high - low < 0.01


def test_many_rows_have_the_tail_of_draws() -> None:
    squares = np.sum(np.random.default_rng(1).laplace(size=(20_000, 24)) ** 2, axis=1)
    law = SumOfSquares(24, 400.0, 2**15)
    for level in (40.0, 60.0, 90.0):
        low, high = law.exceedance(level)
        share = float(np.mean(squares > level))
        assert low - 0.012 < share < high + 0.012
    for delta in (0.5, 0.1):
        low, high = law.quantile(delta)
        assert low - 2.0 < np.quantile(squares, 1 - delta) < high + 2.0


def test_noise_on_integers_by_enumeration() -> None:
    """One row: P(|X| ≥ m) = 2qᵐ/(1 + q), and the bound passes m² at δ = 2/(m²/2s² − 1)²."""
    scale = 0.22
    q = exp(-1 / scale)
    ratio, delta = worst_on_integers(1, scale, 1e-3)
    assert delta == pytest.approx(2 / (1 / (2 * scale**2) - 1) ** 2)
    assert ratio == pytest.approx(2 * q / (1 + q) / delta)


def test_chebyshev_gives_the_corrected_bound_and_not_the_papers() -> None:
    for k, delta in ((1, 0.3), (100, 0.01)):
        deviation = bound(k, delta, CORRECTED) - 2 * k
        assert 20 * k / deviation**2 == pytest.approx(delta)
    assert most_by_moments(0.1, CORRECTED) < 0.1 < most_by_moments(0.1, PAPER)


def test_a_law_of_two_values_reaches_what_moments_allow() -> None:
    """Cantelli's law: mean 2k, variance 20k, and this much probability on the paper's bound."""
    k, delta = 10, 0.1
    p, top = most_by_moments(delta, PAPER), bound(k, delta, PAPER)
    bottom = (2 * k - p * top) / (1 - p)
    assert bottom > 0
    assert p * top**2 + (1 - p) * bottom**2 - (2 * k) ** 2 == pytest.approx(20 * k)


def test_the_moment_integral() -> None:
    assert log_moment_integral(0.0, 60.0) == pytest.approx(0.0, abs=1e-6)
    assert log_moment_integral(0.1, 200.0) > 3000


def test_the_worst_is_the_largest_upper_bound() -> None:
    found = {"deltas": [0.1, 0.2], "paper": [[0.03, 0.04], [0.02, 0.1]]}
    assert claims.worst(found, "paper") == pytest.approx((0.1, 0.5, 0.2))


def _with(outcomes: Outcomes, part: str, **found: Any) -> Outcomes:
    return Outcomes(
        Outcome(one.settings, {**one.found, **found} if one.settings["part"] == part else one.found, 0.0)
        for one in outcomes
    )


def test_judges_can_fail(outcomes: Outcomes) -> None:
    assert claims.judge_chebyshev(outcomes).verdict is Verdict.HOLDS_ONLY
    assert claims.judge_chebyshev(_with(outcomes, "integers", ratio=1.2)).verdict is Verdict.DOES_NOT_HOLD
    exceeded = _with(outcomes, "exact", paper=[[0.9, 0.9]] * 9)
    assert claims.judge_chebyshev(exceeded).verdict is Verdict.DOES_NOT_HOLD
    narrow = _with(outcomes, "draws", variances=[7.0, 7.1])
    assert claims.judge_chebyshev(narrow).verdict is Verdict.HOLDS
    assert claims.judge_chebyshev(_with(narrow, "integers", ratio=1.2)).verdict is Verdict.DOES_NOT_HOLD
    assert claims.judge_moments(outcomes).verdict is Verdict.HOLDS
    assert claims.judge_moments(_with(outcomes, "draws", variances=[10.0, 10.1])).verdict is Verdict.DOES_NOT_HOLD
    assert claims.judge_chernoff(outcomes).verdict is Verdict.HOLDS
    assert claims.judge_chernoff(_with(outcomes, "moments", logs=[[0.0] * 3] * 4)).verdict is Verdict.DOES_NOT_HOLD
    assert claims.judge_order(outcomes).verdict is Verdict.HOLDS
    large = _with(outcomes, "exact", quantiles=[[900.0, 1000.0]] * 9)
    assert claims.judge_order(large).verdict is Verdict.DOES_NOT_HOLD
    assert claims.judge_noise_of_rows(outcomes).verdict is Verdict.HOLDS
    growing = Outcomes(
        Outcome(one.settings, {**one.found, "quantiles": [9.0 * one.settings["rows"] ** 3] * 6}, 0.0)
        for one in outcomes.where(part="draws")
    )
    assert claims.judge_noise_of_rows(growing).verdict is Verdict.DOES_NOT_HOLD
