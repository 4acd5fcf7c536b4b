"""What the cells count: records, or the sum of a value on a declared grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable

if TYPE_CHECKING:
    from sparsedp.arrays import Floats
    from sparsedp.domain import Domain


@dataclass(frozen=True)
class Quantity:
    """Records (`value` is None), or the sum of the column `value` in steps of `resolution`.

    Before the noise every cell is a whole number of steps; a release multiplies its estimates by the resolution, so
    that people read them in the column's own unit.

    >>> print(Quantity("amount", "0.01"), Quantity())
    total amount records
    """

    value: str | None = None
    resolution: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", validate.positive("resolution", self.resolution))
        if self.value is None and self.resolution != 1:
            raise InvalidInput("resolution", validate.shown(self.resolution), "give it with a value column only")
        if self.value is not None and not (isinstance(self.value, str) and self.value):
            raise InvalidInput("value", f"of type {type(self.value).__name__}", "give the name of the summed column")

    @property
    def column(self) -> str:
        """The column of a file that holds the estimates: "count", or "total" of a value."""
        return "count" if self.value is None else "total"

    def in_units(self, steps: Floats) -> Floats:
        """Whole or estimated steps in the column's own unit; each is the float nearest to the exact product, or next
        to it."""
        if self.resolution == 1:
            return steps
        # One product and one quotient: 123 steps of 1/100 are 1.23, and not 1.2300000000000002.
        return np.asarray(steps * float(self.resolution.numerator) / float(self.resolution.denominator))

    def check_columns(self, domain: Domain) -> None:
        """No axis may take the column that holds the estimates: said before anything is spent."""
        for axis in domain.axes:
            if self.column in axis.column_names:
                given = f"with an axis {axis.name!r} that needs the column {self.column!r}, which holds the sums"
                raise InvalidInput("domain", given, "rename the axis")

    def __str__(self) -> str:
        return "records" if self.value is None else printable(f"total {self.value}")

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Quantity.from_description` gives it back."""
        return {"value": self.value, "resolution": str(self.resolution)}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Quantity:
        """The quantity that `describe` described."""
        return cls(description["value"], validate.exact_number("resolution", description["resolution"]))


RECORDS = Quantity()
