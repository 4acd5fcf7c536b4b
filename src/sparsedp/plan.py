"""A plan: the public choices a mechanism made before any noise was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsedp.privacy.guarantee import Expense
from sparsedp.recovery.plan import RecoveryPlan
from sparsedp.sensing import sensing_from
from sparsedp.sensing.base import Sensing


@dataclass(frozen=True)
class Plan:
    """Which mechanism, which Φ, which recovery; and what was spent on choosing them, if the choice saw the data."""

    mechanism: str
    sensing: Sensing
    recovery: RecoveryPlan
    choosing: tuple[Expense, ...] = ()

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Plan.from_description` gives it back (without `choosing`: see the guarantee)."""
        return {
            "mechanism": self.mechanism,
            "sensing": self.sensing.describe(),
            "recovery": self.recovery.describe(),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> Plan:
        """The plan that `describe` described."""
        recovery = RecoveryPlan(**description["recovery"])
        return cls(description["mechanism"], sensing_from(description["sensing"]), recovery)
