"""What else the paper says of universal mechanisms and of the data they are for."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, percent, times, told
from sparsedp.experiments.paper.deciding import Answer, every, judged
from sparsedp.experiments.paper.epsilon_sweep.contenders import FLOOR
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep, some
from sparsedp.experiments.paper.epsilon_sweep.judging.sorting import sorted_out
from sparsedp.experiments.paper.outcomes import Outcomes

FOR_RANGES = ("hierarchical", "privelet")
RANGES = "range_errors"
CLOSE = 0.1
"""‖D − D*‖₂ over ‖D‖₂ of something very close."""
NEARLY_ALL = 0.95
SPARSE = 16
"""Sparse: at most n/16 coefficients hold 99 % of the energy."""


def judge_universal(outcomes: Outcomes) -> Judgement:
    """Any release of all cells can be asked anything; how well it answers, shows at sums over ranges."""
    sweep = Sweep(outcomes)
    cases = _cases(sweep)
    ahead = [sweep.ahead(*case, [*FOR_RANGES, "laplace"], kind=RANGES) for case in cases]
    useful = [sweep.ahead(*case, [FLOOR], kind=RANGES) for case in cases]
    behind = sum(sweep.ahead(*case, ["hierarchical"], kind=RANGES) is False for case in cases)
    factors = [f"{sweep.ratio(name, '1', 'hierarchical', kind=RANGES).inverse} ({name})" for name in PAPER_DATA]
    measured = (
        "Any query can be asked of any release of all cells, Laplace's too. Sums over 2,000 random ranges: at ε = 1 "
        f"Compressive with CoSaMP has so many times the error of HRMS: {listed(factors)}. It is ahead of Laplace, HRMS "
        f"and Privelet in {ahead.count(True)} of {len(cases)} cases (data × ε), behind HRMS in {behind}, and nearer "
        f"than zeros in {useful.count(True)}."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    supports, best = some(*useful), every(*ahead)
    if not supports or best is None:
        return judged(supports if supports is False else None, measured)
    if best:
        return Judgement(Verdict.HOLDS, measured)
    only = "in that any query can be asked; sums over ranges are answered "
    return Judgement(Verdict.HOLDS_ONLY, measured, only + f"worse than by HRMS in {behind} of {len(cases)} cases")


def judge_arbitrary(outcomes: Outcomes) -> Judgement:
    """Single cells and sums over ranges must both be answered better than by zeros."""
    sweep = Sweep(outcomes)
    kinds = {"single cells": "errors", "sums over ranges": RANGES}
    answers = {
        f"{name} at ε = {epsilon}": every(*(sweep.ahead(name, epsilon, [FLOOR], kind=kind) for kind in kinds.values()))
        for name in PAPER_DATA
        for epsilon in sweep.epsilons
    }
    counts = [
        f"{what} in {sum(sweep.ahead(name, epsilon, [FLOOR], kind=kind) is True for name, epsilon in _cases(sweep))}"
        for what, kind in kinds.items()
    ]
    measured = (
        "Anything can be asked of all cells. Two kinds of query were: Compressive with CoSaMP answers "
        f"{listed(counts)} of {len(answers)} cases (data × ε) better than zeros do."
    )
    return sorted_out(answers, told(outcomes, PAPER_DATA, measured), lambda cases: f"on {listed(cases)}")


def _cases(sweep: Sweep) -> list[tuple[str, str]]:
    return [(name, epsilon) for name in PAPER_DATA for epsilon in sweep.epsilons]


def judge_very_close(outcomes: Outcomes) -> Judgement:
    """The relative error of the whole release."""
    sweep = Sweep(outcomes)
    relative = {case: sweep.ratio(*case, FLOOR).inverse for case in _cases(sweep)}
    parts = [f"{name} {', '.join(str(relative[name, epsilon]) for epsilon in sweep.epsilons)}" for name in PAPER_DATA]
    measured = (
        f"‖D − D*‖₂ of Compressive with CoSaMP over ‖D‖₂ at ε = {', '.join(sweep.epsilons)}: {'; '.join(parts)}. "
        f"From 1 on, zeros are as close. (“Very close”: up to {percent(CLOSE)}.)"
    )
    answers = {
        f"{name} at ε = {epsilon}": sweep.ratio(name, epsilon, FLOOR).above(1 / CLOSE) for name, epsilon in relative
    }
    return sorted_out(answers, told(outcomes, PAPER_DATA, measured), lambda cases: f"on {listed(cases)}")


def judge_ranges_only(outcomes: Outcomes) -> Judgement:
    """HRMS and Privelet asked for single cells: worse than Laplace everywhere."""
    sweep = Sweep(outcomes)
    factors = {rival: [sweep.ratio(*case, rival, "laplace") for case in _cases(sweep)] for rival in FOR_RANGES}
    shown = listed(
        [
            f"{times(min(one.value for one in of))}–{times(max(one.value for one in of))} ({rival})"
            for rival, of in factors.items()
        ]
    )
    measured = f"asked for all single cells, they have so many times Laplace's error: {shown}, over all ε."
    worse = every(*(one.above(1) for of in factors.values() for one in of))
    return judged(worse, told(outcomes, PAPER_DATA, measured))


def judge_adjacent(outcomes: Outcomes) -> Judgement:
    """Nearly every step from one cell to the next must be one record at most."""
    sweep = Sweep(outcomes)
    small = {name: sweep.fact(name, "steps_of_at_most_one") for name in PAPER_DATA}
    parts = [
        f"{name} {percent(share)} (the mean count is {sweep.fact(name, 'mean_count'):.2g})"
        for name, share in small.items()
    ]
    measured = f"pairs of adjacent cells that differ by at most one record: {listed(parts)}. (“Very close”: "
    measured = told(outcomes, PAPER_DATA, measured + f"{percent(NEARLY_ALL)} of them at least.)")
    answers: dict[str, Answer] = {name: share >= NEARLY_ALL for name, share in small.items()}
    return sorted_out(answers, measured, lambda names: f"on {listed(names)}")


def judge_sparse_data(outcomes: Outcomes) -> Judgement:
    """How few coefficients hold 99 % of the energy, in the better of the two bases."""
    parts, sparse = [], []
    names = outcomes.values("data")
    for name in names:
        found = outcomes.only(part="facts", data=name).found
        basis, few = min(found["coefficients"].items(), key=lambda one: one[1])
        parts.append(f"{name} {few:,} of {found['cells']:,} ({basis})")
        sparse.append(few <= found["cells"] / SPARSE)
    measured = f"99 % of ‖D‖₂² are in so many coefficients: {listed(parts)}. (“Sparse”: n/{SPARSE} at most.)"
    measured = told(outcomes, names, measured)
    return Judgement(Verdict.HOLDS if all(sparse) else Verdict.DOES_NOT_HOLD, measured)
