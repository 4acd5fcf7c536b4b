"""A ledger for one process: check, debit, and only then may noise be drawn."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from sparsedp import validate
from sparsedp.errors import BudgetExceeded, InvalidInput, PrivateSide
from sparsedp.privacy.budget import Budget


@dataclass(frozen=True)
class Entry:
    """One spend: how much and on what."""

    spent: Budget
    purpose: str
    relation: str | None = None
    """Between which neighbours it was promised, if that is known: "add_remove" or "replace_one"."""


class Ledger:
    """Keeps the total that may be spent on one data set and refuses what would exceed it.

    >>> ledger = Ledger(epsilon=1)
    >>> ledger.debit(Budget(epsilon="0.3"), "monthly table")
    >>> str(ledger.remaining)
    'ε = 0.7'

    It is kept in what its total is given in: ε, (ε, δ) or ρ. Whatever is ε-private is ε²/2-zCDP, so a ledger in ρ also
    pays for pure ε; a ledger in ε, or in (ε, δ), is not charged in ρ, as a ρ says nothing until a δ is chosen.

    Budgets add up between the same neighbours only: what is ε between data with and without a person is up to 2ε
    between data with one person and with another. So all spends of one ledger are for the same relation.

    Safe between threads. A debit is never given back: once it is taken, noise may have been drawn. A copy would mint
    a second budget, so a ledger refuses to be copied, pickled, or used in a forked child.
    """

    def __init__(self, *, epsilon: object = None, rho: object = None, delta: object = 0) -> None:
        self._total = Budget(epsilon=epsilon, rho=rho, delta=delta)
        validate.budget("rho" if epsilon is None else "epsilon", self._total.rho or self._total.epsilon)
        self._entries: list[Entry] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def total(self) -> Budget:
        """All that may be spent; it cannot be changed."""
        return self._total

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every spend so far, in order."""
        return tuple(self._entries)

    @property
    def spent(self) -> Budget | None:
        """What has been spent, or None before the first spend."""
        total: Budget | None = None
        for entry in self._entries:
            total = entry.spent if total is None else total + entry.spent
        return total

    @property
    def remaining(self) -> Budget | None:
        """What is left, or None when nothing is."""
        spent = self.spent
        if spent is None:
            return self.total
        if self.total.rho is not None and spent.rho is not None:
            left = self.total.rho - spent.rho
            return Budget(rho=left) if left > 0 else None
        if self.total.epsilon is not None and spent.epsilon is not None:
            left = self.total.epsilon - spent.epsilon
            return Budget(epsilon=left, delta=self.total.delta - spent.delta) if left > 0 else None
        return None

    def debit(self, budget: Budget, purpose: str, *, rho: Fraction | None = None, relation: str | None = None) -> None:
        """Take `budget` off what remains, or raise `BudgetExceeded` and take nothing.

        `rho`: the ρ that was spent on a budget stated as (ε, δ), which is what a ledger in ρ is charged.
        `relation`: between which neighbours the budget is promised.
        """
        if os.getpid() != self._process:
            raise PrivateSide("This ledger belongs to another process; debit it there, where the total is kept.")
        with self._lock:
            self._refuse_other_neighbours(relation)
            charge = self._in_its_kind(budget, rho)
            remaining = self.remaining
            if remaining is None or not remaining.covers(charge):
                raise BudgetExceeded(charge, remaining)
            self._entries.append(Entry(charge, purpose, relation))

    def _refuse_other_neighbours(self, relation: str | None) -> None:
        kept = {entry.relation for entry in self._entries} - {None}
        if relation is not None and kept and relation not in kept:
            given = f"{relation!r} on a ledger whose spends are for {next(iter(kept))!r}"
            raise InvalidInput(
                "neighbours", given, "use the same, or another ledger (public totals need 'replace_one')"
            )

    def _in_its_kind(self, budget: Budget, rho: Fraction | None) -> Budget:
        """What the ledger is charged for a budget, or a refusal where no such charge would be true."""
        if self.total.rho is None:
            if budget.rho is not None:
                kind = "epsilon and delta" if self.total.delta else "epsilon"
                remedy = f"ask for {kind}, or keep the ledger in rho: a ρ has no δ to charge this one with"
                raise InvalidInput("budget", f"{budget} on a ledger that is kept in {kind}", remedy)
            if budget.delta and not self.total.delta:
                remedy = "ask for epsilon alone, or give the ledger a delta"
                raise InvalidInput("budget", f"{budget} on a ledger that has no delta", remedy)
            return budget
        if budget.rho is not None:
            return budget
        if rho is not None:
            return Budget(rho=rho).counted_for(budget.protects)
        if budget.delta or budget.epsilon is None:
            remedy = "say which rho was spent on it: (ε, δ) alone does not bound ρ"
            raise InvalidInput("budget", f"{budget} on a ledger that is kept in rho", remedy)
        return Budget(rho=budget.epsilon**2 / 2).counted_for(budget.protects)

    def __repr__(self) -> str:
        return f"Ledger(total: {self.total}; left: {self.remaining or 'nothing'}; {len(self._entries)} spends)"

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A ledger cannot be copied or pickled: the copy would be a second budget for the same data.")

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy
    __reduce_ex__ = _refuse_copy
