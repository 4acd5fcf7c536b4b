"""How a contender stands against its rivals on every data set at every ε, and whether a lead is worth anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparsedp.experiments.paper.deciding import Answer, every
from sparsedp.experiments.paper.epsilon_sweep.contenders import FLOOR, JUDGED, RIVALS
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Ratio, Sweep, some


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
