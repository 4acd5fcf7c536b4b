"""The promise that travels with everything published: what was spent, on what, and whom it protects."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import delta_of
from sparsedp.privacy.neighbours import Neighbours


@dataclass(frozen=True)
class Expense:
    """One part of the budget and what it bought."""

    purpose: str
    budget: Budget


_INTRUSIONS = {
    "one": "it holds beside an intruder who sees the stream's state once",
    "any": "it holds beside an intruder who sees the stream's state any number of times",
}


@dataclass(frozen=True)
class Guarantee:
    """Differential privacy of `spent` between `neighbours`; void when the noise was seeded (`private=False`)."""

    expenses: tuple[Expense, ...]
    neighbours: Neighbours
    private: bool
    intrusions: str | None = None
    """How often an intruder may see a stream's state, beside everything published, without weakening the promise."""
    stated: Budget | None = None
    """The (ε, δ) that was asked for, where the expenses are in ρ; it is checked to follow from their sum."""
    counts: Guarantee | None = None
    """Of sums with counts beside them: what the counts cost on top, between the same people. All of it adds up."""

    def __post_init__(self) -> None:
        if not self.expenses or not all(isinstance(expense.purpose, str) for expense in self.expenses):
            raise InvalidInput("guarantee", "without an expense that says what it bought", "give at least one")
        if self.intrusions is not None:
            validate.one_of("intrusions", self.intrusions, _INTRUSIONS)
        if self.counts is not None and not self._has_such(self.counts):
            raise InvalidInput("guarantee", "for others than the counts beside the sums", "both are of the same people")
        if self.stated is not None and not _follows(self.stated, self.rho):
            raise InvalidInput("guarantee", f"stated as {self.stated}", f"{self.total} does not give that much")

    def _has_such(self, counts: Guarantee) -> bool:
        """Whether counts of the very records that were summed may have this promise."""
        ours, theirs = self.neighbours, counts.neighbours
        alone = counts.counts is None and counts.stated is None and counts.intrusions is None
        return alone and counts.private == self.private and ours.is_of_sums_of(theirs)

    @property
    def total(self) -> Budget:
        """The sum of all expenses, in what they were paid in; of the counts beside sums, too."""
        parts = self.expenses if self.counts is None else (*self.expenses, *self.counts.expenses)
        return reduce(add, (expense.budget for expense in parts))

    @property
    def rho(self) -> Fraction | None:
        """The ρ of the zero-concentrated promise, where the expenses are in ρ."""
        return self.total.rho

    @property
    def spent(self) -> Budget:
        """What the whole release is charged at: the sum of all expenses, or the (ε, δ) that was asked for."""
        return (self.stated or self.total).counted_for(self.neighbours.protects)

    def __str__(self) -> str:
        if not self.private:
            return "NOT PRIVATE: the noise came from a test source and protects nobody."
        pan_private = "" if self.intrusions is None else f" Pan-private: {_INTRUSIONS[self.intrusions]}."
        return f"Differentially private with {self._amount}, for {self.whom}.{pan_private}"

    @property
    def whom(self) -> str:
        """Between which tables it holds, in words."""
        return self.neighbours.beside(None if self.counts is None else self.counts.neighbours)

    @property
    def _amount(self) -> str:
        """ε; or (ε, δ) and the ρ that it follows from; or ρ, and what sort of number that is."""
        if self.rho is None:
            return self.spent.amount
        concentrated = f"{self.total.amount} (zero-concentrated, zCDP)"
        return concentrated if self.stated is None else f"{self.stated.amount}, from {concentrated}"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Guarantee.from_description` gives it back."""
        return {
            "expenses": [{"purpose": expense.purpose, **expense.budget.describe()} for expense in self.expenses],
            "neighbours": self.neighbours.describe(),
            "private": self.private,
            "statement": str(self),
            **({} if self.intrusions is None else {"intrusions": self.intrusions}),
            **({} if self.stated is None else {"stated": self.stated.describe()}),
            **({} if self.counts is None else {"counts": self.counts.describe()}),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> Guarantee:
        """The guarantee that `describe` described."""
        expenses = tuple(
            Expense(part["purpose"], Budget(**{name: value for name, value in part.items() if name != "purpose"}))
            for part in description["expenses"]
        )
        neighbours, private = Neighbours(**description["neighbours"]), description["private"] is True
        stated = Budget(**description["stated"]) if "stated" in description else None
        counts = cls.from_description(description["counts"]) if "counts" in description else None
        return cls(expenses, neighbours, private, description.get("intrusions"), stated, counts)


def _follows(stated: Budget, rho: Fraction | None) -> bool:
    """Whether everything that is ρ-zCDP is (ε, δ)-DP as stated."""
    return rho is not None and stated.epsilon is not None and delta_of(rho, stated.epsilon) <= stated.delta
