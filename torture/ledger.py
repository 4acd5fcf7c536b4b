"""Ledgers: debit, draw, store, deliver, again and again, until something happens."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sparsedp.errors import BudgetExceeded, SparsedpError
from sparsedp.files.whole_file import written_whole
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Spend
from sparsedp.privacy.ledger_file import open_ledger
from torture.process import RACE, Fault, Place, Tell, race, run, signalled_by
from torture.scenario import LEDGER_POINTS, STAGES, Scenario, Verdict, at_point

AMOUNT, SPENDS = Fraction(1, 8), 12
"""What one spend costs, and how many a worker makes."""

DRAWN = "noise drawn"


@dataclass
class Spending(Scenario):
    """A data set with a budget that many workers spend, one after the other or at once."""

    name = "ledger"
    points = (*LEDGER_POINTS, DRAWN)
    places = ("books",)
    faults_of_an_episode = 8

    def __post_init__(self) -> None:
        self._harmed = 0

    def prepare(self, place: Place) -> None:
        """A ledger that a few races would exhaust."""
        open_ledger(_books(place)).declare("visits", epsilon=AMOUNT * SPENDS * 40)

    def measure(self, place: Place) -> float:
        """A worker that spends to its end."""
        return run(place, _spend, prepare=self.planted).seconds

    def harm(self, place: Place, fault: Fault) -> Verdict:
        """Spend under the fault, then unharmed."""
        before = len(open_ledger(_books(place), "visits").entries)
        if fault.kind == RACE:
            ended = race(place, _spend, prepare=self.planted, after=self.usual / 2)
        else:
            ended = [run(place, _spend, fault, usual=self.usual, prepare=self._prepared(fault))]
        self._harmed += sum(each.code != 0 for each in ended)
        complaints = tuple(complaint for each in ended for complaint in each.complaints())
        found = self.judged(lambda: _judge(place, self._harmed, before))
        again = run(place, _spend, prepare=self.planted)
        if again.code:
            complaints += (f"it did not go on: {again.errors[-300:]}",)
        later = self.judged(lambda: _judge(place, self._harmed, before))
        new = dict.fromkeys((*found.violations, *later.violations, *complaints))
        return Verdict(found.stage, tuple(new), any(each.hit for each in ended))

    def _prepared(self, fault: Fault) -> _Prepared:
        return _Prepared(self, fault)


@dataclass(frozen=True)
class _Prepared:
    scenario: Spending
    fault: Fault

    def __call__(self) -> None:
        if self.scenario.planted is not None:
            self.scenario.planted()
        if self.fault.point == DRAWN:
            os.environ[DRAWN] = self.fault.kind
        elif self.fault.point is not None:
            at_point(self.fault)


def _books(place: Place) -> Path:
    return place / "books" / "budget.db"


class _Drawn:
    """Stands for a synopsis: it says whose it is."""

    def __init__(self, token: str) -> None:
        self._token = token

    def save(self, path: str | os.PathLike[str]) -> Path:
        return written_whole(Path(path), lambda file: file.write(self._token.encode()))


def _spend(place: Place, tell: Tell) -> int:
    """Take up what is unfinished, or debit; draw; store; deliver."""
    try:
        ledger = open_ledger(_books(place), "visits")
        for _ in range(SPENDS):
            spend = ledger.unfinished("the table")
            if spend is None or spend.synopsis_path is None:
                spend = ledger.debit(Budget(epsilon=AMOUNT), "laplace, 3 cells", request="the table")
                tell({"drew": spend.token})
                if DRAWN in os.environ:
                    signalled_by(Fault(os.environ[DRAWN]))()
                spend = ledger.settle(spend, _Drawn(spend.token))
                tell({"stored": spend.token})
            ledger.deliver(spend, f"release of {spend.token}")
            tell({"delivered": spend.token})
    except BudgetExceeded:
        tell({"exhausted": True})
    except SparsedpError as error:
        tell({"refused": str(error)})
        return 1
    return 0


def _judge(place: Place, harmed: int, before: int) -> Verdict:
    """Hold what was told against what the ledger says."""
    ledger = open_ledger(_books(place), "visits")
    entries = {spend.token: spend for spend in ledger.entries}
    told: dict[str, Counter[str]] = {"drew": Counter(), "stored": Counter(), "delivered": Counter()}
    violations = []
    for line in place.tellings():
        for what, token in line.items():
            if what in told:
                told[what][token] += 1
            if what == "refused" and (not str(token).endswith(".") or "\n" in str(token)):
                violations.append(f"a refusal is not one sentence: {token}")
    if len(entries) != len(ledger.entries):
        violations.append("two spends have one name")
    violations += [f"noise was drawn without a debit: {token}" for token in told["drew"] if token not in entries]
    violations += [f"noise was drawn twice for one debit: {token}" for token, n in told["drew"].items() if n > 1]
    violations += [
        f"what was stored is not there, or is another: {token}"
        for token in told["stored"]
        if token in entries and not _holds(ledger.stored(entries[token]))
    ]
    violations += [
        f"what was delivered is not recorded: {token}"
        for token in told["delivered"]
        if token not in entries or entries[token].state != "delivered"
    ]
    untold = len(entries) - len(told["drew"])
    if untold > harmed:
        violations.append(f"{untold} debits that nobody was told of, after {harmed} workers that were stopped")
    spent = ledger.spent
    if spent is not None and (spent.epsilon != AMOUNT * len(entries) or spent.epsilon > (ledger.total.epsilon or 0)):
        violations.append(f"{len(entries)} spends of {AMOUNT} come to {spent}")
    return Verdict(_stage(ledger.entries[before:]), tuple(violations))


def _holds(spend: Spend) -> bool:
    return spend.synopsis_path is not None and spend.synopsis_path.read_text() == spend.token


def _stage(new: tuple[Spend, ...]) -> str:
    states = {"debited": STAGES[1], "stored": STAGES[2], "delivered": STAGES[3]}
    return states[new[-1].state] if new else STAGES[0]
