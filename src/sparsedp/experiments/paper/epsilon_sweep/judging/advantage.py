"""Errors of one contender over another's, with intervals, as a sweep found them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, hypot, inf, isfinite, log

import numpy as np
from scipy.stats import norm

from sparsedp.experiments.paper.data_names import times
from sparsedp.experiments.paper.deciding import Answer, every
from sparsedp.experiments.paper.epsilon_sweep.contenders import FLOOR, JUDGED
from sparsedp.experiments.paper.fits import mean_interval
from sparsedp.experiments.paper.outcomes import Found, Outcomes


@dataclass(frozen=True)
class Ratio:
    """A ratio of two mean errors: its logarithm, and half the width of that logarithm's 95 % interval."""

    log: float
    half: float

    @property
    def value(self) -> float:
        """The ratio."""
        return exp(self.log)

    @property
    def ends(self) -> tuple[float, float]:
        """Of its interval."""
        return exp(self.log - self.half), exp(self.log + self.half)

    def __str__(self) -> str:
        return times(self.value)

    @property
    def with_ends(self) -> str:
        """The ratio and its interval, if it has one."""
        if not isfinite(self.half):
            return f"{self} (a single run)"
        return f"{self} [{times(self.ends[0])}, {times(self.ends[1])}]"

    @property
    def inverse(self) -> Ratio:
        """The other way round."""
        return Ratio(-self.log, self.half)

    def over(self, other: Ratio) -> Ratio:
        """How many times the other it is."""
        return Ratio(self.log - other.log, hypot(self.half, other.half))

    def above(self, factor: float) -> Answer:
        """Whether it is larger than a number; None where its interval holds both answers."""
        order = self.compared_with(Ratio(log(factor), 0.0))
        return None if order == 0 else order > 0

    def compared_with(self, other: Ratio, *, pairs: int = 1) -> int:
        """1 if it is larger than the other for sure, −1 if smaller, 0 if the runs do not tell.

        `pairs`: how many pairs are compared like this; the intervals are widened for all of them to hold at once.
        """
        apart, sure = self.log - other.log, float(norm.ppf(1 - 0.025 / pairs) / norm.ppf(1 - 0.025))
        return 0 if abs(apart) <= sure * hypot(self.half, other.half) else (1 if apart > 0 else -1)


@dataclass(frozen=True)
class Sweep:
    """The outcomes of a sweep, by data set, contender and ε; the largest ε first, the data sets by their size."""

    outcomes: Outcomes

    @cached_property
    def epsilons(self) -> list[str]:
        """From the largest on."""
        return sorted(self.outcomes.values("epsilon"), key=float, reverse=True)

    @property
    def mechanisms(self) -> list[str]:
        """Who was compared."""
        return self.outcomes.values("mechanism")

    def by_size(self, names: Sequence[str]) -> list[str]:
        """The data sets with the fewest cells first."""
        return sorted(names, key=lambda name: int(self.fact(name, "cells")))

    def fact(self, data: str, name: str) -> float:
        """Something about a data set."""
        return float(self.outcomes.found(name, part="facts", data=data))

    def runs(self, data: str, mechanism: str, epsilon: str, kind: str = "errors") -> list[float]:
        """The errors of all runs; `kind`: "errors", "clipped_errors" or "range_errors"."""
        runs: list[float] = self._found[data, mechanism, epsilon][kind]
        return runs

    @cached_property
    def _found(self) -> dict[tuple[str, str, str], Found]:
        """By data set, contender and ε: looked up a thousand times."""
        rows = [(one.settings, one.found) for one in self.outcomes.where(part="errors")]
        return {(asked["data"], asked["mechanism"], asked["epsilon"]): found for asked, found in rows}

    def mean(self, data: str, mechanism: str, epsilon: str, kind: str = "errors") -> float:
        """The mean error."""
        return float(np.mean(self.runs(data, mechanism, epsilon, kind)))

    def ratio(self, data: str, epsilon: str, above: str, below: str = JUDGED, kind: str = "errors") -> Ratio:
        """The mean error of `above` over that of `below`: more than 1 where `below` is ahead.

        A single run tells nothing of its scatter; zeros have none.
        """
        halves, logs = [], []
        for mechanism in (above, below):
            runs = self.runs(data, mechanism, epsilon, kind)
            mean, _, high = mean_interval(runs)
            logs.append(log(mean))
            halves.append(inf if len(runs) < 2 and mechanism != FLOOR else (high - mean) / mean)
        return Ratio(logs[0] - logs[1], hypot(*halves))

    def ahead(
        self, data: str, epsilon: str, rivals: Sequence[str], judged: str = JUDGED, kind: str = "errors"
    ) -> Answer:
        """Whether the judged one has the least mean error of all of them."""
        return every(*(self.ratio(data, epsilon, rival, judged, kind).above(1) for rival in rivals))


def some(*answers: Answer) -> Answer:
    """Yes if one of them is yes; else no, unless one is not known."""
    if any(answers):
        return True
    return None if None in answers else False
