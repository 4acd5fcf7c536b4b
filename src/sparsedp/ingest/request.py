"""What is asked of a count: which records, in which cells, and who is one person; checked before any is looked at.

Amounts are the values of a column as whole steps of a grid, within declared bounds: what sums of them are made of.
Every value is read as the nearest float (DOUBLE), also a decimal, a whole number and text; it is clamped, divided by
the resolution in floating point and rounded to the nearest step, halves away from zero; and clamped once more, as an
integer. A value that lies on the grid gets its exact step. One that lies within a rounding error of the middle of two
steps gets one of them. Infinite values are clamped like any other; what is no number is NULL.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from sparsedp import validate
from sparsedp.axes import Axis
from sparsedp.axes.domain import RECORDS, Domain, Quantity
from sparsedp.errors import InvalidInput
from sparsedp.ingest._cells import Outside, outside_of, real_number, sql_double
from sparsedp.ingest._columns import Needed, SourceColumn
from sparsedp.ingest._csv import Dialect, dialect_of
from sparsedp.privacy.neighbours import MOST_CONTRIBUTION, Counted
from sparsedp.releases.cut import MOST_RECORDS, first_numbers, possible_bounds

_MOST_CONTRIBUTIONS = MOST_RECORDS
"""Of one person: so many records of one person are held in memory."""

AUTO = "auto"
"""In place of a bound: it is chosen by a private look at the records."""

_A_UNIT = 'name the column that says whose a record is, such as privacy_unit="patient_id"'


@dataclass(frozen=True, eq=False, repr=False)
class Request:
    """The records, the domain, who a person is, and what to do with each of their records.

    All of it but the records themselves is public, and what becomes of them follows from it.
    """

    source: Any
    domain: Domain
    privacy_unit: tuple[str, ...] | None
    max_contributions: int
    axis_columns: tuple[str, ...]
    outside: tuple[Outside, ...]
    amounts: Amounts | None
    dialect: Dialect
    with_counts: bool = False
    """Whether the records are counted beside the sums of their values: the same records."""
    chosen: bool = False
    """The bound is chosen by a private look at the records. Until it is, `max_contributions` is the greatest."""

    @classmethod
    def of(
        cls,
        source: Any,
        domain: object,
        *,
        privacy_unit: object,
        max_contributions: object = 1,
        columns: object = None,
        outside: object = "drop",
        value: object = None,
        clamp: object = None,
        resolution: object = None,
        with_counts: object = False,
        csv: object = None,
    ) -> Request:
        """The arguments of `count`, checked."""
        cells = _domain(domain)
        unit, amounts = _unit(privacy_unit), _amounts_of(value, clamp, resolution)
        chosen = isinstance(max_contributions, str) and max_contributions == AUTO
        if chosen:
            largest = 1 if amounts is None else amounts.largest
            fitting = (bound for bound in possible_bounds() if bound * largest <= MOST_CONTRIBUTION)
            max_contributions = max(fitting, default=1)
        most = validate.whole("max_contributions", max_contributions, most=_MOST_CONTRIBUTIONS)
        if amounts is not None and amounts.chosen:
            if chosen:
                remedy = "give one of the two: how large values are is looked at in records that are bounded"
                raise InvalidInput("clamp", f"{AUTO!r} beside max_contributions={AUTO!r}", remedy)
            widest = min(_MOST_STEPS, 2 ** ((MOST_CONTRIBUTION // most).bit_length() - 1))
            amounts = amounts.clamped_to(-widest, widest)
        if unit is None and (most != 1 or chosen):
            given = f"{AUTO if chosen else most}, and without a privacy_unit every record is another person's"
            raise InvalidInput("max_contributions", given, f"leave it at 1, or {_A_UNIT}")
        if validate.yes_or_no("with_counts", with_counts) and amounts is None:
            remedy = 'name the column to sum beside the counts, value="amount"; without one, counts are all there is'
            raise InvalidInput("with_counts", "given without a value", remedy)
        return cls(
            source=source,
            domain=cells,
            privacy_unit=unit,
            max_contributions=most,
            axis_columns=_axis_columns(cells, columns),
            outside=outside_of(cells, outside),
            amounts=amounts,
            dialect=dialect_of(csv),
            with_counts=amounts is not None and bool(with_counts),
            chosen=chosen,
        )

    @property
    def bound(self) -> int | str:
        """As it was declared."""
        return AUTO if self.chosen else self.max_contributions

    @property
    def bins(self) -> tuple[int, ...]:
        """In which people are counted by their number of records, by the first number of each."""
        if self.privacy_unit is None:
            return (1,)
        return first_numbers(None if self.chosen else self.max_contributions)

    def with_bound(self, bound: int) -> Request:
        """The same, once the bound is chosen."""
        return replace(self, max_contributions=bound)

    def asked_of(self, source: Any) -> Request:
        """The same of other records, which are in memory or plain CSV."""
        return replace(self, source=source, dialect=dialect_of(None))

    @property
    def of_counts(self) -> Request:
        """The same for the counts beside the sums."""
        return replace(self, amounts=None, with_counts=False)

    @property
    def file(self) -> str | None:
        """The whole path of records that have one; None of those in memory, or piped in."""
        if not isinstance(self.source, str | os.PathLike):
            return None
        return os.path.abspath(os.fsdecode(self.source))

    @property
    def needed(self) -> list[Needed]:
        """The columns of the source that are needed: those that tell people apart, and those that are counted by."""
        value = () if self.amounts is None else (self.amounts.column,)
        people = [Needed(column, person=True) for column in self.privacy_unit or ()]
        return [*people, *(Needed(column) for column in dict.fromkeys((*self.axis_columns, *value)))]

    @property
    def contribution(self) -> int:
        """The most that one person adds, in L1."""
        return self.max_contributions * (1 if self.amounts is None else self.amounts.largest)

    @property
    def counted(self) -> Counted:
        """How that bound is enforced."""
        step, across = self.quantity.resolution, self.dialect.multiline
        return Counted(self.privacy_unit, self.max_contributions, step, across, self.chosen)

    @property
    def quantity(self) -> Quantity:
        """What the cells hold."""
        return RECORDS if self.amounts is None else self.amounts.quantity

    def clamped_to(self, lowest: int, highest: int) -> Request:
        """The same, once the bounds of values are chosen."""
        assert self.amounts is not None  # noqa: S101  # there are bounds of a value
        return replace(self, amounts=self.amounts.clamped_to(lowest, highest))

    @property
    def clamp_is_chosen(self) -> bool:
        """Whether the bounds of values are chosen by a private look."""
        return self.amounts is not None and self.amounts.chosen

    @property
    def negative(self) -> bool:
        """Whether cells can be negative."""
        return self.amounts is not None and self.amounts.lowest < 0


def _domain(domain: object) -> Domain:
    declared = isinstance(domain, Domain | Axis | Iterable) and not isinstance(domain, bytes)
    if declared and not (isinstance(domain, str) and domain == "auto"):
        return Domain.of(domain)  # type: ignore[arg-type]
    given = "missing" if domain is None else repr(domain) if domain == "auto" else f"of type {type(domain).__name__}"
    example = "sparsedp.Domain([sparsedp.Integers('age', 0, 120)])"
    why = "cells are never read off the data, where the first, the last or a rare one would tell about a single person"
    raise InvalidInput("domain", given, f"declare the cells, such as {example}: {why}")


def _unit(privacy_unit: object) -> tuple[str, ...] | None:
    if privacy_unit is None:
        return None
    several = (privacy_unit,) if isinstance(privacy_unit, str) else privacy_unit
    if not isinstance(several, tuple | list) or not several or not all(isinstance(one, str) and one for one in several):
        given = "empty" if several in ("", (), [], ("",)) else f"of type {type(privacy_unit).__name__}"
        raise InvalidInput("privacy_unit", given, f"{_A_UNIT}, or several columns in a list")
    return tuple(dict.fromkeys(several))


def _axis_columns(domain: Domain, columns: object) -> tuple[str, ...]:
    named: Mapping[object, object] = {}
    if columns is not None:
        if not isinstance(columns, Mapping):
            wanted = 'give the column of each axis that is named otherwise: {"age": "age_in_years"}'
            raise InvalidInput("columns", f"of type {type(columns).__name__}", wanted)
        named = columns
    for axis, column in named.items():
        domain.axis(axis)  # type: ignore[arg-type]  # says so if it is no text
        if not isinstance(column, str):
            raise InvalidInput(f"columns[{axis!r}]", f"of type {type(column).__name__}", "give a column's name")
    return tuple(str(named.get(name, name)) for name in domain.names)


# The values of a column as whole steps of a grid, within declared bounds: what sums of them are made of.

_MOST_STEPS = 2**50
"""Of one value: floats then tell neighbouring steps apart, halves included."""

_NUMBERS_TO_SUM = "give a column of numbers to sum"
_A_GRID = 'give the grid that values are rounded to, such as resolution="0.01"'


@dataclass(frozen=True)
class Amounts:
    """A value column, its bounds in whole steps, and the length of a step."""

    column: str
    lowest: int
    highest: int
    resolution: Fraction
    chosen: bool = field(default=False, repr=False)
    """The bounds are chosen by a private look at the values. Until they are, these are the widest that can be."""

    @property
    def quantity(self) -> Quantity:
        """What sums of them are."""
        bounds = self.lowest * self.resolution, self.highest * self.resolution
        return Quantity(self.column, self.resolution, bounds)

    @property
    def largest(self) -> int:
        """The most steps that one record adds, whichever its sign."""
        return max(abs(self.lowest), abs(self.highest))

    def clamped_to(self, lowest: int, highest: int) -> Amounts:
        """The same within other bounds."""
        return replace(self, lowest=lowest, highest=highest)

    def steps(self, column: SourceColumn) -> str:
        """The value in whole steps, as SQL."""
        value = real_number(column, _NUMBERS_TO_SUM)
        low, high = self._ends
        clamped = f"greatest({low}, least({high}, {value}))"
        grid = f"{sql_double(self.resolution.denominator)} / {sql_double(self.resolution.numerator)}"
        steps = f"CAST(round({clamped} * {grid}) AS BIGINT)"
        # greatest and least skip NULL, so what is missing has to be seen to.
        return f"CASE WHEN {value} IS NOT NULL THEN greatest({self.lowest}, least({self.highest}, {steps})) END"

    def beyond(self, column: SourceColumn) -> str:
        """Whether the value is clamped, as SQL."""
        low, high = self._ends
        return f"{real_number(column, _NUMBERS_TO_SUM)} NOT BETWEEN {low} AND {high}"

    @property
    def _ends(self) -> tuple[str, str]:
        low, high = (sql_double(float(bound * self.resolution)) for bound in (self.lowest, self.highest))
        return low, high


def _amounts_of(value: object, clamp: object, resolution: object) -> Amounts | None:
    """What is summed; None where records are counted."""
    if value is None:
        for argument, given in (("clamp", clamp), ("resolution", resolution)):
            if given is not None:
                raise InvalidInput(argument, "given without a value", 'name the column to sum: value="amount"')
        return None
    if not isinstance(value, str):
        raise InvalidInput("value", f"of type {type(value).__name__}", 'name the column to sum: value="amount"')
    if resolution is None:
        raise InvalidInput("resolution", "missing", _A_GRID)
    step = validate.positive("resolution", resolution)
    if max(step.numerator, step.denominator) > _MOST_STEPS:
        raise InvalidInput("resolution", validate.shown(step), f"{_A_GRID}, with fewer digits")
    if isinstance(clamp, str) and clamp == AUTO:
        return Amounts(value, -_MOST_STEPS, _MOST_STEPS, step, chosen=True)
    lowest, highest = _bounds(clamp, step)
    if max(abs(lowest), abs(highest)) > _MOST_STEPS:
        raise InvalidInput("clamp", "more than 2**50 steps of the resolution", "give a coarser resolution")
    return Amounts(value, lowest, highest, step)


def _bounds(clamp: object, step: Fraction) -> tuple[int, int]:
    wanted = "give the least and the largest value that one record may have, such as clamp=(0, 500)"
    if clamp is None:
        why = 'bounds are declared, for read off the data they would tell; "auto" spends a share on choosing them'
        raise InvalidInput("clamp", "missing", f"{wanted}; {why}")
    if not isinstance(clamp, tuple | list) or len(clamp) != 2:
        raise InvalidInput("clamp", f"of type {type(clamp).__name__}", wanted)
    bounds = [validate.exact_number("clamp", bound) for bound in clamp]
    for bound in bounds:
        if (bound / step).denominator != 1:
            remedy = f"give bounds that are multiples of the resolution, {validate.shown(step)}"
            raise InvalidInput("clamp", f"a range that ends at {validate.shown(bound)}", remedy)
    low, high = (int(bound / step) for bound in bounds)
    if low > high or low == high == 0:
        shown = f"from {validate.shown(bounds[0])} to {validate.shown(bounds[1])}"
        raise InvalidInput("clamp", shown, "give (least, largest) with least ≤ largest, not both 0")
    return low, high
