"""Consecutive whole numbers: hours of a day, ages in years, places along a street."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, quoted_name, range_of
from sparsedp.errors import InvalidInput
from sparsedp.files.columns_file import Column
from sparsedp.validate import kind_of, whole


@dataclass(frozen=True)
class Integers(Axis):
    """One cell for each whole number from `first` to `last`, both included.

    >>> Integers("hour", 0, 23).length
    24
    """

    name: str
    first: int
    last: int

    kind: ClassVar[str] = "integers"
    ordered = True

    def __post_init__(self) -> None:
        checked_name(self.name)
        object.__setattr__(self, "first", whole("first", self.first, least=-(2**62), most=2**62))
        object.__setattr__(self, "last", whole("last", self.last, least=-(2**62), most=2**62))
        if self.last < self.first:
            raise self._refuse(f"from {self.first} to {self.last}", "give first ≤ last")
        checked_length("last", f"{self.last}, with first {self.first}", self.length)

    @property
    def length(self) -> int:
        """How many whole numbers there are from first to last."""
        return self.last - self.first + 1

    def index_of(self, values: npt.ArrayLike) -> Ints:
        """How far each value is behind `first`; −1 outside, and for what is not a whole number."""
        numbers, inside = within(np.asarray(values), self.first, self.last)
        return np.where(inside, numbers - self.first, -1)

    def cells_of(self, wanted: object) -> Cells:
        """One number, a list of them, or a range (start, stop) of start, …, stop − 1, as in a Python slice."""
        if isinstance(wanted, slice):
            return counted_cells(self, wanted)
        bounds = range_of(wanted)
        if bounds is not None:
            start, stop = (whole(self.name, bound, least=self.first, most=self.last + 1) for bound in bounds)
            if start > stop:
                raise self._refuse(f"from {start} to {stop}", "give start ≤ stop")
            return slice(start - self.first, stop - self.first)
        several = wanted if isinstance(wanted, list | np.ndarray | range) else [wanted]
        numbers = [whole(self.name, one, least=self.first, most=self.last) for one in several]
        return np.unique(np.array(numbers, dtype=np.int64)) - self.first

    def columns(self) -> dict[str, Column]:
        """The numbers, under the axis' own name."""
        return {self.name: np.arange(self.first, self.last + 1, dtype=np.int64)}

    @property
    def spec(self) -> str:
        """hour:0..23."""
        return f"{quoted_name(self.name)}:{self.first}..{self.last}"

    def describe(self) -> dict[str, Any]:
        """Kind, name, first and last."""
        return {"kind": self.kind, "name": self.name, "first": self.first, "last": self.last}


# Whole numbers in a column of records, whatever type the column has.


def within(values: npt.NDArray[Any], first: int, last: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Each value as int64, and whether it is a whole number from `first` to `last`; where it is not, the first.

    Columns with gaps are floats: 3.0 is 3, and a missing value is outside, as 3.5 is.
    """
    kind = values.dtype.kind
    if kind == "O":
        values = np.array([_from_object(value) for value in values.ravel()], dtype=object).reshape(values.shape)
        inside = np.array([value is not None and first <= value <= last for value in values.ravel()], dtype=np.bool_)
        inside = inside.reshape(values.shape)
    elif kind in "iub":
        # Python's numbers are compared exactly, also with unsigned ones beyond 2⁶³.
        inside = (values >= first) & (values <= last)
    elif kind == "f":
        # The bounds are rounded to floats in comparing; what is whole and rounds to them is looked at once more below.
        inside = (values >= first) & (values <= last) & (values == np.floor(values)) & (np.abs(values) < 2.0**63)
    else:
        raise InvalidInput("values", kind_of(values), "give an array of numbers")
    numbers = np.full(values.shape, first, dtype=np.int64)
    numbers[inside] = values[inside].astype(np.int64)
    inside &= (numbers >= first) & (numbers <= last)
    return np.where(inside, numbers, first), inside


def _from_object(value: object) -> int | None:
    if isinstance(value, Integral) and not isinstance(value, np.timedelta64):
        return int(value)
    try:
        number = value if isinstance(value, Real) or hasattr(value, "is_finite") else None
        return int(number) if number is not None and number == int(number) else None  # type: ignore[call-overload]
    except (ValueError, OverflowError, ArithmeticError):
        return None  # not a number, or infinite
