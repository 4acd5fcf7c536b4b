"""Consecutive whole numbers: hours of a day, ages in years, places along a street."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp import arrays
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, range_of
from sparsedp.axes.quoting import quoted_name
from sparsedp.axes.whole_values import within
from sparsedp.files.columns_file import Column
from sparsedp.validate import whole


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
    ordered: ClassVar[bool] = True

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

    def index_of(self, values: npt.ArrayLike) -> arrays.Integers:
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
