"""CMCO against the continual mechanism: a small version of the experiment, its judges and its oracles."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.source import NoiselessSource
from studies.paper.continual import EXPERIMENT
from studies.paper.continual.claims import (
    Panel,
    expect,
    judge_cmco_privacy,
    judge_counter_privacy,
    judge_effectiveness,
    judge_one_counter,
    judge_proof,
    judge_utility,
    shown,
)
from studies.paper.continual.measuring import begin, begin_cmco, errors_at, least_loss, log_ratio, measure, moments_of
from studies.paper.experiment import Effort, Outcome, Outcomes, Verdict
from studies.paper.running import timed

STAND_INS = dict.fromkeys(("social_network", "search_logs", "nettrace"), "stand-in")


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, STAND_INS))


@pytest.mark.slow
def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    assert EXPERIMENT.draw(outcomes, tmp_path)[0].path.stat().st_size > 1000
    tables = EXPERIMENT.tabulate(outcomes)
    assert [len(numbers.rows) for numbers in tables] == [4, 8, 1, 3]
    assert all(len(row) == len(numbers.headings) for numbers in tables for row in numbers.rows)
    judged = {claim.where: claim.judge(outcomes) for claim in reversed(EXPERIMENT.claims)}
    assert judged["Section 3.3, Lemma 3"].verdict is Verdict.HOLDS
    assert judged["Section 6.2, Theorem 2"].verdict is Verdict.HOLDS_ONLY
    assert judged["Appendix C"].verdict is Verdict.DOES_NOT_HOLD
    assert judged["Section 7.1.3"].measured.startswith("On stand-ins: ")
    assert EXPERIMENT.expect(outcomes) == []


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(data="social_network"):
        assert measure(outcome.settings) == outcome.found
    for outcome in outcomes.where(part="loss", mechanism="cmco"):
        assert measure(outcome.settings) == outcome.found


def test_more_effort_is_the_same_with_more() -> None:
    names = {"part", "data", "origin", "mechanism"}
    asked = [
        {tuple(sorted((key, job[key]) for key in names if key in job)) for job in EXPERIMENT.jobs(effort, STAND_INS)}
        for effort in (Effort.SMOKE, Effort.QUICK, Effort.FULL)
    ]
    assert asked[0] < asked[1] == asked[2]


# ---- oracles


def test_moments_go_from_a_64th_to_the_end() -> None:
    assert moments_of(6400, 4) == [100, 400, 1600, 6400]
    assert moments_of(11342, 1) == [11342]


def test_without_noise_only_what_is_not_sparse_is_wrong() -> None:
    counts = np.repeat(np.array([7, 0, 3, 12]), 64)
    difference = begin("difference", epsilon="1", horizon=256, source=NoiselessSource())
    assert errors_at(difference, counts, [100, 256]) == [0, 0]
    enough, too_few = (
        begin_cmco("cmco", epsilon="1", horizon=256, sparsity=s, decoder="cosamp", seed=5, source=NoiselessSource())
        for s in (4, 1)
    )
    assert errors_at(enough, counts, [256])[0] == pytest.approx(0, abs=1e-6)
    largest = 8 * 22 / 2  # Σ over 256 cells divided by √256, in units of 64 cells a piece
    missing = math.sqrt(float((counts**2).sum()) - largest**2)
    assert errors_at(too_few, counts, [256])[0] == pytest.approx(missing, rel=0.5)


def test_the_likelihood_ratio_is_that_of_the_law() -> None:
    law, signs = DiscreteLaplaceLaw(Fraction(3)), np.array([1, -1, 1])
    for view in ([0, 0, 0], [5, -2, 1], [-4, 3, -1]):
        direct = sum(
            math.log(law.pmf(value - sign)) - math.log(law.pmf(value)) for value, sign in zip(view, signs, strict=True)
        )
        assert float(log_ratio(np.array(view), signs, 3.0)) == pytest.approx(direct)


def test_a_known_loss_is_measured_from_below() -> None:
    """Randomised response at ε = 2: one answer in 1 + e² is a lie."""
    lies = np.random.default_rng(3).random((2, 40_000)) < 1 / (1 + np.exp(2))
    answers, other_answers = lies[0].astype(float), 1 - lies[1].astype(float)
    assert 1.8 < least_loss(answers, other_answers) <= 2
    assert least_loss(answers[:20_000], answers[20_000:]) <= 0


@pytest.mark.slow
def test_the_static_noise_is_the_paper_s(outcomes: Outcomes) -> None:
    found = outcomes.where(part="noise").only().found
    assert found["static"] == pytest.approx(math.sqrt(2 * found["rows"]), rel=1e-3)
    streaming = math.sqrt(2 / found["rows"]) * (1 + found["levels"]) ** 1.5
    assert found["cmco paper"] == pytest.approx(streaming, rel=1e-2)
    assert found["cmco"] == pytest.approx(streaming * found["rows"], rel=1e-3)


def test_numbers_are_shown_short() -> None:
    assert [shown(number) for number in (0.0123, 84.26, 1234.5, 1.234e8)] == ["0.0123", "84.3", "1,234", "1.23·10⁸"]
    assert Panel("nettrace", "stand-in", "0.00001").power == "10⁻⁵"
    assert Panel("nettrace", "stand-in", "0.001").named == "stand-in for nettrace"


# ---- judges


def made_up(*, origin: str = "stand-in", **errors: float) -> Outcomes:
    """One panel, two moments with these errors at both, of zeros 100."""
    every = {"zeros": 100.0, "difference": 1000.0, "plain": 50.0, "continual_adaptive": 5.0, **errors}
    rows = []
    for name, error in every.items():
        mechanism = name.replace("_", " ")
        panel = {"part": "error", "data": "nettrace", "origin": origin, "epsilon": "0.1", "mechanism": mechanism}
        found = {"moments": [8, 64], "errors": [[error, error], [error, error]], "sparsity": 1, "rows": 12}
        for decoder in ("cosamp", "auto") if mechanism.startswith("cmco") else ("",):
            rows.append(Outcome({**panel, "decoder": decoder}, found, 0.0))
    return Outcomes(rows)


def test_a_cmco_that_is_ahead_with_its_own_budget_would_be_seen() -> None:
    assert judge_utility(made_up(cmco=20, cmco_paper=10)).verdict is Verdict.HOLDS
    assert judge_utility(made_up(cmco=20, cmco_paper=10, origin="file")).measured.startswith("At the moment")
    both_worse = judge_utility(made_up(cmco=200, cmco_paper=10))
    assert both_worse.verdict is Verdict.HOLDS_ONLY
    assert both_worse.only.endswith("worse than publishing zeros")
    at_k_epsilon = judge_utility(made_up(cmco=900, cmco_paper=10))
    assert at_k_epsilon.in_words == "holds only with the noise that guarantees kε"
    assert judge_utility(made_up(cmco=2000, cmco_paper=700)).verdict is Verdict.DOES_NOT_HOLD


def test_effectiveness_is_being_better_than_nothing() -> None:
    assert judge_effectiveness(made_up(cmco=20, cmco_paper=10)).verdict is Verdict.HOLDS
    assert judge_effectiveness(made_up(cmco=200, cmco_paper=10)).verdict is Verdict.HOLDS_ONLY
    assert judge_effectiveness(made_up(cmco=200, cmco_paper=101)).verdict is Verdict.DOES_NOT_HOLD


def test_what_must_come_out_is_asked_of_files_only() -> None:
    assert [one.met for one in expect(made_up(cmco=200, cmco_paper=10, origin="file"))] == [True, True]
    assert [one.met for one in expect(made_up(cmco=200, cmco_paper=1001, origin="file"))] == [False, True]
    assert expect(made_up(cmco=200, cmco_paper=1001)) == []


def _changed(outcomes: Outcomes, asked: dict[str, Any], **found: float) -> Outcomes:
    chosen = {id(one) for one in outcomes.where(**asked)}
    return Outcomes(
        Outcome(one.settings, {**one.found, **found} if id(one) in chosen else one.found, 0.0) for one in outcomes
    )


@pytest.mark.slow
def test_other_losses_would_be_noticed(outcomes: Outcomes) -> None:
    leaking = _changed(outcomes, {"part": "loss", "mechanism": "difference"}, measured=1.2)
    assert judge_counter_privacy(leaking).verdict is Verdict.DOES_NOT_HOLD
    private = _changed(outcomes, {"part": "loss", "mechanism": "cmco paper"}, worst=1.0)
    assert judge_cmco_privacy(private).verdict is Verdict.HOLDS
    neither = _changed(outcomes, {"part": "loss", "mechanism": "cmco"}, worst=1.5)
    assert judge_cmco_privacy(neither).verdict is Verdict.DOES_NOT_HOLD
    assert judge_proof(private).verdict is Verdict.HOLDS
    loud = _changed(outcomes, {"part": "noise"}, **{"cmco paper": 1e6})
    assert judge_proof(loud).verdict is Verdict.DOES_NOT_HOLD  # noise is an illustration, the loss decides
    assert judge_one_counter(outcomes).verdict is Verdict.HOLDS
    changed_by_more = _changed(outcomes, {"part": "loss", "mechanism": "cmco paper"}, worst=1e6)
    assert judge_one_counter(changed_by_more).verdict is Verdict.DOES_NOT_HOLD
