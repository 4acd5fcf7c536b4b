"""How a contender stands against its rivals: ratios of errors, who leads by how much, and what a lead is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, hypot, inf, isfinite, log

import numpy as np
from scipy.stats import norm

from studies.paper.data import PAPER_DATA
from studies.paper.deciding import Answer, every, listed, mean_interval, times, told
from studies.paper.epsilon_sweep.measuring import FLOOR, JUDGED, KNOWN, RIVALS
from studies.paper.experiment import Found, Judgement, Outcomes, Verdict

# ---- errors of one contender over another's, with intervals


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


# ---- how it stands on every data set at every ε


@dataclass(frozen=True)
class Case:
    """One data set at one ε."""

    data: str
    epsilon: str

    def __str__(self) -> str:
        return f"{self.data} at ε = {self.epsilon}"


@dataclass(frozen=True)
class Standing:
    """How one contender stands against rivals in many cases."""

    sweep: Sweep
    names: Sequence[str]
    rivals: Sequence[str] = RIVALS
    judged: str = JUDGED

    @property
    def cases(self) -> list[Case]:
        """Every data set at every ε."""
        return [Case(name, epsilon) for name in self.names for epsilon in self.sweep.epsilons]

    def advantage(self, case: Case) -> Ratio:
        """The least error of the rivals over its own."""
        ratios = [self.sweep.ratio(case.data, case.epsilon, rival, self.judged) for rival in self.rivals]
        return min(ratios, key=lambda ratio: ratio.log)

    def is_ahead(self, case: Case, by: float = 1.0) -> Answer:
        """Whether it is nearer than every rival, by more than a factor."""
        ratios = [self.sweep.ratio(case.data, case.epsilon, rival, self.judged) for rival in self.rivals]
        return every(*(ratio.above(by) for ratio in ratios))

    def useful(self, case: Case) -> Answer:
        """Whether it is nearer than zeros: anyone can publish those."""
        return self.sweep.ahead(case.data, case.epsilon, [FLOOR], self.judged)

    def where(self, answer: Answer, by: float = 1.0) -> list[Case]:
        """The cases in which the answer to "is it ahead?" is this one."""
        return [case for case in self.cases if self.is_ahead(case, by) is answer]

    def ahead_from(self, cases: Sequence[Case]) -> str | None:
        """The largest ε from which on, down to the smallest, all data sets are among the cases."""
        found = None
        for epsilon in reversed(self.sweep.epsilons):
            if not all(Case(name, epsilon) in cases for name in self.names):
                break
            found = epsilon
        return found

    def best(self, *, only_useful: bool = False) -> tuple[Ratio, Case] | None:
        """Its largest advantage, and where."""
        chosen = [case for case in self.cases if not only_useful or self.useful(case)]
        return max(((self.advantage(case), case) for case in chosen), key=lambda one: one[0].log, default=None)

    def somewhere(self, by: float, *, only_useful: bool) -> Answer:
        """Whether there is a case in which it is ahead by so much."""
        return some(
            *(every(self.is_ahead(case, by), self.useful(case) if only_useful else True) for case in self.cases)
        )


# ---- whether the compressive mechanism beats its rivals, and by how much

ORDER_OF_MAGNITUDE, MUCH = 10, 2
OURS = "compressive tree"
PREVIOUS = ("laplace", "hierarchical", "privelet")
PRIVATE = {JUDGED: "CoSaMP", "compressive bp": "basis pursuit", OURS: "our decoder"}
DECODERS = {**PRIVATE, KNOWN: "CoSaMP and the best S known beforehand"}


def judge_cannot_compete(
    outcomes: Outcomes, names: Sequence[str] = PAPER_DATA, by: float = 1.0, judged: str = JUDGED
) -> Judgement:
    """Ahead of both by a factor at every ε but 1, the paper's own exception; and where not, from which ε on."""
    standing = Standing(Sweep(outcomes), names, judged=judged)
    ahead, unsure, behind = (standing.where(answer, by) for answer in (True, None, False))
    worthless = [case for case in ahead if standing.useful(case) is False]
    by_what = "ahead of both" if by == 1 else f"ahead of both by more than a factor of {by:g}"
    measured = (
        f"Compressive with {DECODERS[judged]} is {by_what} in {len(ahead)} of {len(standing.cases)} cases (data × ε), "
        f"and in {len(worthless)} of those publishing zeros is nearer still ({_others(standing, by)}); in "
        f"{len(unsure)} the 95 % intervals do not tell."
    )
    measured = told(outcomes, names, measured)
    sure, possible = standing.ahead_from(ahead), standing.ahead_from([*ahead, *unsure])
    if possible is None:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if sure is None:
        return Judgement(Verdict.UNDECIDED, measured)
    if not any(standing.useful(case) for case in ahead):
        still = "is nearer still" if len(worthless) == len(ahead) else "may be nearer still"
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε ≤ {sure}, where publishing zeros {still}")
    if any(case.epsilon != "1" for case in behind):
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε ≤ {sure}")
    doubtful = any(case.epsilon != "1" for case in unsure)
    return Judgement(Verdict.UNDECIDED if doubtful else Verdict.HOLDS, measured)


