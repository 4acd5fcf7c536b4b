"""The values of a column as whole steps of a grid, within declared bounds: what sums of them are made of.

Every value is read as the nearest float (DOUBLE), also a decimal, a whole number and text; it is clamped, divided by
the resolution in floating point and rounded to the nearest step, halves away from zero; and clamped once more, as an
integer. A value that lies on the grid gets its exact step. One that lies within a rounding error of the middle of two
steps gets one of them. Infinite values are clamped like any other; what is no number is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.ingest import sql_text
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.numbers import real_number

MOST_STEPS = 2**50
"""Of one value: floats then tell neighbouring steps apart, halves included."""

_A_GRID = 'give the grid that values are rounded to, such as resolution="0.01"'


@dataclass(frozen=True)
class Amounts:
    """A value column, its bounds in whole steps, and the length of a step."""

    column: str
    lowest: int
    highest: int
    resolution: Fraction

    @property
    def largest(self) -> int:
        """The most steps that one record adds, whichever its sign."""
        return max(abs(self.lowest), abs(self.highest))

    def steps(self, column: SourceColumn) -> str:
        """The value in whole steps, as SQL."""
        value = real_number(column, "give a column of numbers to sum")
        low, high = (sql_text.double(float(bound * self.resolution)) for bound in (self.lowest, self.highest))
        clamped = f"greatest({low}, least({high}, {value}))"
        grid = f"{sql_text.double(self.resolution.denominator)} / {sql_text.double(self.resolution.numerator)}"
        steps = f"CAST(round({clamped} * {grid}) AS BIGINT)"
        # greatest and least skip NULL, so what is missing has to be seen to.
        return f"CASE WHEN {value} IS NOT NULL THEN greatest({self.lowest}, least({self.highest}, {steps})) END"


def amounts_of(value: object, clamp: object, resolution: object) -> Amounts | None:
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
    if max(step.numerator, step.denominator) > MOST_STEPS:
        raise InvalidInput("resolution", validate.shown(step), f"{_A_GRID}, with fewer digits")
    lowest, highest = _bounds(clamp, step)
    if max(abs(lowest), abs(highest)) > MOST_STEPS:
        raise InvalidInput("clamp", "more than 2**50 steps of the resolution", "give a coarser resolution")
    return Amounts(value, lowest, highest, step)


def _bounds(clamp: object, step: Fraction) -> tuple[int, int]:
    wanted = "give the least and the largest value that one record may have, such as clamp=(0, 500)"
    if clamp is None:
        raise InvalidInput("clamp", "missing", f"{wanted}; bounds are declared, for read off the data they would tell")
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
