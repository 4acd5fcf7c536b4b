"""Cells without an order: regions, diagnoses, kinds of traffic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, quoted_label, quoted_name
from sparsedp.axes.integers import within
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.files.columns_file import Column
from sparsedp.validate import kind_of, whole

_WANTED = "give different labels, all of them text or all of them whole numbers"


@dataclass(frozen=True)
class Categories(Axis):
    """One cell for each label, in the order they are given; the order means nothing.

    Labels are text, or whole numbers where the records hold codes. A record with another label is outside; a label
    such as "other" collects those only if the records are relabelled first.

    >>> Categories("region", ["north", "south"]).index_of(["south", "east", "north"]).tolist()
    [1, -1, 0]
    """

    name: str
    labels: tuple[str, ...] | tuple[int, ...]

    kind: ClassVar[str] = "categories"
    ordered = False

    def __init__(self, name: str, labels: Iterable[str] | Iterable[int]) -> None:
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "labels", _checked(labels))

    @property
    def length(self) -> int:
        """The number of labels."""
        return len(self.labels)

    def index_of(self, values: npt.ArrayLike) -> Ints:
        """The place of each value among the labels; −1 for any other value and for missing ones."""
        array = np.asarray(values)
        if self._numeric:
            numbers, known = within(array, min(self._places), max(self._places))
            return np.where(known, _looked_up(self._places, numbers), -1)
        if array.dtype.kind not in "UTO":
            # No number is a text, whatever it prints as: a column of numbers needs labels that are numbers.
            raise InvalidInput("values", f"{kind_of(array)}, and the labels are text", "give an array of text")
        return _looked_up(self._places, array)

    def cells_of(self, wanted: object) -> Cells:
        """A label, or a list of them."""
        if isinstance(wanted, slice):
            return counted_cells(self, wanted)
        if isinstance(wanted, tuple | list | set | frozenset | np.ndarray):
            return np.unique(np.array([self._place(label) for label in wanted], dtype=np.int64))
        return np.array([self._place(wanted)], dtype=np.int64)

    def columns(self) -> dict[str, Column]:
        """The labels, under the axis' own name."""
        return {self.name: np.array(self.labels, dtype=np.int64 if self._numeric else object)}

    @property
    def spec(self) -> str:
        """sex:F,M; labels that could be taken for something else are in double quotes."""
        written = [quoted_label(label) if isinstance(label, str) else str(label) for label in self.labels]
        alone = "," if len(written) == 1 else ""
        return f"{quoted_name(self.name)}:{','.join(written)}{alone}"

    def describe(self) -> dict[str, Any]:
        """Kind, name and labels."""
        return {"kind": self.kind, "name": self.name, "labels": list(self.labels)}

    @property
    def _numeric(self) -> bool:
        return not isinstance(self.labels[0], str)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def _place(self, label: object) -> int:
        if isinstance(label, str) and not self._numeric:
            if label not in self._places:
                raise UnknownName(self.name, label, self._places, _some(self.labels))
            return self._places[label]
        if self._numeric:
            number = whole(self.name, label, least=-(2**63), most=2**63 - 1)
            if number in self._places:
                return self._places[number]
            raise self._refuse(f"{number}, which is not a label", _some(self.labels))
        raise self._refuse(f"of type {type(label).__name__}", _some(self.labels))


def _checked(labels: object) -> tuple[str, ...] | tuple[int, ...]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InvalidInput("labels", f"of type {type(labels).__name__}", f"{_WANTED}, in a list")
    given = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    checked_length("labels", f"{len(given)} labels", len(given))
    if not all(type(label) is str for label in given) and not all(type(label) is int for label in given):
        kinds = " and ".join(sorted({type(label).__name__ for label in given}))
        raise InvalidInput("labels", f"of type {kinds}", _WANTED)
    if len(set(given)) < len(given):
        seen: set[object] = set()
        twice = next(label for label in given if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise InvalidInput("labels", f"a list with {str(twice)[:40]!r} in it twice", _WANTED)
    if not all(isinstance(label, str) or -(2**63) <= label < 2**63 for label in given):
        raise InvalidInput("labels", "beyond 64-bit integers", _WANTED)
    return given


def _looked_up(places: dict[Any, int], values: npt.NDArray[Any]) -> Ints:
    """A hash look-up in compiled code where Arrow can take the values; objects of several types go one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    flat = values.ravel()
    try:
        labels = pa.array(list(places))
        found = pc.index_in(pa.array(flat, labels.type, from_pandas=True), value_set=labels)
        indices = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    except (pa.ArrowException, UnicodeError):  # of several types, or half a character
        indices = np.array([places.get(value, -1) if isinstance(value, str) else -1 for value in flat], dtype=np.int64)
    return np.asarray(indices.reshape(values.shape))


def _some(labels: tuple[Any, ...]) -> str:
    shown = ", ".join(repr(label) for label in labels[:6])
    return f"choose one of {shown}{', …' if len(labels) > 6 else ''}"
