"""Intervals between numeric edges: ages, incomes, durations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, isfinite, nan
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, quoted_name, range_of
from sparsedp.errors import InvalidInput
from sparsedp.files.columns_file import Column
from sparsedp.validate import Number, exact_number, kind_of, shown, whole

_WANTED = "give at least two rising numbers, such as [0, 18, 65, 120]"


@dataclass(frozen=True)
class Bins(Axis):
    """Cell i holds the values v with edges[i] ≤ v < edges[i + 1]; the last cell holds its right edge too.

    The first edge may be −inf and the last one inf. Edges are floats; a value falls where its own float does, and one
    of fewer digits (float32) is compared with the edges rounded to as many.

    >>> Bins("age", [0, 18, 65, 120]).index_of([17.5, 18, 120, 121]).tolist()
    [0, 1, 2, -1]
    """

    name: str
    edges: tuple[float, ...]

    kind: ClassVar[str] = "bins"
    ordered = True

    def __init__(self, name: str, edges: Iterable[float]) -> None:
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "edges", _checked(edges))

    @classmethod
    def regular(cls, name: str, start: Number, stop: Number, bins: int) -> Bins:
        """`bins` equal intervals from start to stop; each edge is the float nearest to the exact one."""
        first, last = exact_number("start", start), exact_number("stop", stop)
        bins = whole("bins", bins)
        checked_length("bins", str(bins), bins)
        if last <= first:
            raise InvalidInput("stop", f"{stop}, with start {start}", "give start < stop")
        width = (last - first) / bins
        return cls(name, [nearest_float("edges", first + width * place) for place in range(bins + 1)])

    @property
    def length(self) -> int:
        """One less than there are edges."""
        return len(self.edges) - 1

    def index_of(self, values: npt.ArrayLike) -> Ints:
        """The interval that each value is in; −1 outside the edges and for missing values."""
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.array([_from_object(value) for value in array.ravel()], dtype=np.float64).reshape(array.shape)
        if array.dtype.kind == "f":
            edges = self._edges.astype(array.dtype) if array.dtype.itemsize < 8 else self._edges
            found = np.searchsorted(edges[1:-1], array, side="right")
            inside = (array >= edges[0]) & (array <= edges[-1])  # of what is no number, neither is true
            return np.where(inside, found, -1)
        if array.dtype.kind == "u" and (array > np.uint64(2**63 - 1)).any():
            small = array <= np.uint64(2**63 - 1)
            return np.where(
                small, self.index_of(np.where(small, array, 0).astype(np.int64)), self.index_of(array * 1.0)
            )
        if array.dtype.kind not in "iub":
            raise InvalidInput("values", kind_of(array), "give an array of numbers")
        # For a whole number, v ≥ edge and v ≥ ⌈edge⌉ say the same; turned into floats, large ones would be rounded.
        numbers = array.astype(np.int64)
        inside = np.ones(array.shape, dtype=np.bool_)
        if isfinite(self.edges[0]):
            inside &= numbers >= ceil(self.edges[0])
        if isfinite(self.edges[-1]):
            inside &= numbers <= floor(self.edges[-1])
        return np.where(inside, np.searchsorted(self._inner_whole_edges, numbers, side="right"), -1)

    def cells_of(self, wanted: object) -> Cells:
        """A range between two edges, (18, 65); or one value, which means the whole interval it falls into."""
        if isinstance(wanted, slice):
            return counted_cells(self, wanted)
        bounds = range_of(wanted)
        if bounds is not None:
            start, stop = (self._edge(bound) for bound in bounds)
            if start > stop:
                raise self._refuse("a range that ends before it starts", "give (low, high) with low ≤ high")
            return slice(start, stop)
        several = wanted if isinstance(wanted, list | np.ndarray) else [wanted]
        numbers = np.array([self._number(one) for one in several])
        cells = self.index_of(numbers)
        if (cells < 0).any():
            raise self._refuse("outside the edges", f"give values from {self.edges[0]:g} to {self.edges[-1]:g}")
        return np.unique(cells)

    def columns(self) -> dict[str, Column]:
        """The edges of each cell, in the columns name_left and name_right."""
        left, right = self.column_names
        return {left: self._edges[:-1], right: self._edges[1:]}

    @property
    def column_names(self) -> tuple[str, ...]:
        """name_left and name_right."""
        return f"{self.name}_left", f"{self.name}_right"

    @property
    def spec(self) -> str:
        """age:0..120/5 where that gives these very edges, else age:[0,18,65,120]."""
        return f"{quoted_name(self.name)}:{self._regular or self._listed}"

    def describe(self) -> dict[str, Any]:
        """Kind, name and edges; an infinite edge as text, for JSON has no word for it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "edges": [edge if isfinite(edge) else str(edge) for edge in self.edges],
        }

    @cached_property
    def _edges(self) -> Floats:
        return np.array(self.edges)

    @cached_property
    def _inner_whole_edges(self) -> Ints:
        """⌈edge⌉ of the inner edges; those that no 64-bit integer reaches are left out, at the upper end."""
        reached = [max(ceil(edge), -(2**63)) for edge in self.edges[1:-1] if edge < 2.0**63]
        return np.array(reached, dtype=np.int64)

    @property
    def _listed(self) -> str:
        return f"[{','.join(map(_written, self.edges))}]"

    @property
    def _regular(self) -> str:
        """The text of `Bins.regular` where that gives the same edges and a step that can be written; else nothing."""
        if self.length < 4 or not isfinite(self.edges[0]) or not isfinite(self.edges[-1]):
            return ""
        first, last = exact_number("edges", self.edges[0]), exact_number("edges", self.edges[-1])
        step = (last - first) / self.length
        if not all(float(first + step * place) == edge for place, edge in enumerate(self.edges)):
            return ""
        short = shown(step)
        exact = short[:1].isdigit() and "/" not in short
        return f"{_written(self.edges[0])}..{_written(self.edges[-1])}/{short}" if exact else ""

    def _number(self, value: object) -> float:
        if isinstance(value, float | np.floating) and not isfinite(value):
            return float(value)
        return nearest_float(self.name, value)

    def _edge(self, bound: object) -> int:
        value = self._number(bound)
        place = int(np.searchsorted(self._edges, value))
        if place > self.length or self.edges[place] != value:
            near = self.edges[min(max(place - 1, 0), self.length)], self.edges[min(place, self.length)]
            edges = " or ".join(f"{edge:g}" for edge in dict.fromkeys(near))
            raise self._refuse(f"cut at {value:g}, which is not an edge", f"cut at an edge such as {edges}")
        return place


