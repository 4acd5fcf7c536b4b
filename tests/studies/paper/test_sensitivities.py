"""What one record moves."""

from pathlib import Path

import pytest

from studies.paper.experiment import Effort, Outcome, Outcomes, Verdict
from studies.paper.running import timed
from studies.paper.sensitivities import EXPERIMENT
from studies.paper.sensitivities.claims import (
    judge_choice,
    judge_privacy,
    judge_queries,
    judge_sensitivity_of_samples,
    judge_sensitivity_of_scores,
)
from studies.paper.sensitivities.measuring import measure


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, {}))


def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    assert EXPERIMENT.draw(outcomes, tmp_path)[0].path.stat().st_size > 1000
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [2, 3]
    verdicts = [claim.judge(outcomes).verdict for claim in EXPERIMENT.claims]
    assert verdicts == [Verdict.HOLDS, Verdict.HOLDS, Verdict.HOLDS, Verdict.HOLDS_ONLY, Verdict.HOLDS]


def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes:
        assert measure(outcome.settings) == outcome.found


def test_no_measured_row_sum_is_above_its_bound(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(part="row sums"):
        assert outcome.found["largest"] <= outcome.found["bound"] * (1 + 1e-9)


def _with(outcomes: Outcomes, part: str, **found: float) -> Outcomes:
    return Outcomes(
        Outcome(one.settings, {**one.found, **found} if one.settings["part"] == part else one.found, 0.0)
        for one in outcomes
    )


def test_a_breach_would_not_be_called_private(outcomes: Outcomes) -> None:
    too_little_noise = _with(outcomes, "columns", scale_times_epsilon=1.0)
    assert judge_privacy(too_little_noise).verdict is Verdict.DOES_NOT_HOLD
    paid_again = _with(outcomes, "queries", left_after_the_queries=0)
    assert judge_queries(paid_again).verdict is Verdict.DOES_NOT_HOLD
    assert judge_choice(_with(outcomes, "choice", largest=0.11)).verdict is Verdict.DOES_NOT_HOLD


def test_other_sensitivities_would_be_noticed(outcomes: Outcomes) -> None:
    assert judge_sensitivity_of_samples(_with(outcomes, "columns", largest=1)).verdict is Verdict.DOES_NOT_HOLD
    constant = _with(outcomes, "row sums", largest=2.4)
    assert judge_sensitivity_of_scores(constant).verdict is Verdict.HOLDS
    growing = Outcomes(
        Outcome(one.settings, {**one.found, "largest": float(one.settings["cells"])}, 0.0)
        for one in outcomes.where(part="row sums")
    )
    assert judge_sensitivity_of_scores(growing).verdict is Verdict.DOES_NOT_HOLD
