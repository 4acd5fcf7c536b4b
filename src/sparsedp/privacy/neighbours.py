"""Who is protected: which data sets must look alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable

RELATIONS = {"add_remove": 1, "replace_one": 2}
"""How many times the contribution bound two neighbouring count vectors may differ by, in L1."""

MOST_CONTRIBUTION = 2**48
"""The largest bound; noise too wide for 64 bits is refused long before, by what the budget makes of it."""

UNITS = {
    "person": "one person over the whole stream",
    "event": "one event, so m times as much for a person with m events",
}
"""Whom the guarantee of a stream protects, and how to say so."""


@dataclass(frozen=True)
class Neighbours:
    """Two count vectors are neighbours when one person was added or removed (or replaced by another).

    `contribution` is the most that one person can change the counts, in L1: the sum over all cells of how much the
    cells change. For counts handed over ready-made it is the caller's promise; where `counted` is given, it was
    enforced while records were counted. The guarantee of every mechanism is for vectors at most `distance` apart:
    `contribution` for add/remove, twice that for replace-one.

    `unit` is for streams, where a person comes again: "person" when `contribution` bounds all that one person ever
    adds, over all ticks; "event" when it bounds what one event adds. The arithmetic is the same, the promise is not.
    """

    contribution: int = 1
    relation: str = "add_remove"
    unit: str | None = None
    invariant: bool = False
    """Whether sums of the counts were declared public: neighbours then have the same ones, which are not protected."""

    counted: Counted | None = None
    """How the bound was enforced; None where it is the caller's promise."""

    def __post_init__(self) -> None:
        most = MOST_CONTRIBUTION
        object.__setattr__(self, "contribution", validate.whole("contribution", self.contribution, most=most))
        if isinstance(self.counted, Mapping):
            object.__setattr__(self, "counted", Counted.from_description(self.counted))
        if not isinstance(self.counted, Counted | None):
            given = f"of type {type(self.counted).__name__}"
            raise InvalidInput("counted", given, "say how the bound was enforced, or leave it out")
        validate.yes_or_no("invariant", self.invariant)
        validate.one_of("neighbours", self.relation, RELATIONS)
        if self.unit is not None:
            validate.one_of("unit", self.unit, UNITS)
        if self.invariant and self.relation != "replace_one":
            given = f"{self.relation!r} beside public totals, which adding or removing a person would change"
            raise InvalidInput("neighbours", given, "give 'replace_one'")

    @property
    def times(self) -> int:
        """How many people's part neighbours differ by."""
        return RELATIONS[self.relation]

    @property
    def distance(self) -> int:
        """The largest ‖D − D′‖₁ between neighbours."""
        return self.contribution * self.times

    def __str__(self) -> str:
        return self.beside(None)

    def beside(self, counts: Neighbours | None) -> str:
        """In words, where the records that were summed were counted, too."""
        who, noun, pronoun = self._whom
        noun = noun if counts is None else "sums"
        replaced = self.relation == "replace_one"
        also = "" if counts is None else f" and, beside them, the counts by at most {counts._shown_contribution}"
        if counts is not None and replaced:
            also = f" and at most {counts._shown_contribution} to the counts beside them"
        when = " over the whole stream" if self.unit == "person" else ""
        how = "promised by the caller" if self.counted is None else self.counted.how
        bound = f"at most {self._shown_contribution} in total{when} ({how})"
        if replaced:
            which = "whom" if pronoun == "who" else "which"
            same = (
                " and leaves the totals declared public as they are, which are not protected" if self.invariant else ""
            )
            return f"replacing {who} by another, each of {which} adds {bound} to the {noun}{also}{same}"
        return f"adding or removing {who}, {pronoun} changes the {noun} by {bound}{also}"

    def announced(self, counts: Neighbours | None, *, clamp_is_chosen: bool = False) -> str:
        """The same as a ledger is told it with the debit, when a look may be about to choose the bound or the clamp."""
        counted = self.counted
        if counted is None or not (counted.chosen or clamp_is_chosen):
            return self.beside(counts)
        whom = f"adding or removing {counted.whose}"
        if self.relation == "replace_one":
            whom = f"replacing {counted.whose} by another"
        what = "of whom as many records are counted as a private look chooses"
        if clamp_is_chosen:
            what = f"of whom at most {counted.records} records are summed, within bounds that a private look chooses"
        also = "" if counts is None else ", and counted beside the sums"
        return f"{whom}, {what}{also}{counted.but}"

    @property
    def _whom(self) -> tuple[str, str, str]:
        """Whom neighbours differ by, what is counted, and the pronoun that goes with it."""
        if self.counted is not None:
            sums = "counts" if self.counted.resolution == 1 else "sums"
            return self.counted.whose, sums, "which" if self.counted.unit is None else "who"
        return ("one event", "counts", "which") if self.unit == "event" else ("one person", "counts", "who")

    @property
    def _shown_contribution(self) -> str:
        """The bound in the unit that people read."""
        if self.counted is None:
            return str(self.contribution)
        return validate.shown(self.contribution * self.counted.resolution)

    def is_of_sums_of(self, counts: Neighbours) -> bool:
        """Whether these are neighbours by the sums of a value, and the others by the counts of the same records."""
        ours, theirs = self.counted, counts.counted
        if ours is None or theirs is None or self.relation != counts.relation or self.unit or counts.unit:
            return False
        enforced = counts.contribution == theirs.records and theirs == replace(ours, resolution=Fraction(1))
        return enforced and not (self.invariant or counts.invariant)

    @property
    def protects(self) -> str | None:
        """Whom a stream's budget is for, in words; None for a release that was made once."""
        return None if self.unit is None else UNITS[self.unit]

    @property
    def whom(self) -> str | None:
        """Whose privacy the budget is counted for, so that a ledger adds up nobody's with somebody else's.

        None for ready-made counts that are published once: whom a bound on "one person" speaks of is the caller's word.
        """
        whose = self.protects if self.counted is None else self.counted.whose
        if not self.invariant:
            return whose
        return f"{whose or 'one person'}, beside totals declared public"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Neighbours(**description)` gives it back."""
        unit = {} if self.unit is None else {"unit": self.unit}
        invariant = {"invariant": True} if self.invariant else {}
        counted = {} if self.counted is None else {"counted": self.counted.describe()}
        return {"contribution": self.contribution, "relation": self.relation, **unit, **invariant, **counted}


# How a contribution bound was kept: by capping the records of each person while they were counted.


@dataclass(frozen=True)
class Counted:
    """At most `records` records with the same `unit` were counted; without a unit, every record is another person's.

    `resolution` is the step that sums are counted in, so that a bound in steps can be told in the value's own unit.
    `multiline` is a weakness that was declared: fields of the CSV may hold line ends, so that one stray quote can drop
    other people's records, and the bound does not cover that. `chosen`: the bound came of a private look at the records
    (`ingest/contributions.md`), and the rest is private for that bound.
    """

    unit: tuple[str, ...] | None
    records: int
    resolution: Fraction = Fraction(1)
    multiline: bool = False
    chosen: bool = False

    def __post_init__(self) -> None:
        unit = self.unit
        if unit is not None:
            if isinstance(unit, str) or not unit or not all(isinstance(column, str) for column in unit):
                raise InvalidInput("unit", "not a list of columns", "give the columns that say whose a record is")
            object.__setattr__(self, "unit", tuple(unit))
        object.__setattr__(self, "records", validate.whole("max_contributions", self.records))
        object.__setattr__(self, "resolution", validate.positive("resolution", self.resolution))
        validate.yes_or_no("multiline", self.multiline)
        validate.yes_or_no("chosen", self.chosen)
        if self.chosen and self.unit is None:
            raise InvalidInput("chosen", "True where every record is another person's", "leave it out")

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
            return f"declared: every record is another person's{self.but}"
        chosen = ", a bound that a private look at the records chose" if self.chosen else ""
        records = f"{self.records} record{'s' if self.records > 1 else ''}"
        return f"enforced: of each, at most {records} counted{chosen}{self.but}"

    @property
    def but(self) -> str:
        """What the bound does not cover, if a weakness was declared."""
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
        chosen = {"chosen": True} if self.chosen else {}
        unit = None if self.unit is None else list(self.unit)
        return {"unit": unit, "records": self.records, **step, **across, **chosen}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Counted:
        """What `describe` described."""
        resolution, multiline = description.get("resolution", Fraction(1)), description.get("multiline", False)
        chosen = description.get("chosen", False)
        return cls(description["unit"], description["records"], resolution, multiline, chosen)
