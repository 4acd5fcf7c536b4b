"""What may be spent on one data set, and the one public rule by which spends are counted against it (`ledger.md`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add

from sparsedp import validate
from sparsedp.errors import BudgetExceeded, InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import delta_of, rho_for
from sparsedp.privacy.spend import Spend

COMPOSITIONS = {"basic": "ε and δ add up", "zcdp": "everything is counted in ρ"}
"""The rules. A total in ρ is counted in ρ; one in (ε, δ) by either rule; one in ε alone adds up."""


@dataclass(frozen=True)
class Allowance:
    """A total and its rule, fixed when they are declared: the sum of all charges stays within `limit`."""

    total: Budget
    composition: str
    limit: Budget
    """What the charges add up against: the total itself, or the ρ that gives it."""

    @classmethod
    def of(
        cls, *, epsilon: object = None, rho: object = None, delta: object = None, composition: str = "basic"
    ) -> Allowance:
        """The allowance that a caller declares, or what contradicts itself in it."""
        validate.one_of("composition", composition, COMPOSITIONS)
        if isinstance(epsilon, Budget):
            total = epsilon
            if rho is not None or delta:
                raise InvalidInput("epsilon", "a Budget beside rho or delta", "leave those out: the budget says it all")
        else:
            total = Budget(epsilon=epsilon, rho=rho, delta=0 if delta is None else delta)
        validate.budget("rho" if total.epsilon is None else "epsilon", total.rho or total.epsilon)
        if total.delta:
            validate.budget("delta", total.delta)
        if total.rho is not None:
            return cls(total, "zcdp", total)
        if composition == "basic":
            return cls(total, composition, total)
        if not total.delta:
            raise InvalidInput("composition", "'zcdp' for a total without delta", "give delta= too, or leave it out")
        return cls(total, composition, Budget(rho=rho_for(total.epsilon, total.delta)))

    @classmethod
    def restored(cls, total: Budget, composition: str, limit: Budget) -> Allowance:
        """The same from a file: the limit as it was declared, checked to give the total."""
        if composition not in COMPOSITIONS or (limit != total and not _gives(limit, total)):
            raise InvalidInput("limit", f"{limit} for {total}", "it does not follow")
        return cls(total, composition, limit)

    def charge(self, budget: Budget, rho: Fraction | None) -> Budget:
        """What is charged for a budget, or a refusal where no such charge would be true."""
        if self.limit.rho is None:
            return self._charge_in_epsilon(budget)
        if budget.rho is not None:
            return budget
        if rho is not None:
            return Budget(rho=rho).counted_for(budget.protects)
        if budget.delta or budget.epsilon is None:
            remedy = "say which rho was spent on it: (ε, δ) alone does not bound ρ"
            raise InvalidInput("budget", f"{budget} on a ledger that is kept in rho", remedy)
        return Budget(rho=budget.epsilon**2 / 2).counted_for(budget.protects)

    def _charge_in_epsilon(self, budget: Budget) -> Budget:
        if budget.rho is not None:
            kind = "epsilon and delta" if self.total.delta else "epsilon"
            remedy = f"ask for {kind}, or keep the ledger in rho: a ρ has no δ to charge this one with"
            if self.total.delta:
                remedy += " (or declare it with composition='zcdp', which takes ε, ρ and (ε, δ))"
            raise InvalidInput("budget", f"{budget} on a ledger that is kept in {kind}", remedy)
        if budget.delta and not self.total.delta:
            remedy = "ask for epsilon alone, or give the ledger a delta"
            raise InvalidInput("budget", f"{budget} on a ledger that has no delta", remedy)
        return budget

    def left(self, spends: Iterable[Spend]) -> Budget | None:
        """What is left after these spends, or None when nothing is: summed anew, every time."""
        spent = spent_on(spends)
        if spent is None:
            return self.limit
        if self.limit.rho is not None and spent.rho is not None:
            left = self.limit.rho - spent.rho
            return Budget(rho=left) if left > 0 else None
        if self.limit.epsilon is not None and spent.epsilon is not None:
            left, small = self.limit.epsilon - spent.epsilon, self.limit.delta - spent.delta
            return Budget(epsilon=left, delta=small) if left > 0 and small >= 0 else None
        return None

    def check(self, charge: Budget, spends: Iterable[Spend]) -> None:
        """Refuse a charge that would exceed what is left after these spends."""
        left = self.left(spends)
        if left is None or not left.covers(charge):
            raise BudgetExceeded(charge, left)

    def __str__(self) -> str:
        return f"{self.total}" if self.limit == self.total else f"{self.total} (counted as {self.limit})"


def spent_on(spends: Iterable[Spend]) -> Budget | None:
    """The sum of what was charged; None of nothing."""
    charges = [spend.spent for spend in spends]
    return reduce(add, charges) if charges else None


def _gives(limit: Budget, total: Budget) -> bool:
    """Whether everything within a limit in ρ is within a total in (ε, δ)."""
    if limit.rho is None or total.epsilon is None:
        return False
    return delta_of(limit.rho, total.epsilon) <= total.delta
