"""The judge of what the paper says about the exponential mechanism in general: u of what it picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.choosing_sparsity.judging.flat_part import FLAT
from sparsedp.experiments.paper.choosing_sparsity.judging.judges import NEGLIGIBLE
from sparsedp.experiments.paper.choosing_sparsity.measuring import PAPERS, SHARE
from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, percent, told
from sparsedp.experiments.paper.outcomes import Outcomes

RARE = (0.1, 0.01, 0.001)
STEADY = 2.0
"""The next tenth of a probability may be so many times as far out as the one before: in an exponential tail, once."""


@dataclass(frozen=True)
class Tail:
    """u of every candidate over the least, and its exact probability."""

    over_least: Floats
    law: Floats

    def beyond(self, factor: float) -> float:
        """The probability of a u of more than so many times the least."""
        return float(self.law[self.over_least > factor].sum())

    def reached(self, probability: float) -> float:
        """The factor that is exceeded with at most this probability."""
        order = np.argsort(self.over_least)
        above = 1 - np.cumsum(self.law[order])
        return float(self.over_least[order][np.argmax(above <= probability)])

    @property
    def exponential(self) -> bool:
        """Whether rare distances are no farther out than in an exponential tail, about."""
        first, second, third = (self.reached(probability) for probability in RARE)
        return third - second <= STEADY * max(second - first, first - 1)


def tail_of(outcomes: Outcomes, data: str) -> Tail:
    """With CoSaMP's constants; u is interpolated between the S of the curve's grid, on log scales."""
    picks = outcomes.only(part="picks", data=data, decoder=PAPERS, share=SHARE).found
    grid = outcomes.only(part="errors", data=data, decoder=PAPERS).found
    candidates, law = np.array(picks["candidates"], dtype=np.float64), np.array(picks["law"])
    scores = np.exp(np.interp(np.log(candidates), np.log(grid["sparsities"]), np.log(grid["bounds"])))
    return Tail(scores / scores.min(), law)


def judge_exponential_tail(outcomes: Outcomes) -> Judgement:
    """Near the least u with probability almost 1, on every data set."""
    tails = {name: tail_of(outcomes, name) for name in PAPER_DATA}
    parts = [
        f"{name} {', '.join(f'{tail.reached(rare):.2f}' for rare in RARE)}, more than {FLAT} with probability "
        f"{tail.beyond(FLAT):.3f}"
        for name, tail in tails.items()
    ]
    measured = (
        "as the paper uses it to choose S: u(D, S) of the pick over the least among S ≤ n/16, exceeded with "
        f"probability {', '.join(map(str, RARE))} at most: {'; '.join(parts)}. Each u(S) is divided by its own "
        f"sensitivity there, ∝ 1/√S, and so it is u(S)·√S that is made small. (“Approximately optimal”: within {FLAT}; "
        f"“almost 1”: {percent(1 - NEGLIGIBLE)}.)"
    )
    measured = told(outcomes, PAPER_DATA, measured)
    good = [name for name, tail in tails.items() if tail.exponential and tail.beyond(FLAT) <= NEGLIGIBLE]
    if len(good) == len(tails):
        return Judgement(Verdict.HOLDS, measured)
    if good:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"on {listed(good)}")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)
