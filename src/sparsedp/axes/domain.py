"""The domain: the public cells that counts are given for, as the product of named axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.axes import Axis, Integers, axis_from, parse_axis
from sparsedp.axes.base import MOST_CELLS, Cells
from sparsedp.axes.coarsening import Coarsening, all_names, found_in
from sparsedp.axes.spec import EXAMPLES
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.files.columns_file import Column
from sparsedp.files.untrusted import printable
from sparsedp.validate import whole

if TYPE_CHECKING:
    from sparsedp.arrays import Floats


_MOST_AXES = 32
_RESERVED = ("count", "total", "stderr", "count_stderr")
"""The columns of a saved release that hold what was published, not where."""


@dataclass(frozen=True)
class Domain:
    """Every combination of the axes' cells, the last axis running fastest. Public: declared, never read off the data.

    >>> from sparsedp.axes import Bins, Categories
    >>> domain = Domain([Categories("region", ["north", "south"]), Bins("age", [0, 18, 65, 120])])
    >>> domain.shape, domain.names, domain.ordered
    ((2, 3), ('region', 'age'), (False, True))
    """

    axes: tuple[Axis, ...]

    def __init__(self, axes: Axis | Iterable[Axis]) -> None:
        given = (axes,) if isinstance(axes, Axis) else axes
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise InvalidInput("axes", f"of type {type(given).__name__}", _WANTED)
        object.__setattr__(self, "axes", _checked(tuple(given)))

    @classmethod
    def of_shape(cls, shape: Sequence[int]) -> Domain:
        """Plain ordered axes named axis0, axis1, …, their cells numbered from 0: for an array without a domain."""
        if not isinstance(shape, Sequence) or isinstance(shape, str | bytes):
            raise InvalidInput("shape", f"of type {type(shape).__name__}", "give one length for each axis: (24, 7)")
        lengths = [whole("shape", length, most=MOST_CELLS) for length in shape]
        return cls(Integers(f"axis{place}", 0, length - 1) for place, length in enumerate(lengths))

    @classmethod
    def parse(cls, texts: str | Iterable[str]) -> Domain:
        """The domain that lines of text declare, one for each axis, as `sparsedp.axes.parse_axis` reads them.

        >>> Domain.parse(["day:2024-01-01..2024-12-31/1d", "sex:F,M"]).shape
        (366, 2)
        """
        given = [texts] if isinstance(texts, str) else texts
        if isinstance(given, bytes) or not isinstance(given, Iterable):
            raise InvalidInput("by", f"of type {type(given).__name__}", f"give a list of texts such as {EXAMPLES}")
        return cls([parse_axis(text) for text in given])

    @classmethod
    def of(cls, declared: Declared) -> Domain:
        """The domain as it may be given: itself, or its axes, each as an object or as the text that `parse` reads.

        >>> Domain.of(["day:2024-01-01..2024-12-31", "sex:F,M"]).shape
        (366, 2)
        """
        if isinstance(declared, Domain):
            return declared
        several = isinstance(declared, Iterable) and not isinstance(declared, str | bytes)
        parts: list[Any] = list(declared) if several else [declared]  # type: ignore[arg-type]
        if not all(isinstance(part, str | Axis) for part in parts):
            raise InvalidInput("domain", f"of type {type(declared).__name__}", _DECLARED_WANTED)
        return cls([_parsed(part) if isinstance(part, str) else part for part in parts])

    @property
    def specs(self) -> tuple[str, ...]:
        """The axes as lines of text, which `Domain.parse` reads back."""
        return tuple(axis.spec for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """The axes' names."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes' lengths."""
        return tuple(axis.length for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of cells."""
        return prod(self.shape)

    @property
    def ordered(self) -> tuple[bool, ...]:
        """For each axis, whether the order of its cells means anything."""
        return tuple(axis.ordered for axis in self.axes)

    def axis(self, name: str) -> Axis:
        """The axis of that name."""
        if not isinstance(name, str):
            raise InvalidInput("axis", f"of type {type(name).__name__}", f"choose one of {', '.join(self.names)}")
        if name not in self.names:
            raise UnknownName("axis", name, self.names)
        return self.axes[self.names.index(name)]

    def part(self, name: str) -> tuple[int, Coarsening | None]:
        """The number of an axis and, of a name such as "day.weekday", its coarsening; None of the axis itself.

        An axis of that very name comes first, whatever others have for coarsenings.
        """
        if isinstance(name, str) and name not in self.names:
            # Longest names first: the axis "a.b" and its coarsening "c" before the axis "a" and its "b.c".
            for axis in sorted(self.axes, key=lambda axis: len(axis.name), reverse=True):
                if name.startswith(f"{axis.name}."):
                    coarsening = found_in(axis, name.removeprefix(f"{axis.name}."))
                    if coarsening is not None:
                        return self.axes.index(axis), coarsening
            raise UnknownName("axis", name, self._near(name))
        return self.axes.index(self.axis(name)), None

    def _near(self, name: str) -> Iterable[str]:
        """What might have been meant: the axes, and the coarsenings of the one whose name it begins with."""
        meant = tuple(axis for axis in self.axes if name.startswith(f"{axis.name}."))
        return (*self.names, *(coarse for coarse in all_names(meant) if coarse not in self.names))

    def index_of(self, values: Mapping[str, npt.ArrayLike]) -> Ints:
        """The cell of each record, numbered row by row, from one array of values for each axis; −1 outside."""
        for name in values:
            self.axis(name)
        missing = [name for name in self.names if name not in values]
        if missing:
            raise InvalidInput(
                "values", f"without {missing[0]!r}", f"give one array for each of {', '.join(self.names)}"
            )
        indices = [axis.index_of(values[axis.name]) for axis in self.axes]
        if len({index.shape for index in indices}) > 1:
            raise InvalidInput("values", "arrays of different lengths", "give one value of each axis for each record")
        cells = np.zeros(indices[0].shape, dtype=np.int64)
        outside = np.zeros(indices[0].shape, dtype=np.bool_)
        for axis, index in zip(self.axes, indices, strict=True):
            outside |= index < 0
            cells = cells * axis.length + index
        cells[outside] = -1
        return cells

    def box(self, wanted: Mapping[str, object]) -> tuple[Cells, ...]:
        """The cells meant on each axis, as `Axis.cells_of` reads them; an axis that is not named is meant whole.

        Coarsenings may be named as well: {"day": ("2024-03", "2024-06"), "day.weekday": "Sat"} is the Saturdays of a
        spring, as a cell is meant only if everything that is named of its axis means it.
        """
        if not isinstance(wanted, Mapping):
            raise InvalidInput("box", f"of type {type(wanted).__name__}", "give what is meant on each axis by name")
        cells: dict[int, Cells] = {}
        for name, meant in wanted.items():
            place, coarsening = self.part(name)
            axis = self.axes[place]
            if coarsening is None:
                found = axis.cells_of(meant)
            else:
                groups = np.zeros(coarsening.groups, dtype=np.bool_)
                groups[coarsening.axis.cells_of(meant)] = True
                found = np.flatnonzero(groups[coarsening.group_of])
            every = np.arange(axis.length)
            cells[place] = np.intersect1d(every[cells[place]], every[found]) if place in cells else found
        return tuple(cells.get(place, slice(0, axis.length)) for place, axis in enumerate(self.axes))

    def columns(self) -> dict[str, Column]:
        """For a file with one row a cell: where each cell is on every axis."""
        columns: dict[str, Column] = {}
        before, after = 1, self.size
        for axis in self.axes:
            after //= axis.length
            for name, column in axis.columns().items():
                columns[name] = np.tile(np.repeat(column, after), before)
            before *= axis.length
        return columns

    @property
    def utc(self) -> tuple[str, ...]:
        """The columns that hold times in UTC."""
        return tuple(name for axis in self.axes for name in axis.utc)

    def __str__(self) -> str:
        return " × ".join(f"{axis.name} ({axis.length:,})" for axis in self.axes)

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Domain.from_description` gives the domain back."""
        return {"axes": [axis.describe() for axis in self.axes]}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Domain:
        """The domain that `describe` described."""
        if not isinstance(description, Mapping) or not isinstance(description.get("axes"), Sequence):
            raise InvalidInput("domain", "described without its axes", "give what `describe()` returned")
        return cls(axis_from(axis) for axis in description["axes"])


Declared = Domain | Axis | str | Iterable[Axis | str]
"""How a domain may be given to the calls that need one."""

_DECLARED_WANTED = "give a sparsedp.Domain, or its axes: ['day:2024-01-01..2024-12-31', 'sex:F,M']"
_WANTED = "give a list of axes, such as [sparsedp.Bins('age', [0, 18, 65, 120])]; Domain.parse reads text"


def _parsed(text: str) -> Axis:
    """The axis of a text that was given as a part of `domain`, which refusals then name."""
    try:
        return parse_axis(text)
    except InvalidInput as error:
        if error.argument != "by":
            raise
        raise InvalidInput("domain", error.given, error.remedy) from None


def _checked(axes: tuple[Any, ...]) -> tuple[Axis, ...]:
    if not axes:
        raise InvalidInput("axes", "empty", _WANTED)
    if len(axes) > _MOST_AXES:
        raise InvalidInput("axes", f"a list of {len(axes)} axes", f"give at most {_MOST_AXES}")
    for axis in axes:
        if not isinstance(axis, Axis):
            raise InvalidInput("axes", f"a list with something of type {type(axis).__name__} in it", _WANTED)
    names = [axis.name for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput("axes", f"a list with two axes named {name!r}", "give each axis a name of its own")
    size = prod(axis.length for axis in axes)
    if size > MOST_CELLS:
        shape = " × ".join(f"{axis.length:,}" for axis in axes)
        raise InvalidInput(
            "axes", f"{shape} = {size:,} cells", f"give coarser axes: at most 2**28 = {MOST_CELLS:,} cells"
        )
    _check_columns(axes)
    return axes


def _check_columns(axes: tuple[Axis, ...]) -> None:
    """A saved release has a column or two for each axis, and its own."""
    taken = dict.fromkeys(_RESERVED, "the release's own")
    for axis in axes:
        for column in axis.column_names:
            if column in taken:
                given = f"a list in which {axis.name!r} needs the column {column!r}, which is {taken[column]}"
                raise InvalidInput("axes", given, "rename the axis")
            taken[column] = f"that of {axis.name!r}"


# What the cells count: records, or the sum of a value on a declared grid.


@dataclass(frozen=True)
class Quantity:
    """Records (`value` is None), or the sum of the column `value` in steps of `resolution`.

    `clamp` is the least and the largest that one record was counted with; files of earlier versions do not say.

    Before the noise every cell is a whole number of steps; a release multiplies its estimates by the resolution, so
    that people read them in the column's own unit.

    >>> print(Quantity("amount", "0.01"), Quantity())
    total amount records
    """

    value: str | None = None
    resolution: Fraction = Fraction(1)
    clamp: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", validate.positive("resolution", self.resolution))
        if self.clamp is not None:
            object.__setattr__(self, "clamp", _checked_clamp(self.clamp))
        if self.value is None and self.resolution != 1:
            raise InvalidInput("resolution", validate.shown(self.resolution), "give it with a value column only")
        if self.value is None and self.clamp is not None:
            raise InvalidInput("clamp", "given without a value", "give it with a value column only")
        if self.value is not None and not (isinstance(self.value, str) and self.value):
            raise InvalidInput("value", f"of type {type(self.value).__name__}", "give the name of the summed column")

    @property
    def column(self) -> str:
        """The column of a file that holds the estimates: "count", or "total" of a value."""
        return "count" if self.value is None else "total"

    def in_units(self, steps: Floats) -> Floats:
        """Whole or estimated steps in the column's own unit; each is the float nearest to the exact product, or next
        to it."""
        if self.resolution == 1:
            return steps
        # One product and one quotient: 123 steps of 1/100 are 1.23, and not 1.2300000000000002.
        return np.asarray(steps * float(self.resolution.numerator) / float(self.resolution.denominator))

    def check_columns(self, domain: Domain) -> None:
        """No axis may take the column that holds the estimates: said before anything is spent."""
        for axis in domain.axes:
            if self.column in axis.column_names:
                given = f"with an axis {axis.name!r} that needs the column {self.column!r}, which holds the sums"
                raise InvalidInput("domain", given, "rename the axis")

    def __str__(self) -> str:
        return "records" if self.value is None else printable(f"total {self.value}")

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `Quantity.from_description` gives it back."""
        clamp = {} if self.clamp is None else {"clamp": [str(bound) for bound in self.clamp]}
        return {"value": self.value, "resolution": str(self.resolution), **clamp}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Quantity:
        """The quantity that `describe` described."""
        resolution = validate.exact_number("resolution", description["resolution"])
        return cls(description["value"], resolution, description.get("clamp"))


def _checked_clamp(given: object) -> tuple[Fraction, Fraction]:
    """The bounds of one record's value, exactly."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InvalidInput("clamp", f"of type {type(given).__name__}", "give the least and the largest value")
    low, high = (validate.exact_number("clamp", bound) for bound in given)
    if low > high:
        raise InvalidInput("clamp", f"from {validate.shown(low)} to {validate.shown(high)}", "give least ≤ largest")
    return low, high


RECORDS = Quantity()
