"""A plan: the public choices a mechanism made before any noise was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsedp.axes.domain import RECORDS, Domain, Quantity
from sparsedp.constraints import Constraints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.privacy.guarantee import Expense
from sparsedp.sensing import sensing_from
from sparsedp.sensing.base import Sensing
from sparsedp.validate import named


@dataclass(frozen=True)
class Plan:
    """Which mechanism, which Φ, which recovery; and what was spent on choosing them, if the choice saw the data.

    The `domain` says what the cells are, row by row; a plain vector has none. `nonnegative` is what was declared of the
    counts, and so public too; `constraints`, what else was, in the whole steps that are measured. `quantity` says what
    a step is: one record, or so much of a summed value.
    """

    mechanism: str
    sensing: Sensing
    recovery: RecoveryPlan
    choosing: tuple[Expense, ...] = ()
    domain: Domain | None = None
    nonnegative: bool = False
    constraints: Constraints | None = None
    quantity: Quantity = RECORDS

    def __post_init__(self) -> None:
        if self.domain is not None and self.domain.size != self.sensing.n:
            given = f"of {self.domain.size} cells"
            raise InvalidInput("domain", given, f"the sensing matrix is for {self.sensing.n} cells")
        if self.domain is not None:
            if getattr(self.sensing, "shape", self.domain.shape) != self.domain.shape:
                raise InvalidInput("domain", f"of shape {self.domain.shape}", "the sensing matrix is for another shape")
            self.quantity.check_columns(self.domain)

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Plan.from_description` gives it back (without `choosing`: see the guarantee)."""
        return {
            "mechanism": self.mechanism,
            "sensing": self.sensing.describe(),
            "recovery": self.recovery.describe(),
            **({} if self.domain is None else {"domain": self.domain.describe()}),
            **({"nonnegative": True} if self.nonnegative else {}),
            **({} if self.constraints is None else {"constraints": self.constraints.describe()}),
            **({} if self.quantity == RECORDS else {"quantity": self.quantity.describe()}),
        }

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> Plan:
        """The plan that `describe` described."""
        recovery = RecoveryPlan(**description["recovery"])
        sensing = sensing_from(description["sensing"])
        return cls(
            named("mechanism", description["mechanism"]),
            sensing,
            recovery,
            domain=Domain.from_description(description["domain"]) if "domain" in description else None,
            nonnegative=description.get("nonnegative") is True,
            constraints=Constraints.from_description(description["constraints"], sensing.n)
            if "constraints" in description
            else None,
            quantity=Quantity.from_description(description["quantity"]) if "quantity" in description else RECORDS,
        )
