"""A ledger for one process: check, debit, and only then may noise be drawn."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import NoReturn

from sparsedp import validate
from sparsedp.errors import BudgetExceeded, InvalidInput, PrivateSide
from sparsedp.privacy.budget import Budget


@dataclass(frozen=True)
class Entry:
    """One spend: how much and on what."""

    spent: Budget
    purpose: str


class Ledger:
    """Keeps the total that may be spent on one data set and refuses what would exceed it.

    >>> ledger = Ledger(epsilon=1)
    >>> ledger.debit(Budget(epsilon="0.3"), "monthly table")
    >>> str(ledger.remaining)
    'ε = 0.7'

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

    def debit(self, budget: Budget, purpose: str) -> None:
        """Take `budget` off what remains, or raise `BudgetExceeded` and take nothing."""
        if os.getpid() != self._process:
            raise PrivateSide("This ledger belongs to another process; debit it there, where the total is kept.")
        with self._lock:
            if (budget.rho is None) != (self.total.rho is None):
                kind = "rho" if self.total.rho is not None else "epsilon"
                raise InvalidInput("budget", f"{budget}", f"this ledger is kept in {kind}")
            remaining = self.remaining
            if remaining is None or not remaining.covers(budget):
                raise BudgetExceeded(budget, remaining)
            self._entries.append(Entry(budget, purpose))

    def __repr__(self) -> str:
        return f"Ledger(total: {self.total}; left: {self.remaining or 'nothing'}; {len(self._entries)} spends)"

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A ledger cannot be copied or pickled: the copy would be a second budget for the same data.")

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy
    __reduce_ex__ = _refuse_copy
