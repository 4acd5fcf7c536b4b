"""Whether the compressive mechanism beats its rivals, by how much, and whether that is worth anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, times, told
from sparsedp.experiments.paper.epsilon_sweep.contenders import FLOOR, JUDGED, RIVALS
from sparsedp.experiments.paper.epsilon_sweep.hindsight import KNOWN
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep
from sparsedp.experiments.paper.outcomes import Outcomes

ORDER_OF_MAGNITUDE, MUCH = 10, 2
OURS = "compressive tree"
PREVIOUS = ("laplace", "hierarchical", "privelet")
PRIVATE = {JUDGED: "CoSaMP", "compressive bp": "basis pursuit", OURS: "our decoder"}
DECODERS = {**PRIVATE, KNOWN: "CoSaMP and the best S known beforehand"}


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

    def advantage(self, case: Case) -> float:
        """The least error of the rivals over its own."""
        return min(self.sweep.ratio(case.data, case.epsilon, rival, self.judged).value for rival in self.rivals)

    def ahead(self, by: float = 1.0) -> list[Case]:
        """The cases in which it is nearer than every rival, by more than a factor."""
        return [case for case in self.cases if self.advantage(case) > by]

    def ahead_from(self, by: float = 1.0) -> str | None:
        """The largest ε from which on, down to the smallest, it is so on all data sets."""
        found, ahead = None, self.ahead(by)
        for epsilon in reversed(self.sweep.epsilons):
            if not all(Case(name, epsilon) in ahead for name in self.names):
                break
            found = epsilon
        return found

    def useful(self, case: Case) -> bool:
        """Whether it is nearer than zeros: anyone can publish those."""
        return self.sweep.ahead(case.data, case.epsilon, [FLOOR], self.judged)

    def best(self, *, only_useful: bool = False) -> tuple[float, Case] | None:
        """Its largest advantage, and where."""
        chosen = [case for case in self.cases if not only_useful or self.useful(case)]
        return max(((self.advantage(case), case) for case in chosen), key=lambda one: one[0], default=None)


def judge_cannot_compete(
    outcomes: Outcomes, names: Sequence[str] = PAPER_DATA, by: float = 1.0, judged: str = JUDGED
) -> Judgement:
    """Ahead of both by a factor at every ε but 1, the paper's own exception; and where not, from which ε on."""
    standing = Standing(Sweep(outcomes), names, judged=judged)
    ahead = standing.ahead(by)
    worthless = [case for case in ahead if not standing.useful(case)]
    by_what = "ahead of both" if by == 1 else f"ahead of both by more than a factor of {by:g}"
    measured = (
        f"Compressive with {DECODERS[judged]} is {by_what} in {len(ahead)} of {len(standing.cases)} cases (data × ε), "
        f"and in {len(worthless)} of those publishing zeros is nearer still ({_others(standing, by)})."
    )
    measured = told(outcomes, names, measured)
    whole = standing.ahead_from(by)
    if whole is None:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if len(worthless) == len(ahead):
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε ≤ {whole}, where publishing zeros is nearer still")
    if any(case.epsilon != "1" and case not in ahead for case in standing.cases):
        return Judgement(Verdict.HOLDS_ONLY, measured, f"for ε ≤ {whole}")
    return Judgement(Verdict.HOLDS, measured)


def _others(standing: Standing, by: float) -> str:
    """The same of the other decoders, in few words."""
    parts = []
    for judged, shown in DECODERS.items():
        if judged != standing.judged and judged in standing.sweep.mechanisms:
            other = replace(standing, judged=judged)
            ahead = other.ahead(by)
            parts.append(f"with {shown} {len(ahead)} and {sum(not other.useful(case) for case in ahead)}")
    return ", ".join(parts)


def judge_order_of_magnitude(outcomes: Outcomes) -> Judgement:
    """Ten times nearer than the better of the two; what is worse than publishing zeros is no improvement."""
    standing = Standing(Sweep(outcomes), PAPER_DATA)
    largest = standing.best()
    assert largest is not None  # noqa: S101  # there is always a case
    parts = [f"The largest advantage over the better of Laplace and HRMS is {times(largest[0])} times ({largest[1]})"]
    useful = {}
    for judged, shown in PRIVATE.items():
        best = replace(standing, judged=judged).best(only_useful=True)
        useful[judged] = 0.0 if best is None else best[0]
        where = "none" if best is None else f"{times(best[0])} times ({best[1]})"
        parts.append(f"with {shown} {where}")
    measured = f"{parts[0]}. Where it is nearer than publishing zeros, the largest is {'; '.join(parts[1:])}."
    measured = told(outcomes, PAPER_DATA, measured)
    if useful[JUDGED] >= ORDER_OF_MAGNITUDE:
        return Judgement(Verdict.HOLDS, measured)
    if useful[OURS] >= ORDER_OF_MAGNITUDE:
        return Judgement(Verdict.HOLDS_ONLY, measured, "with a better decoder")
    if largest[0] >= ORDER_OF_MAGNITUDE:
        return Judgement(Verdict.HOLDS_ONLY, measured, "where publishing zeros is nearer than either")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_much_more_accurate(outcomes: Outcomes) -> Judgement:
    """Some case in which it is twice as near as all of them, and nearer than zeros."""
    sweep = Sweep(outcomes)
    parts, good = [], {}
    for judged, shown in PRIVATE.items():
        standing = Standing(sweep, PAPER_DATA, PREVIOUS, judged)
        ahead = standing.ahead(MUCH)
        good[judged] = [case for case in ahead if standing.useful(case)]
        where = f" ({listed([str(case) for case in good[judged]])})" if good[judged] else ""
        parts.append(
            f"with {shown} in {len(ahead)} of {len(standing.cases)} cases, and in {len(good[judged])} of those nearer "
            f"than zeros{where}"
        )
    measured = f"At least {MUCH} times nearer than Laplace, HRMS and Privelet: {'; '.join(parts)}."
    measured = told(outcomes, PAPER_DATA, measured)
    if good[JUDGED]:
        return Judgement(Verdict.HOLDS, measured)
    if good[OURS]:
        return Judgement(Verdict.HOLDS_ONLY, measured, "with a better decoder than the paper's")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)
