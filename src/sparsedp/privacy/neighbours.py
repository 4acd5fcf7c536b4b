"""Who is protected: which data sets must look alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput

RELATIONS = {"add_remove": 1, "replace_one": 2}
"""How many times the contribution bound two neighbouring count vectors may differ by, in L1."""


UNITS = {
    "person": "one person over the whole stream",
    "event": "one event, so m times as much for a person with m events",
}
"""Whom the guarantee of a stream protects, and how to say so."""


@dataclass(frozen=True)
class Neighbours:
    """Two count vectors are neighbours when one person was added or removed (or replaced by another).

    `contribution` is the most that one person can change the counts, in L1: the sum over all cells of how much the
    cells change. For counts handed over ready-made it is the caller's promise. The guarantee of every mechanism is
    for vectors at most `distance` apart: `contribution` for add/remove, twice that for replace-one.

    `unit` is for streams, where a person comes again: "person" when `contribution` bounds all that one person ever
    adds, over all ticks; "event" when it bounds what one event adds. The arithmetic is the same, the promise is not.
    """

    contribution: int = 1
    relation: str = "add_remove"
    unit: str | None = None
    invariant: bool = False
    """Whether sums of the counts were declared public: neighbours then have the same ones, which are not protected."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "contribution", validate.whole("contribution", self.contribution, most=2**32))
        validate.one_of("neighbours", self.relation, RELATIONS)
        if self.unit is not None:
            validate.one_of("unit", self.unit, UNITS)
        if self.invariant and self.relation != "replace_one":
            given = f"{self.relation!r} beside public totals, which adding or removing a person would change"
            raise InvalidInput("neighbours", given, "give 'replace_one'")

    @property
    def distance(self) -> int:
        """The largest ‖D − D′‖₁ between neighbours."""
        return self.contribution * RELATIONS[self.relation]

    def __str__(self) -> str:
        who, noun = ("one event, which", "event") if self.unit == "event" else ("one person, who", "person")
        when = " over the whole stream" if self.unit == "person" else ""
        bound = f"at most {self.contribution} in total{when} (promised by the caller)"
        if self.relation == "replace_one":
            which = "which" if self.unit == "event" else "whom"
            same = (
                " and leaves the totals declared public as they are, which are not protected" if self.invariant else ""
            )
            return f"replacing one {noun} by another, each of {which} adds {bound} to the counts{same}"
        return f"adding or removing {who} changes the counts by {bound}"

    @property
    def protects(self) -> str | None:
        """Whom a stream's budget is for, in words; None for a release that was made once."""
        return None if self.unit is None else UNITS[self.unit]

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Neighbours(**description)` gives it back."""
        unit = {} if self.unit is None else {"unit": self.unit}
        invariant = {"invariant": True} if self.invariant else {}
        return {"contribution": self.contribution, "relation": self.relation, **unit, **invariant}
