"""How the advantage over Laplace changes with ε and with the number of cells."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import log2, sqrt

import numpy as np

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, times, told
from sparsedp.experiments.paper.epsilon_sweep.contenders import JUDGED
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Ratio, Sweep
from sparsedp.experiments.paper.outcomes import Outcomes

SLIGHTLY = 1.5
NOT_MUCH = 2
RIVAL = "laplace"


def advantages(sweep: Sweep, data: str) -> list[Ratio]:
    """Laplace's error over Compressive's at every ε, the largest ε first."""
    return [sweep.ratio(data, epsilon, RIVAL) for epsilon in sweep.epsilons]


def falls(ratios: list[Ratio]) -> bool:
    """Whether it becomes smaller for sure at some smaller ε."""
    pairs = list(combinations(ratios, 2))
    return any(later.compared_with(one, pairs=len(pairs)) < 0 for one, later in pairs)


def levels_off(sweep: Sweep, data: str) -> str:
    """The largest ε at which the ratio is already what it is at the smallest, as far as the runs tell."""
    ratios = advantages(sweep, data)
    return next(e for e, ratio in zip(sweep.epsilons, ratios, strict=True) if ratio.compared_with(ratios[-1]) == 0)


def judge_grows_as_epsilon_falls(outcomes: Outcomes) -> Judgement:
    """The ratio must never fall, and go on growing to the smallest ε."""
    sweep = Sweep(outcomes)
    parts = [f"{name} {', '.join(map(str, advantages(sweep, name)))}" for name in PAPER_DATA]
    measured = told(
        outcomes,
        PAPER_DATA,
        f"Laplace's error over that of Compressive with CoSaMP at ε = {', '.join(sweep.epsilons)}: {'; '.join(parts)}.",
    )
    ratios = [advantages(sweep, name) for name in PAPER_DATA]
    if any(falls(one) or one[-1].compared_with(one[0]) <= 0 for one in ratios):
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    until = min((levels_off(sweep, name) for name in PAPER_DATA), key=float)
    if until == sweep.epsilons[-1]:
        return Judgement(Verdict.HOLDS, measured)
    return Judgement(
        Verdict.HOLDS_ONLY,
        measured,
        f"down to ε = {until}: from there S is hardly ever above 1, and both grow like 1/ε",
    )


def judge_exception(outcomes: Outcomes) -> Judgement:
    """Laplace is nearer at ε = 1, and at no other."""
    sweep = Sweep(outcomes)
    nearer = {
        epsilon: [name for name in PAPER_DATA if sweep.ratio(name, epsilon, RIVAL).value < 1]
        for epsilon in sweep.epsilons
    }
    ahead = ", ".join(f"{times(1 / sweep.ratio(name, '1', RIVAL).value)} times ({name})" for name in PAPER_DATA)
    others = {epsilon: names for epsilon, names in nearer.items() if names and epsilon != "1"}
    also = "; ".join(f"at ε = {epsilon} on {listed(names)}" for epsilon, names in others.items())
    measured = f"At ε = 1 the error of Compressive with CoSaMP over Laplace's is {ahead}." + (
        f" Laplace is also nearer {also}." if also else ""
    )
    measured = told(outcomes, PAPER_DATA, measured)
    if len(nearer["1"]) < len(PAPER_DATA):
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if others:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"with other exceptions: {also}")
    return Judgement(Verdict.HOLDS, measured)


def judge_small_data(outcomes: Outcomes) -> Judgement:
    """√n against S·log(n/S) of the S that was chosen."""
    parts, close = [], []
    for name in PAPER_DATA:
        cells = int(outcomes.found("cells", part="facts", data=name))
        chosen = outcomes.found("sparsities", part="errors", data=name, mechanism=JUDGED, epsilon="1")
        sparsity = float(np.median(chosen))
        needed = sparsity * log2(cells / sparsity)
        parts.append(f"{sqrt(cells):.0f} against {needed:.0f} ({name}, S = {sparsity:g})")
        close.append(sqrt(cells) <= NOT_MUCH * needed)
    measured = told(
        outcomes, PAPER_DATA, f"√n against S·log₂(n/S) with the median of the S chosen at ε = 1: {listed(parts)}."
    )
    return Judgement(Verdict.HOLDS if all(close) else Verdict.DOES_NOT_HOLD, measured)


def judge_slightly_worse(outcomes: Outcomes) -> Judgement:
    """At ε = 1, worse by at most half."""
    sweep = Sweep(outcomes)
    behind = {name: 1 / sweep.ratio(name, "1", RIVAL).value for name in PAPER_DATA}
    shown = listed([f"{times(factor)} ({name})" for name, factor in behind.items()])
    measured = told(
        outcomes, PAPER_DATA, f"at ε = 1 Compressive with CoSaMP has so many times Laplace's error: {shown}."
    )
    slightly = [name for name, factor in behind.items() if factor <= SLIGHTLY]
    if len(slightly) == len(behind):
        return Judgement(Verdict.HOLDS, measured)
    if slightly:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"on {listed(slightly)}")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_lead_shrinks_with_cells(outcomes: Outcomes) -> Judgement:
    """At ε = 1 Laplace's lead must be smaller on every larger data set."""
    sweep = Sweep(outcomes)
    names = sweep.by_size(PAPER_DATA)
    leads = [1 / sweep.ratio(name, "1", RIVAL).value for name in names]
    shown = listed(
        [
            f"{times(lead)} ({name}, n = {sweep.fact(name, 'cells'):,.0f})"
            for name, lead in zip(names, leads, strict=True)
        ]
    )
    measured = told(outcomes, PAPER_DATA, f"at ε = 1 the error of Compressive with CoSaMP over Laplace's is {shown}.")
    shrinks = all(later < one for one, later in pairwise(leads))
    return Judgement(Verdict.HOLDS if shrinks else Verdict.DOES_NOT_HOLD, measured)


def judge_advantage_grows_with_cells(outcomes: Outcomes) -> Judgement:
    """At every other ε the advantage must be larger on every larger data set."""
    sweep = Sweep(outcomes)
    names = sweep.by_size(PAPER_DATA)
    parts, growing, others = [], [], [epsilon for epsilon in sweep.epsilons if epsilon != "1"]
    for epsilon in others:
        ratios = [sweep.ratio(name, epsilon, RIVAL) for name in names]
        parts.append(f"{', '.join(map(str, ratios))} at ε = {epsilon}")
        if all(later.log > one.log for one, later in pairwise(ratios)):
            growing.append(epsilon)
    measured = f"Laplace's error over that of Compressive with CoSaMP on {', '.join(names)}: {'; '.join(parts)}."
    measured = told(outcomes, PAPER_DATA, measured)
    if growing == others:
        return Judgement(Verdict.HOLDS, measured)
    if growing:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε = {listed(growing)}")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)
