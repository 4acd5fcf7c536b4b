"""How a contribution bound was kept: by capping the records of each person while they were counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput


@dataclass(frozen=True)
class Counted:
    """At most `records` records with the same `unit` were counted; without a unit, every record is another person's.

    `resolution` is the step that sums are counted in, so that a bound in steps can be told in the value's own unit.
    """

    unit: tuple[str, ...] | None
    records: int
    resolution: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        unit = self.unit
        if unit is not None:
            if isinstance(unit, str) or not unit or not all(isinstance(column, str) for column in unit):
                raise InvalidInput("unit", "not a list of columns", "give the columns that say whose a record is")
            object.__setattr__(self, "unit", tuple(unit))
        object.__setattr__(self, "records", validate.whole("max_contributions", self.records))
        object.__setattr__(self, "resolution", validate.positive("resolution", self.resolution))

    @property
    def whose(self) -> str:
        """Whom a neighbouring table has or has not, in words."""
        if self.unit is None:
            return "one record"
        return f"one person (all records with the same {' and '.join(self.unit)})"

    @property
    def how(self) -> str:
        """On what the bound rests, in words."""
        if self.unit is None:
            return "declared: every record is another person's"
        return f"enforced: of each, at most {self.records} record{'s' if self.records > 1 else ''} counted"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Counted.from_description` gives it back."""
        step = {} if self.resolution == 1 else {"resolution": str(self.resolution)}
        return {"unit": None if self.unit is None else list(self.unit), "records": self.records, **step}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Counted:
        """What `describe` described."""
        return cls(description["unit"], description["records"], description.get("resolution", Fraction(1)))
