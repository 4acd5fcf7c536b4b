"""The judges of choosing S reach every verdict, on made-up outcomes."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sparsedp.experiments.paper.choosing_sparsity.claims import expect
from sparsedp.experiments.paper.choosing_sparsity.judging.flat_part import curve_of, quality_of
from sparsedp.experiments.paper.choosing_sparsity.judging.judges import (
    judge_any_sparsity,
    judge_bound,
    judge_failure_probability,
    judge_in_practice,
    judge_small_share,
    judge_thousand_runs,
)
from sparsedp.experiments.paper.choosing_sparsity.judging.tail import Tail, judge_exponential_tail
from sparsedp.experiments.paper.choosing_sparsity.measuring import DECODERS
from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.outcomes import Outcome, Outcomes

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