def _checked(edges: object) -> tuple[float, ...]:
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidInput("edges", f"of type {type(edges).__name__}", _WANTED)
    given = tuple(_as_edge(edge) for edge in edges)
    if len(given) < 2:
        raise InvalidInput("edges", f"{len(given)} number{'s' if len(given) != 1 else ''}", _WANTED)
    checked_length("edges", f"the edges of {len(given) - 1:,} bins", len(given) - 1)
    if any(edge != edge for edge in given):
        raise InvalidInput("edges", "not a number somewhere (NaN)", _WANTED)
    for left, right in pairwise(given):
        if left >= right:
            raise InvalidInput("edges", f"not rising: {right:g} comes after {left:g}", _WANTED)
    return given


def _as_edge(edge: object) -> float:
    if isinstance(edge, str) and edge in ("inf", "-inf"):
        return float(edge)
    if isinstance(edge, float | np.floating) and not isfinite(edge):
        return float(edge)
    return nearest_float("edges", edge)


def nearest_float(argument: str, value: object) -> float:
    """The float nearest to an exact number, refused where no float reaches."""
    try:
        return float(exact_number(argument, value))
    except OverflowError:
        raise InvalidInput(argument, "beyond the largest float", "give numbers up to 1e308, or inf") from None


def _written(edge: float) -> str:
    """The shortest text that is read as this very float."""
    return repr(edge).removesuffix(".0")


def _from_object(value: object) -> float:
    # Databases return decimals, and pandas marks gaps with objects of its own.
    if isinstance(value, int | float | Decimal | np.number):
        try:
            return float(value)
        except (OverflowError, TypeError, ValueError):
            return nan
    return nan
