"""Choosing S: a small version of the experiment, the private choice against its exact law, and the judges."""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sparsedp.arrays import Ints
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants, constants_for
from sparsedp.noise.source import SeededSource
from studies.paper.choosing_sparsity import EXPERIMENT
from studies.paper.choosing_sparsity.claims import (
    Tail,
    curve_of,
    expect,
    judge_any_sparsity,
    judge_bound,
    judge_exponential_tail,
    judge_failure_probability,
    judge_in_practice,
    judge_small_share,
    judge_thousand_runs,
    quality_of,
)
from studies.paper.choosing_sparsity.measuring import DECODERS, Shares, choice_of, grid, measure, paper_scores
from studies.paper.data import PAPER_DATA
from studies.paper.experiment import Effort, Judgement, Outcome, Outcomes, Verdict
from studies.paper.running import timed

SHARES = Shares(Fraction(1), Fraction(1, 10))
STAND_INS = dict.fromkeys(PAPER_DATA, "stand-in")


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, STAND_INS))


@pytest.fixture(scope="module")
def counts() -> Ints:
    """A few steps and a peak, 700 cells: not a power of two."""
    steps = np.repeat([3, 40, 12, 0, 90, 25, 7], 100)
    steps[333] = 2000
    return steps.astype(np.int64)


@pytest.mark.slow
def test_the_experiment_runs_and_its_claims_are_judged(outcomes: Outcomes, tmp_path: Path) -> None:
    (picture,) = EXPERIMENT.draw(outcomes, tmp_path)
    assert picture.path.name == "choosing-sparsity.png"
    assert picture.path.stat().st_size > 10_000
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [12, 3]
    for claim in EXPERIMENT.claims:
        assert claim.judge(outcomes).measured.startswith("On stand-ins: ")
    assert EXPERIMENT.expect(outcomes) == []
    assert json.loads(json.dumps([one.found for one in outcomes], allow_nan=False)) == [one.found for one in outcomes]


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(data="social_network", decoder="cosamp"):
        assert measure(outcome.settings) == outcome.found


@pytest.mark.slow
def test_the_literal_choice_picks_all_coefficients_and_no_samples(outcomes: Outcomes) -> None:
    for outcome in outcomes.where(part="literal"):
        assert (outcome.found["likeliest"], outcome.found["rows"]) == (outcome.found["cells"], 0)
        assert outcome.found["probability"] > 0.999


@pytest.mark.parametrize("decoder", DECODERS)
def test_picks_are_those_of_the_mechanism(counts: Ints, decoder: str) -> None:
    choice = choice_of(counts, "haar", decoder, SHARES)
    for seed in range(4):
        synopsis = Compressive(recovery=decoder, seed=1).measure(counts, epsilon=1, source=SeededSource(seed))
        assert synopsis.plan.recovery.sparsity == choice.pick(SeededSource(seed))


def test_picks_are_distributed_by_the_exact_law_and_not_by_a_neighbouring_one(counts: Ints) -> None:
    choice = choice_of(counts, "haar", "cosamp", SHARES)
    source = SeededSource(5)
    picked = np.array([choice.pick(source) for _ in range(1000)])
    observed = np.array([(picked == one).sum() for one in choice.candidates])
    assert _fits(observed, choice.law)
    assert not _fits(observed, np.roll(choice.law, 1))


def _fits(observed: Ints, law: np.ndarray) -> bool:
    """Pearson's χ² at the level 0.001; the candidates that are expected less than 8 times count as one."""
    expected = law * observed.sum()
    often = expected >= 8
    found = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    return bool(stats.chisquare(found, wanted).pvalue > 0.001)


def test_the_papers_scores_give_the_law_of_the_mechanism_on_its_candidates(counts: Ints) -> None:
    choice = choice_of(counts, "haar", "cosamp", SHARES)
    literal = paper_scores(counts, "haar", constants_for("cosamp"), SHARES.measuring).law(SHARES.choosing)
    among = literal[np.array(choice.candidates) - 1]
    np.testing.assert_allclose(among / among.sum(), choice.law, rtol=1e-5)


def test_the_papers_scores_by_hand() -> None:
    # Haar coefficients of (3, 1, 0, 0): 2, 2, √2, 0.
    constants = SelectionConstants(Fraction(1), Fraction(1), Fraction(2))
    scores = paper_scores(np.array([3, 1, 0, 0]), "haar", constants, Fraction(1, 2))
    root = 2**0.5
    expected = [2 + root + 4, root / root + 4, 0 + 6 * np.log2(4 / 3), 0]
    np.testing.assert_allclose(scores.bounds, expected, atol=1e-12)
    # The row sum of 4 cells is 2⁻¹ + 2^(−1/2) + 2⁻¹.
    np.testing.assert_allclose(scores.sensitivities, (1 + 2**-0.5) / np.sqrt([1, 2, 3, 4]), rtol=1e-6)


