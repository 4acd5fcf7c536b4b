"""What is tortured: something that works, is harmed, and is judged afterwards."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from torture.process import Fault, Place, Prepare, any_fault, apart, at_call, signalled_by

STAGES = ("before debit", "after debit", "after store", "after delivery")
"""How far the work had come when the fault ended it, or was met."""


@dataclass(frozen=True)
class Verdict:
    """What a fault did."""

    stage: str
    violations: tuple[str, ...] = ()
    hit: bool = True
    """False if the work was over before: such a fault is not counted."""


@dataclass
class Scenario(ABC):
    """One kind of work. It is made anew for every episode: several faults, one after the other, on the same files."""

    planted: Prepare | None = None
    """A mistake that is put into every worker, to see that it is found."""
    usual: float = field(default=1.0, init=False)
    """Seconds of an unharmed run."""
    chance: random.Random = field(default_factory=random.Random, init=False)
    """Decides when a fault comes."""

    faults_of_an_episode: ClassVar[int] = 6
    named: ClassVar[float] = 0.35
    """How often a signal comes at a named point."""
    places: ClassVar[tuple[str, ...]] = ()
    """Which of its folders can become read-only."""

    @property
    @abstractmethod
    def name(self) -> str:
        """In the table."""

    @property
    @abstractmethod
    def points(self) -> tuple[str, ...]:
        """Named points at which a signal can come."""

    @abstractmethod
    def prepare(self, place: Place) -> None:
        """Lay out what the work needs."""

    @abstractmethod
    def measure(self, place: Place) -> float:
        """The seconds of an unharmed run."""

    @abstractmethod
    def harm(self, place: Place, fault: Fault) -> Verdict:
        """Run, be harmed, and check all that must hold; then run unharmed, and check again."""

    def fault(self, kind: str, chance: random.Random) -> Fault:
        """Any fault of that kind."""
        return any_fault(kind, chance, self.points, self.places, self.named)

    def prepared(self, fault: Fault) -> Callable[[], None]:
        """In a worker, before it begins: the planted mistake, and the named point if there is one."""

        def prepare() -> None:
            if self.planted is not None:
                self.planted()
            if fault.point is not None:
                at_point(fault)

        return prepare

    def judged(self, judge: Callable[[], Verdict]) -> Verdict:
        """The judge's word, given in a fork; a judge who fails has found something, too."""
        try:
            return apart(judge)
        except RuntimeError as error:
            return Verdict(STAGES[0], (f"what was left could not be used: {str(error)[-900:]}",))


LEDGER_POINTS = ("before the debit", "before the commit", "debited", "synopsis written", "stored", "delivered")
"""Where a ledger tells that it has come to."""


def at_point(fault: Fault) -> None:
    """Send this process the fault's signal at a named point of a ledger."""
    from sparsedp.privacy.ledger_file.store import LedgerStore

    harm = signalled_by(fault)
    begin = LedgerStore.__init__

    def begun(self: LedgerStore, *arguments: Any) -> None:
        begin(self, *arguments)
        self.reached = lambda point: harm() if point == fault.point else None

    LedgerStore.__init__ = begun  # type: ignore[method-assign, assignment]


def at_method(fault: Fault, owner: type, method: str, *, after: bool = False, number: int = 1) -> None:
    """The same at a call of a method."""
    at_call(owner, method, signalled_by(fault), after=after, number=number)
