"""Consecutive whole numbers: hours of a day, ages in years, places along a street."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.axes.base import (
    Axis,
    Cells,
    checked_length,
    checked_name,
    counted_cells,
    quoted_label,
    quoted_name,
    range_of,
)
from sparsedp.axes.coarsening import Coarsening
from sparsedp.errors import InvalidInput
from sparsedp.files.columns_file import Column
from sparsedp.validate import kind_of, whole


@dataclass(frozen=True, init=False, repr=False)
class Integers(Axis):
    """One cell for each whole number from `first` to `last`, both included.

    `bands` are runs of them that people speak of, each by the number it begins with: [0, 18, 65], or with names,
    {"child": 0, "adult": 18}. They are the coarsening "band"; without names they are called "0..17", "18..64", ….

    >>> Integers("hour", 0, 23).length
    24
    >>> Integers("age", 0, 120, bands=[0, 18, 65]).coarsenings["band"].axis.labels
    ('0..17', '18..64', '65..120')
    """

    name: str
    first: int
    last: int
    bands: tuple[tuple[str, int], ...]
    """What each is called, and where it begins."""

    kind: ClassVar[str] = "integers"
    ordered = True

    def __init__(self, name: str, first: int, last: int, bands: Bands | None = None) -> None:
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "first", whole("first", first, least=-(2**62), most=2**62))
        object.__setattr__(self, "last", whole("last", last, least=-(2**62), most=2**62))
        if self.last < self.first:
            raise self._refuse(f"from {self.first} to {self.last}", "give first ≤ last")
        checked_length("last", f"{self.last}, with first {self.first}", self.length)
        object.__setattr__(self, "bands", () if bands is None else _checked_bands(bands, self.first, self.last))
        if self.bands:
            checked_name(f"{self.name}.{_BAND}")

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
        """hour:0..23, and with bands age:0..17,18..64 or age:child(0..17),adult(18..64)."""
        runs = [f"{begin}..{end}" for begin, end in _runs(self._begins or (self.first,), self.last)]
        if len(self.bands) == 1 or self._named:
            runs = [f"{quoted_label(label)}({run})" for (label, _), run in zip(self.bands, runs, strict=True)]
        return f"{quoted_name(self.name)}:{','.join(runs)}"

    def describe(self) -> dict[str, Any]:
        """Kind, name, first and last, and the bands where there are any."""
        described = {"kind": self.kind, "name": self.name, "first": self.first, "last": self.last}
        return {**described, "bands": [list(band) for band in self.bands]} if self.bands else described

    def __repr__(self) -> str:
        given = dict(self.bands) if self._named else list(self._begins)
        bands = f", bands={given!r}" if self.bands else ""
        return f"Integers(name={self.name!r}, first={self.first}, last={self.last}{bands})"

    @cached_property
    def _coarsenings(self) -> dict[str, Coarsening]:
        from sparsedp.axes.categories import Categories  # whose codes are whole numbers, too

        if not self.bands:
            return {}
        axis = Categories(f"{self.name}.{_BAND}", [label for label, _ in self.bands], ordered=True)
        numbers = np.arange(self.first, self.last + 1, dtype=np.int64)
        return {_BAND: Coarsening(_BAND, axis, np.searchsorted(np.array(self._begins), numbers, side="right") - 1)}

    @property
    def _begins(self) -> tuple[int, ...]:
        return tuple(begin for _, begin in self.bands)

    @property
    def _named(self) -> bool:
        """Whether the bands were given names of their own."""
        return tuple(label for label, _ in self.bands) != _plain_labels(self._begins, self.last)


# Bands: runs of whole numbers that people speak of, one after another, of all that are on the axis.

Bands = Iterable[int] | Mapping[str, int] | Iterable[tuple[str, int]]
_BAND = "band"


def _checked_bands(bands: Any, first: int, last: int) -> tuple[tuple[str, int], ...]:
    """Each with what it is called and where it begins, in order; together they hold every number once."""
    wanted = (
        f"give the number that each band begins with, from {first} on: [{first}, {first + (last - first + 1) // 2}]"
    )
    if isinstance(bands, str | bytes) or not isinstance(bands, Iterable):
        raise InvalidInput("bands", f"of type {type(bands).__name__}", wanted)
    given = list(bands.items()) if isinstance(bands, Mapping) else list(bands)
    if not given:
        raise InvalidInput("bands", "empty", f"{wanted}, or leave them out")
    named = isinstance(given[0], list | tuple)
    if named and not all(isinstance(band, list | tuple) and len(band) == 2 for band in given):
        raise InvalidInput("bands", "a list of bands with and without names", wanted)
    begins = tuple(whole("bands", band[1] if named else band, least=first, most=last) for band in given)
    if begins[0] != first:
        raise InvalidInput("bands", f"a list that begins with {begins[0]}", wanted)
    for before, after in pairwise(begins):
        if after <= before:
            raise InvalidInput("bands", f"not rising: {after} comes after {before}", wanted)
    labels = tuple(band[0] for band in given) if named else _plain_labels(begins, last)
    met: set[str] = set()
    for label in labels:
        if not isinstance(label, str) or not label:
            odd = "without a name" if label == "" else f"with a name of type {type(label).__name__}"
            raise InvalidInput("bands", f"a list with a band {odd}", "name every band by text, or none")
        if label in met:
            raise InvalidInput("bands", f"a list with {label[:40]!r} in it twice", "give every band a name of its own")
        met.add(label)
    return tuple(zip(labels, begins, strict=True))


def _runs(begins: tuple[int, ...], last: int) -> list[tuple[int, int]]:
    """Where each band begins and ends."""
    return [(begin, after - 1) for begin, after in pairwise((*begins, last + 1))]


def _plain_labels(begins: tuple[int, ...], last: int) -> tuple[str, ...]:
    """0..17, and 5 for a band of one number."""
    return tuple(str(begin) if begin == end else f"{begin}..{end}" for begin, end in _runs(begins, last))


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