def _others(standing: Standing, by: float) -> str:
    """The same of the other decoders, in few words."""
    parts = []
    for judged, shown in DECODERS.items():
        if judged != standing.judged and judged in standing.sweep.mechanisms:
            other = replace(standing, judged=judged)
            ahead = other.where(True, by)
            parts.append(f"with {shown} {len(ahead)} and {sum(other.useful(case) is False for case in ahead)}")
    return ", ".join(parts)


def judge_order_of_magnitude(outcomes: Outcomes) -> Judgement:
    """Ten times nearer than the better of the two; what is worse than publishing zeros is no improvement."""
    standing = Standing(Sweep(outcomes), PAPER_DATA)
    largest = standing.best()
    assert largest is not None  # noqa: S101  # there is always a case
    parts = [f"with {shown} {_at_best(replace(standing, judged=judged))}" for judged, shown in PRIVATE.items()]
    measured = (
        f"With CoSaMP the largest advantage over the better of Laplace and HRMS is {largest[0].with_ends} times "
        f"({largest[1]}). Where it is surely nearer than publishing zeros, the largest is {'; '.join(parts)}. (An "
        f"order of magnitude: {ORDER_OF_MAGNITUDE}.)"
    )
    ours = replace(standing, judged=OURS)
    return _first_true(
        told(outcomes, PAPER_DATA, measured),
        standing.somewhere(ORDER_OF_MAGNITUDE, only_useful=True),
        (ours.somewhere(ORDER_OF_MAGNITUDE, only_useful=True), "with a better decoder"),
        (standing.somewhere(ORDER_OF_MAGNITUDE, only_useful=False), "where publishing zeros is nearer than either"),
    )


def _at_best(standing: Standing) -> str:
    best = standing.best(only_useful=True)
    if best is None:
        return "none, as it never is"
    if best[0].log <= 0:
        return f"none (at best {best[0]} times, {best[1]})"
    return f"{best[0].with_ends} times ({best[1]})"


def judge_much_more_accurate(outcomes: Outcomes) -> Judgement:
    """Some case in which it is twice as near as all of them, and nearer than zeros."""
    sweep = Sweep(outcomes)
    parts, answers = [], {}
    for judged, shown in PRIVATE.items():
        standing = Standing(sweep, PAPER_DATA, PREVIOUS, judged)
        ahead = standing.where(True, MUCH)
        good = [case for case in ahead if standing.useful(case)]
        answers[judged] = standing.somewhere(MUCH, only_useful=True)
        where = f" ({listed([str(case) for case in good])})" if good else ""
        parts.append(
            f"with {shown} in {len(ahead)} of {len(standing.cases)} cases, and in {len(good)} of those nearer "
            f"than zeros{where}"
        )
    measured = (
        f"“Much”: at least {MUCH} times nearer than Laplace, HRMS and Privelet, beyond the 95 % intervals: "
        f"{'; '.join(parts)}."
    )
    return _first_true(
        told(outcomes, PAPER_DATA, measured),
        answers[JUDGED],
        (answers[OURS], "with a better decoder than the paper's"),
    )


def _first_true(measured: str, holds: Answer, *conditions: tuple[Answer, str]) -> Judgement:
    """It holds, or under the first condition that is surely met; not at all only if surely none is."""
    if holds is not False:
        return Judgement(Verdict.HOLDS if holds else Verdict.UNDECIDED, measured)
    for answer, only in conditions:
        if answer:
            return Judgement(Verdict.HOLDS_ONLY, measured, only)
    open_ones = any(answer is None for answer, _ in conditions)
    return Judgement(Verdict.UNDECIDED if open_ones else Verdict.DOES_NOT_HOLD, measured)
