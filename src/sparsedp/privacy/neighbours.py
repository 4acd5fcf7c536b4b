"""Who is protected: which data sets must look alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsedp import validate

RELATIONS = {"add_remove": 1, "replace_one": 2}
"""How many times the contribution bound two neighbouring count vectors may differ by, in L1."""


@dataclass(frozen=True)
class Neighbours:
    """Two count vectors are neighbours when one person was added or removed (or replaced by another).

    `contribution` is the most that one person can change the counts, in L1: the sum over all cells of how much the
    cells change. For counts handed over ready-made it is the caller's promise. The guarantee of every mechanism is
    for vectors at most `distance` apart: `contribution` for add/remove, twice that for replace-one.
    """

    contribution: int = 1
    relation: str = "add_remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "contribution", validate.whole("contribution", self.contribution, most=2**32))
        validate.one_of("neighbours", self.relation, RELATIONS)

    @property
    def distance(self) -> int:
        """The largest ‖D − D′‖₁ between neighbours."""
        return self.contribution * RELATIONS[self.relation]

    def __str__(self) -> str:
        if self.relation == "replace_one":
            bound = f"at most {self.contribution} in total (promised by the caller)"
            return f"replacing one person by another, each of whom adds {bound} to the counts"
        bound = f"at most {self.contribution} in total (promised by the caller)"
        return f"adding or removing one person, who changes the counts by {bound}"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Neighbours(**description)` gives it back."""
        return {"contribution": self.contribution, "relation": self.relation}
