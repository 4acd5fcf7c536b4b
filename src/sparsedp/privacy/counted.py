"""How a contribution bound was kept: by capping the records of each person while they were counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable


@dataclass(frozen=True)
class Counted:
    """At most `records` records with the same `unit` were counted; without a unit, every record is another person's.

    `resolution` is the step that sums are counted in, so that a bound in steps can be told in the value's own unit.
    `multiline` is a weakness that was declared: fields of the CSV may hold line ends, so that one stray quote can drop
    other people's records, and the bound does not cover that.
    """

    unit: tuple[str, ...] | None
    records: int
    resolution: Fraction = Fraction(1)
    multiline: bool = False

    def __post_init__(self) -> None:
        unit = self.unit
        if unit is not None:
            if isinstance(unit, str) or not unit or not all(isinstance(column, str) for column in unit):
                raise InvalidInput("unit", "not a list of columns", "give the columns that say whose a record is")
            object.__setattr__(self, "unit", tuple(unit))
        object.__setattr__(self, "records", validate.whole("max_contributions", self.records))
        object.__setattr__(self, "resolution", validate.positive("resolution", self.resolution))
        validate.yes_or_no("multiline", self.multiline)

    @property
    def whose(self) -> str:
        """Whom a neighbouring table has or has not, in words."""
        if self.unit is None:
            return "one record"
        return printable(f"one person (all records with the same {' and '.join(self.unit)})")

    @property
    def how(self) -> str:
        """On what the bound rests, in words."""
        if self.unit is None:
            return f"declared: every record is another person's{self._but}"
        return f"enforced: of each, at most {self.records} record{'s' if self.records > 1 else ''} counted{self._but}"

    @property
    def _but(self) -> str:
        if not self.multiline:
            return ""
        return (
            "; but fields of several lines were declared, so a stray quote of one person can drop other people's "
            "records, and the bound does not cover that"
        )

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Counted.from_description` gives it back."""
        step = {} if self.resolution == 1 else {"resolution": str(self.resolution)}
        across = {"multiline": True} if self.multiline else {}
        return {"unit": None if self.unit is None else list(self.unit), "records": self.records, **step, **across}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Counted:
        """What `describe` described."""
        resolution, multiline = description.get("resolution", Fraction(1)), description.get("multiline", False)
        return cls(description["unit"], description["records"], resolution, multiline)
