"""How the advantage over Laplace changes with ε."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, percent, times, told
from sparsedp.experiments.paper.deciding import every
from sparsedp.experiments.paper.epsilon_sweep.contenders import JUDGED
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Ratio, Sweep
from sparsedp.experiments.paper.epsilon_sweep.judging.sorting import sorted_out
from sparsedp.experiments.paper.outcomes import Outcomes

SLIGHTLY = 1.5
NOTHING = 1.1
"""From the largest ε to the smallest, growth by less is none."""
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
    until = min((levels_off(sweep, name) for name in PAPER_DATA), key=float)
    measured = (
        f"Laplace's error over that of Compressive with CoSaMP at ε = {', '.join(sweep.epsilons)}: {'; '.join(parts)}."
    )
    if until != sweep.epsilons[-1]:
        measured += f" From ε = {until} on no change is seen; S is above 1 in {_above_one(sweep, until)} of the runs."
    measured += (
        f" (Growth by less than {NOTHING} from the first ε to the last is none; it has ended where the rest of it is "
        f"surely below {SLIGHTLY}.)"
    )
    measured = told(outcomes, PAPER_DATA, measured)
    ratios = {name: advantages(sweep, name) for name in PAPER_DATA}
    if any(falls(one) or one[-1].over(one[0]).above(NOTHING) is False for one in ratios.values()):
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if any(one[-1].compared_with(one[0]) <= 0 for one in ratios.values()):
        return Judgement(Verdict.UNDECIDED, measured)
    if until == sweep.epsilons[-1]:
        return Judgement(Verdict.HOLDS, measured)
    place = sweep.epsilons.index(until)
    if any(one[-1].over(one[place]).above(SLIGHTLY) is not False for one in ratios.values()):
        return Judgement(Verdict.UNDECIDED, measured)
    return Judgement(Verdict.HOLDS_ONLY, measured, f"down to ε = {until}")


def _above_one(sweep: Sweep, until: str) -> str:
    """How often more than one coefficient was chosen."""
    few = [epsilon for epsilon in sweep.epsilons if float(epsilon) <= float(until)]
    chosen = [s for name in PAPER_DATA for epsilon in few for s in sweep.runs(name, JUDGED, epsilon, "sparsities")]
    return percent(float(np.mean(np.array(chosen) > 1)))


def judge_exception(outcomes: Outcomes) -> Judgement:
    """Laplace is nearer at ε = 1, and at no other."""
    sweep = Sweep(outcomes)
    leads = {
        epsilon: {name: sweep.ratio(name, epsilon, RIVAL).above(1) for name in PAPER_DATA} for epsilon in sweep.epsilons
    }
    nearer = {epsilon: [name for name, ahead in of.items() if ahead is False] for epsilon, of in leads.items()}
    ahead = ", ".join(f"{times(1 / sweep.ratio(name, '1', RIVAL).value)} times ({name})" for name in PAPER_DATA)
    others = {epsilon: names for epsilon, names in nearer.items() if names and epsilon != "1"}
    also = "; ".join(f"at ε = {epsilon} on {listed(names)}" for epsilon, names in others.items())
    measured = f"At ε = 1 the error of Compressive with CoSaMP over Laplace's is {ahead}." + (
        f" Laplace is also nearer {also}, beyond the 95 % intervals." if also else ""
    )
    measured = told(outcomes, PAPER_DATA, measured)
    if any(leads["1"].values()):
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if None in leads["1"].values():
        return Judgement(Verdict.UNDECIDED, measured)
    if others:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"with other exceptions: {also}")
    open_ones = any(None in of.values() for epsilon, of in leads.items() if epsilon != "1")
    return Judgement(Verdict.UNDECIDED if open_ones else Verdict.HOLDS, measured)


def judge_slightly_worse(outcomes: Outcomes) -> Judgement:
    """At ε = 1, worse, and by at most half."""
    sweep = Sweep(outcomes)
    behind = {name: sweep.ratio(name, "1", RIVAL).inverse for name in PAPER_DATA}
    shown = listed([f"{factor.with_ends} ({name})" for name, factor in behind.items()])
    measured = told(
        outcomes,
        PAPER_DATA,
        f"at ε = 1 Compressive with CoSaMP has so many times Laplace's error: {shown}. (“Slightly”: up to {SLIGHTLY}.)",
    )
    answers = {}
    for name, factor in behind.items():
        more = factor.above(SLIGHTLY)
        answers[name] = every(factor.above(1), None if more is None else not more)
    return sorted_out(answers, measured, lambda names: f"on {listed(names)}")
