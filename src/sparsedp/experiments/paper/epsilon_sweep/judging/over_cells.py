"""How the advantage over Laplace changes with the number of cells."""

from __future__ import annotations

from itertools import pairwise
from math import log2, sqrt

from sparsedp.experiments.paper.claim import Judgement
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, told
from sparsedp.experiments.paper.deciding import Answer, every, judged
from sparsedp.experiments.paper.epsilon_sweep.contenders import JUDGED
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Ratio, Sweep
from sparsedp.experiments.paper.epsilon_sweep.judging.over_epsilon import RIVAL
from sparsedp.experiments.paper.epsilon_sweep.judging.sorting import sorted_out
from sparsedp.experiments.paper.outcomes import Outcomes

NOT_MUCH = 2


def judge_small_data(outcomes: Outcomes) -> Judgement:
    """√n against S·log(n/S) of the S that were chosen, from the least to the most."""
    parts, close = [], []
    for name in PAPER_DATA:
        cells = int(outcomes.found("cells", part="facts", data=name))
        chosen = outcomes.found("sparsities", part="errors", data=name, mechanism=JUDGED, epsilon="1")
        ends = [sparsity * log2(cells / sparsity) for sparsity in (min(chosen), max(chosen))]
        parts.append(f"{sqrt(cells):.0f} against {ends[0]:.0f}–{ends[1]:.0f} ({name}, S = {min(chosen)}–{max(chosen)})")
        small = [sqrt(cells) <= NOT_MUCH * needed for needed in ends]
        close.append(small[0] if small[0] == small[1] else None)
    measured = (
        f"√n against S·log₂(n/S) for the S that were chosen at ε = 1: {listed(parts)}. (“Not much larger”: up to "
        f"{NOT_MUCH} times.)"
    )
    return judged(every(*close), told(outcomes, PAPER_DATA, measured))


def grows(ratios: list[Ratio]) -> Answer:
    """Whether each is larger than the one before."""
    orders = [later.compared_with(one) for one, later in pairwise(ratios)]
    return every(*(None if order == 0 else order > 0 for order in orders))


def judge_lead_shrinks_with_cells(outcomes: Outcomes) -> Judgement:
    """At ε = 1 Laplace's lead must be smaller on every larger data set."""
    sweep = Sweep(outcomes)
    names = sweep.by_size(PAPER_DATA)
    ratios = [sweep.ratio(name, "1", RIVAL) for name in names]
    shown = listed(
        [
            f"{ratio.inverse.with_ends} ({name}, n = {sweep.fact(name, 'cells'):,.0f})"
            for name, ratio in zip(names, ratios, strict=True)
        ]
    )
    measured = told(outcomes, PAPER_DATA, f"at ε = 1 the error of Compressive with CoSaMP over Laplace's is {shown}.")
    return judged(grows(ratios), measured)


def judge_advantage_grows_with_cells(outcomes: Outcomes) -> Judgement:
    """At every other ε the advantage must be larger on every larger data set."""
    sweep = Sweep(outcomes)
    names = sweep.by_size(PAPER_DATA)
    parts, answers = [], {}
    for epsilon in sweep.epsilons:
        if epsilon != "1":
            ratios = [sweep.ratio(name, epsilon, RIVAL) for name in names]
            parts.append(f"{', '.join(ratio.with_ends for ratio in ratios)} at ε = {epsilon}")
            answers[epsilon] = grows(ratios)
    measured = f"Laplace's error over that of Compressive with CoSaMP on {', '.join(names)}: {'; '.join(parts)}."
    return sorted_out(answers, told(outcomes, PAPER_DATA, measured), lambda budgets: f"for ε = {listed(budgets)}")