def test_the_grid_covers_the_candidates() -> None:
    points = grid(65_536, steps=2, finer=4)
    assert points[:5] == [1, 2, 3, 4, 6]
    assert points[-1] == 65_536 // 16
    assert points == sorted(set(points))
    assert all(later <= 1.5 * one or later - one == 1 for one, later in pairwise(points))
    assert points.index(16) - points.index(8) == 7  # 8 of them a doubling, but for those that coincide
    assert grid(11_342, steps=1, least=8) == [8, 16, 32, 64, 128, 256, 512, 708]


GRID = [4, 8, 16, 32, 64, 128]
ERRORS = [800.0, 400.0, 110.0, 100.0, 120.0, 300.0]
"""Flat from about 16 to 66; the best is 32."""
GOOD, FAIR, BAD = 32, 16, 4


def made_up(
    *,
    picks: Sequence[int] = (GOOD,) * 100,
    with_less: Sequence[int] = (GOOD,) * 100,
    bounds: Callable[[str], float] = lambda decoder: 1000.0,
    scores: Sequence[float] = (),
    scatter: Sequence[float] = (0.999, 1.001),
    within_candidates: float = 0.0,
    origin: str = "stand-in",
) -> Outcomes:
    finished = []
    for data in PAPER_DATA:
        common = {"data": data, "origin": origin}
        size = {"cells": 4096, "norm": 5000.0}
        for decoder in DECODERS:
            settings = {"part": "errors", **common, "decoder": decoder, "share": "0.1"}
            errors = [[one * by for by in scatter] for one in ERRORS]
            found = {"sparsities": GRID, "errors": errors, "bounds": scores or [bounds(decoder)] * len(GRID)}
            finished.append(Outcome(settings, {**found, **size}, 0.0))
            for share, picked in (("0.1", picks), ("0.01", with_less)):
                candidates = sorted(set(picked))
                law = [picked.count(one) / len(picked) for one in candidates]
                settings = {"part": "picks", **common, "decoder": decoder, "share": share}
                found = {"candidates": candidates, "law": law, "picks": list(picked)}
                finished.append(Outcome(settings, {**found, **size}, 0.0))
        found = {"likeliest": 4096, "probability": 0.99999, "rows": 0, "within_candidates": within_candidates}
        finished.append(Outcome({"part": "literal", **common, "decoder": "cosamp"}, {**found, **size}, 0.0))
    return Outcomes(finished)


def mixed(missed: int) -> list[int]:
    """A hundred picks, so many of them bad."""
    return [GOOD] * (100 - missed) + [BAD] * missed


def test_the_flat_part_is_interpolated_between_measured_errors() -> None:
    curve = curve_of(made_up().only(part="errors", data="nettrace", decoder="cosamp"))
    assert curve.best == 32
    assert curve.least == pytest.approx(100.0)
    low, high = curve.flat
    assert 14 <= low <= 16
    assert 64 <= high <= 70


def test_what_was_never_measured_is_not_in_the_flat_part() -> None:
    quality = quality_of(made_up(picks=[256] * 3 + [1]), "nettrace", "cosamp", "0.1")
    assert (quality.missed, quality.failing) == (1.0, 1.0)


def test_percentiles_are_picked_sparsities() -> None:
    quality = quality_of(made_up(picks=[8] * 4 + [16] * 90 + [64] * 6), "nettrace", "cosamp", "0.1")
    assert quality.middle == (16, 16, 64)
    assert quality.mean_over_least == pytest.approx(0.04 * 4 + 0.9 * 1.1 + 0.06 * 1.2)


UNSURE = (0.5, 1.5)
"""Two runs far apart: what they say of the mean holds every answer."""
STEEP = [100.0, 40.0, 20.0, 10.0, 20.0, 40.0]
"""u with its least at 32; at 4 it is ten times as much."""

