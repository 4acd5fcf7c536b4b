"""What else the paper says of universal mechanisms and of the data they are for."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, percent, times, told
from sparsedp.experiments.paper.epsilon_sweep.contenders import FLOOR, JUDGED
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep
from sparsedp.experiments.paper.outcomes import Outcomes

FOR_RANGES = ("hierarchical", "privelet")
RANGES = "range_errors"
CLOSE = 0.1
"""‖D − D*‖₂ over ‖D‖₂ of something very close."""
NEARLY_ALL = 0.95
SPARSE = 16
"""Sparse: at most n/16 coefficients hold 99 % of the energy."""


def judge_universal(outcomes: Outcomes) -> Judgement:
    """Any release of all cells answers any query; how well, shows at sums over ranges."""
    sweep = Sweep(outcomes)
    cases = [(name, epsilon) for name in PAPER_DATA for epsilon in sweep.epsilons]
    ahead = [case for case in cases if sweep.ahead(*case, [*FOR_RANGES, "laplace"], kind=RANGES)]
    useful = [case for case in ahead if sweep.ahead(*case, [FLOOR], kind=RANGES)]
    factors = [
        f"{times(1 / sweep.ratio(name, '1', 'hierarchical', kind=RANGES).value)} ({name})" for name in PAPER_DATA
    ]
    measured = (
        "Any query can be asked of any release of all cells, Laplace's too. Sums over 2,000 random ranges: at ε = 1 "
        f"Compressive with CoSaMP has so many times the error of HRMS: {listed(factors)}. It is ahead of Laplace, HRMS "
        f"and Privelet in {len(ahead)} of {len(cases)} cases (data × ε), in {len(useful)} of those nearer than zeros."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    if len(ahead) == len(cases):
        return Judgement(Verdict.HOLDS, measured)
    return Judgement(
        Verdict.HOLDS_ONLY, measured, "in that any query can be asked; sums over ranges are answered worse than by HRMS"
    )


def judge_very_close(outcomes: Outcomes) -> Judgement:
    """The relative error of the whole release."""
    sweep = Sweep(outcomes)
    relative = {
        (name, epsilon): sweep.mean(name, JUDGED, epsilon) / sweep.fact(name, "norm")
        for name in PAPER_DATA
        for epsilon in sweep.epsilons
    }
    parts = [
        f"{name} {', '.join(f'{times(relative[name, epsilon])}' for epsilon in sweep.epsilons)}" for name in PAPER_DATA
    ]
    measured = (
        f"‖D − D*‖₂ of Compressive with CoSaMP over ‖D‖₂ at ε = {', '.join(sweep.epsilons)}: {'; '.join(parts)}. "
        "From 1 on, zeros are as close."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    close = [f"{name} at ε = {epsilon}" for (name, epsilon), share in relative.items() if share <= CLOSE]
    if len(close) == len(relative):
        return Judgement(Verdict.HOLDS, measured)
    if close:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"on {listed(close)}, if {percent(CLOSE)} is very close")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_ranges_only(outcomes: Outcomes) -> Judgement:
    """HRMS and Privelet asked for single cells: worse than Laplace everywhere."""
    sweep = Sweep(outcomes)
    factors = {
        rival: [sweep.ratio(name, epsilon, rival, "laplace").value for name in PAPER_DATA for epsilon in sweep.epsilons]
        for rival in FOR_RANGES
    }
    shown = listed([f"{times(min(of))}–{times(max(of))} ({rival})" for rival, of in factors.items()])
    measured = told(
        outcomes,
        PAPER_DATA,
        f"asked for all single cells, they have so many times Laplace's error: {shown}, at every ε.",
    )
    worse = all(min(of) > 1 for of in factors.values())
    return Judgement(Verdict.HOLDS if worse else Verdict.DOES_NOT_HOLD, measured)


def judge_adjacent(outcomes: Outcomes) -> Judgement:
    """Nearly every step from one cell to the next must be one record at most."""
    sweep = Sweep(outcomes)
    small = {name: sweep.fact(name, "steps_of_at_most_one") for name in PAPER_DATA}
    parts = [
        f"{name} {percent(share)} (the mean count is {sweep.fact(name, 'mean_count'):.2g})"
        for name, share in small.items()
    ]
    measured = told(
        outcomes, PAPER_DATA, f"pairs of adjacent cells that differ by at most one record: {listed(parts)}."
    )
    good = [name for name, share in small.items() if share >= NEARLY_ALL]
    if len(good) == len(small):
        return Judgement(Verdict.HOLDS, measured)
    if good:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"on {listed(good)}")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_sparse_data(outcomes: Outcomes) -> Judgement:
    """How few coefficients hold 99 % of the energy, in the better of the two bases."""
    parts, sparse = [], []
    names = outcomes.values("data")
    for name in names:
        found = outcomes.only(part="facts", data=name).found
        basis, few = min(found["coefficients"].items(), key=lambda one: one[1])
        parts.append(f"{name} {few:,} of {found['cells']:,} ({basis})")
        sparse.append(few <= found["cells"] / SPARSE)
    measured = told(outcomes, names, f"99 % of ‖D‖₂² are in so many coefficients: {listed(parts)}.")
    return Judgement(Verdict.HOLDS if all(sparse) else Verdict.DOES_NOT_HOLD, measured)
