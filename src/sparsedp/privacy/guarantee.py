"""The promise that travels with everything published: what was spent, on what, and whom it protects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from sparsedp import validate
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.neighbours import Neighbours


@dataclass(frozen=True)
class Expense:
    """One part of the budget and what it bought."""

    purpose: str
    budget: Budget


INTRUSIONS = {
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

    @property
    def spent(self) -> Budget:
        """The sum of all expenses: what the whole release is charged at."""
        total = reduce(add, (expense.budget for expense in self.expenses))
        return total.counted_for(self.neighbours.protects)

    def __post_init__(self) -> None:
        if self.intrusions is not None:
            validate.one_of("intrusions", self.intrusions, INTRUSIONS)

    def __str__(self) -> str:
        if not self.private:
            return "NOT PRIVATE: the noise came from a test source and protects nobody."
        pan_private = "" if self.intrusions is None else f" Pan-private: {INTRUSIONS[self.intrusions]}."
        return f"Differentially private with {self.spent.amount}, for {self.neighbours}.{pan_private}"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Guarantee.from_description` gives it back."""
        return {
            "expenses": [{"purpose": expense.purpose, **expense.budget.describe()} for expense in self.expenses],
            "neighbours": self.neighbours.describe(),
            "private": self.private,
            "statement": str(self),
            **({} if self.intrusions is None else {"intrusions": self.intrusions}),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> Guarantee:
        """The guarantee that `describe` described."""
        expenses = tuple(
            Expense(part["purpose"], Budget(**{name: value for name, value in part.items() if name != "purpose"}))
            for part in description["expenses"]
        )
        neighbours, private = Neighbours(**description["neighbours"]), description["private"] is True
        return cls(expenses, neighbours, private, description.get("intrusions"))
