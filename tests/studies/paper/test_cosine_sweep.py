"""The sweep in the cosine basis: a small version of the whole, the judge, and the best S in hindsight."""

from pathlib import Path

import numpy as np
import pytest

from studies.paper.cosine_sweep import EXPERIMENT, judge_far_outperforms
from studies.paper.data import load
from studies.paper.epsilon_sweep.measuring import (
    CONTENDERS,
    EPSILONS,
    KNOWN,
    SPARSITIES,
    measure,
    published_in_hindsight,
)
from studies.paper.experiment import Effort, Outcome, Outcomes, Verdict
from studies.paper.running import timed

ORIGINS = {"tcptrace": "stand-in", "flights": "package"}


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, ORIGINS))


@pytest.mark.slow
def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    pictures = EXPERIMENT.draw(outcomes, tmp_path)
    assert [one.path.name for one in pictures] == ["cosine-sweep.png", "cosine-sweep-advantage.png"]
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [10, 10, 8, 20]
    assert [claim.judge(outcomes).measured[:14] for claim in EXPERIMENT.claims] == ["On stand-ins: "]
    assert EXPERIMENT.expect(outcomes) == []


@pytest.mark.slow
def test_what_the_line_in_hindsight_is_not_is_said(outcomes: Outcomes, tmp_path: Path) -> None:
    said = [EXPERIMENT.draw(outcomes, tmp_path)[0].caption, EXPERIMENT.tabulate(outcomes)[0].caption]
    assert all("Hadamard rows instead of i.i.d. signs" in one and "the same runs" in one for one in said)
    assert "2, 1, 2.83 (CoSaMP); 2, 1, 2 (basis pursuit); 2, 1, 2 (our decoder)" in EXPERIMENT.about


@pytest.mark.slow
def test_it_is_measured_in_the_cosine_basis(outcomes: Outcomes) -> None:
    assert outcomes.values("basis") == ["cosine"]
    waves = outcomes.found("errors", data="flights", mechanism="compressive tree", epsilon="1")[0]
    settings = {**outcomes.only(data="flights", mechanism="compressive tree", epsilon="1").settings, "basis": "haar"}
    assert waves < 0.7 * measure(settings)["errors"][0]  # flights come in waves, not in steps


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(data="tcptrace", epsilon="0.001"):
        assert measure(outcome.settings) == outcome.found


@pytest.mark.slow
def test_hindsight_is_the_best_of_all_sparsities(outcomes: Outcomes) -> None:
    settings = outcomes.only(data="flights", mechanism=KNOWN, epsilon="0.001").settings
    counts = load("flights", "package").counts
    (best,) = published_in_hindsight(settings, counts)
    assert best.sparsity in SPARSITIES
    strong = published_in_hindsight({**settings, "epsilon": "10"}, counts)[0]
    weak = published_in_hindsight({**settings, "epsilon": "0.00001"}, counts)[0]
    assert (strong.sparsity, weak.sparsity) == (64, 1)
    assert np.linalg.norm(strong.values - counts) < np.linalg.norm(best.values - counts)


NORM = 1000.0


def _of_tcptrace(*, runs: int = 2, **errors: float) -> Outcomes:
    """At every ε zeros have the norm, Laplace half of it and HRMS five times that, the others 400 unless given."""
    given = {name.replace("_", " "): error for name, error in errors.items()}
    of = {"zeros": NORM, "laplace": 500.0, "hierarchical": 2500.0, **given}
    common = {"part": "errors", "data": "tcptrace", "origin": "stand-in"}
    return Outcomes(
        Outcome({**common, "mechanism": name, "epsilon": epsilon}, {"errors": [of.get(name, 400.0)] * runs}, 0.0)
        for name in (*CONTENDERS, KNOWN)
        for epsilon in EPSILONS
    )


@pytest.mark.slow
def test_every_verdict_can_be_reached() -> None:
    assert judge_far_outperforms(_of_tcptrace(compressive=100)).verdict is Verdict.HOLDS
    assert judge_far_outperforms(_of_tcptrace()).verdict is Verdict.DOES_NOT_HOLD
    assert judge_far_outperforms(_of_tcptrace(compressive_bp=100)).only == "with basis pursuit"
    only = judge_far_outperforms(_of_tcptrace(compressive_known=100)).only
    assert only == "with CoSaMP and the best S known beforehand"
    assert judge_far_outperforms(_of_tcptrace(runs=1, compressive=100)).verdict is Verdict.UNDECIDED
    in_vain = _of_tcptrace(laplace=100 * NORM, hierarchical=100 * NORM, compressive=2 * NORM)
    assert judge_far_outperforms(in_vain).only == "for ε ≤ 1, where publishing zeros is nearer still"