CASES: list[tuple[Callable[[Outcomes], Judgement], Outcomes, Verdict]] = [
    (judge_any_sparsity, made_up(within_candidates=1.0), Verdict.HOLDS),
    (judge_any_sparsity, made_up(), Verdict.HOLDS_ONLY),
    (judge_any_sparsity, made_up(picks=mixed(50)), Verdict.DOES_NOT_HOLD),
    (judge_failure_probability, made_up(within_candidates=1.0, picks=mixed(1)), Verdict.HOLDS),
    (judge_failure_probability, made_up(picks=mixed(1)), Verdict.HOLDS_ONLY),
    (judge_failure_probability, made_up(within_candidates=1.0, picks=mixed(5)), Verdict.HOLDS_ONLY),
    (judge_failure_probability, made_up(within_candidates=1.0, picks=mixed(20)), Verdict.DOES_NOT_HOLD),
    (judge_bound, made_up(), Verdict.HOLDS),
    (judge_bound, made_up(bounds=lambda decoder: 90.0 if decoder == "vamp_tree" else 1000.0), Verdict.HOLDS),
    (judge_bound, made_up(bounds=lambda decoder: 1000.0 if decoder == "cosamp" else 90.0), Verdict.HOLDS_ONLY),
    (judge_bound, made_up(bounds=lambda decoder: 700.0), Verdict.DOES_NOT_HOLD),
    (judge_bound, made_up(scatter=UNSURE), Verdict.UNDECIDED),
    (judge_any_sparsity, made_up(scatter=UNSURE), Verdict.UNDECIDED),
    (judge_failure_probability, made_up(scatter=UNSURE), Verdict.UNDECIDED),
    (judge_failure_probability, made_up(scatter=(1.0,)), Verdict.UNDECIDED),
    (judge_thousand_runs, made_up(scatter=UNSURE), Verdict.UNDECIDED),
    (judge_in_practice, made_up(scatter=UNSURE), Verdict.UNDECIDED),
    (judge_exponential_tail, made_up(scores=STEEP), Verdict.HOLDS),
    (judge_exponential_tail, made_up(scores=STEEP, picks=mixed(5)), Verdict.DOES_NOT_HOLD),
    (judge_small_share, made_up(), Verdict.HOLDS),
    (judge_small_share, made_up(with_less=mixed(20)), Verdict.HOLDS_ONLY),
    (judge_small_share, made_up(picks=mixed(20)), Verdict.UNDECIDED),  # one ε does not refute an asymptotic claim
    (judge_thousand_runs, made_up(picks=mixed(1)), Verdict.HOLDS),
    (judge_thousand_runs, made_up(picks=mixed(8)), Verdict.HOLDS_ONLY),
    (judge_thousand_runs, made_up(picks=mixed(20)), Verdict.DOES_NOT_HOLD),
    (judge_in_practice, made_up(picks=[FAIR, GOOD, GOOD]), Verdict.HOLDS),
    (judge_in_practice, made_up(picks=[64] * 10), Verdict.HOLDS_ONLY),
    (judge_in_practice, made_up(picks=[BAD] * 10), Verdict.DOES_NOT_HOLD),
]


@pytest.mark.parametrize(("judge", "outcomes", "verdict"), CASES)
def test_every_verdict_can_be_reached(
    judge: Callable[[Outcomes], Judgement], outcomes: Outcomes, verdict: Verdict
) -> None:
    judgement = judge(outcomes)
    assert judgement.verdict is verdict
    assert bool(judgement.only) == (verdict is Verdict.HOLDS_ONLY)


def test_the_exponential_mechanism_may_be_near_the_least_score_on_some_data_only() -> None:
    outcomes = made_up(scores=STEEP)
    found = outcomes.only(part="picks", data="nettrace", decoder="cosamp", share="0.1").found
    found.update(candidates=[BAD, GOOD], law=[0.5, 0.5])
    assert judge_exponential_tail(outcomes).only == "on social_network and search_logs"


def test_tails_that_are_exponential_and_others() -> None:
    far = np.arange(5000.0)
    light, heavy = np.exp(-far), (1 + far) ** -2.0
    tails = [Tail(1 + 0.01 * far, law / law.sum()) for law in (light, heavy)]
    assert [tail.exponential for tail in tails] == [True, False]
    assert tails[0].beyond(1.0) == pytest.approx(np.exp(-1.0), rel=1e-3)
    assert [tails[0].reached(one) for one in (0.1, 0.01)] == pytest.approx([1.02, 1.04])


def test_expectations_are_about_files_and_can_be_missed() -> None:
    assert expect(made_up()) == []
    assert [one.met for one in expect(made_up(origin="file", picks=mixed(9)))] == [True] * 3
    assert [one.met for one in expect(made_up(origin="file", picks=mixed(11)))] == [False] * 3
