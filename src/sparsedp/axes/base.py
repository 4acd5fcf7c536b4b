"""What an axis promises: named cells in a row, where a value falls among them, and how they look in a file."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.files.columns_file import Column

if TYPE_CHECKING:
    from sparsedp.axes.coarsening import Coarsening

MOST_CELLS = 2**28
"""On one axis, and in a whole domain."""

Cells = slice | Ints
"""Some of the cells of an axis: a run of them (without a step), or their numbers in rising order."""


class Axis(ABC):
    """`length` cells in a row under a name. Two axes are equal when all their public facts are.

    Cells are numbered from 0. The values of an axis are those that records hold: labels, numbers, times.
    """

    kind: ClassVar[str]
    ordered: bool
    """Whether neighbouring cells are neighbours in meaning too: only then do ranges and smooth bases make sense."""

    name: str

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of cells."""

    @abstractmethod
    def index_of(self, values: npt.ArrayLike) -> Ints:
        """The cell that each value falls into, as int64; −1 for a value outside the axis, or missing, or unreadable.

        No value is refused, for a refusal would be an answer about the data; only values of a kind that the axis
        never holds are.
        """

    @abstractmethod
    def cells_of(self, wanted: object) -> Cells:
        """The cells that a person means: one value, or several, or a range; `slice(3, 9)` counts cells."""

    @abstractmethod
    def columns(self) -> dict[str, Column]:
        """What a file says of each cell: one column or more, each `length` long."""

    @property
    def column_names(self) -> tuple[str, ...]:
        """What those columns are called."""
        return (self.name,)

    @property
    def utc(self) -> tuple[str, ...]:
        """The columns that hold times in UTC."""
        return ()

    @property
    @abstractmethod
    def spec(self) -> str:
        """The axis in one line of text, as `sparsedp.axes.parse_axis` reads it back."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `axis_from` gives the axis back."""

    @property
    def coarsenings(self) -> Mapping[str, Coarsening]:
        """The groups that its cells are in, by name: the rhythms of a calendar, and what was declared of others."""
        return MappingProxyType(self._coarsenings)

    @cached_property
    def _coarsenings(self) -> dict[str, Coarsening]:
        return {}

    def __len__(self) -> int:
        return self.length

    def _refuse(self, given: str, remedy: str) -> InvalidInput:
        """A complaint about what was asked of this axis."""
        return InvalidInput(f"{self.name}", given, remedy)


LONGEST_NAME = 100


def checked_name(name: object) -> str:
    """The name of an axis: short text, for it becomes a column's."""
    wanted = "give a short text such as 'age'"
    if not isinstance(name, str):
        raise InvalidInput("name", f"of type {type(name).__name__}", wanted)
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput("name", repr(name[:40]), f"{wanted}, of at most {LONGEST_NAME} printable characters")
    return name


def checked_length(argument: str, given: str, length: int) -> None:
    """No axis is empty, and none is longer than a whole domain may be."""
    if not 1 <= length <= MOST_CELLS:
        raise InvalidInput(argument, given, f"give from 1 to 2**28 cells, which is {MOST_CELLS:,}")


def counted_cells(axis: Axis, wanted: slice) -> slice:
    """A slice of cell numbers, as Python cuts a list: from the end for negative numbers, never beyond it."""
    try:
        start, stop, step = wanted.indices(axis.length)
    except TypeError:
        raise InvalidInput(axis.name, "a slice not of whole numbers", "give cell numbers: slice(3, 9)") from None
    if step != 1:
        raise InvalidInput(axis.name, f"a slice with the step {step}", "give one without a step")
    return slice(start, max(start, stop))


def range_of(wanted: object) -> tuple[object, object] | None:
    """A range is written as a tuple (start, stop); a list is several values."""
    return (wanted[0], wanted[1]) if isinstance(wanted, tuple) and len(wanted) == 2 else None


# Names and labels in a text that describes an axis: as they are where that is plain, else in double quotes.

AUTOMATIC = frozenset({"auto", "automatic", "data", "infer", "inferred", "detect", "bins", "quantiles", "?", "*"})
"""Wishes for cells that are read off the data; a label of that name alone is written in quotes."""


def quoted_name(name: str) -> str:
    """A name before its colon."""
    return _quoted(name) if re.search(r'[:"]', name) else name


def quoted_label(label: str) -> str:
    """A label in a list of them; "inf" alone would be an edge."""
    misread = label.lower() in AUTOMATIC or label.lower() == "inf"
    plain = re.fullmatch(r"[^\W\d]([\w -]*\w)?", label) and label.isprintable() and not misread
    return label if plain else _quoted(label)


def _quoted(text: str) -> str:
    """In double quotes, each of its own written twice."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


_QUOTED = r'\s*"((?:[^"]|"")*)"\s*'
_PART = re.compile(rf"(?:{_QUOTED}|([^\",]*))(,|$)", re.DOTALL)


def leading_quoted(text: str) -> tuple[str, str] | None:
    """A quoted text at the very front, and what follows it; None where there is none, or it does not end."""
    found = re.match(_QUOTED, text)
    return (found[1].replace('""', '"'), text[found.end() :]) if found else None


def listed(text: str) -> list[tuple[str, bool]]:
    """The parts of a list between its commas, each with whether it was quoted; a comma may follow the last.

    Raises InvalidInput on a quote that does not end, or that begins or ends within a part.
    """
    parts: list[tuple[str, bool]] = []
    place = 0
    while place < len(text) or not parts:
        found = _PART.match(text, place)
        if found is None:
            raise _loose_quote()
        parts.append((found[2].strip(), False) if found[1] is None else (found[1].replace('""', '"'), True))
        place = found.end()
    return parts


def _loose_quote() -> InvalidInput:
    remedy = 'put the whole label in double quotes and write its own twice: "a ""quoted"" word, and a comma"'
    return InvalidInput("labels", "a list with a double quote out of place", remedy)
