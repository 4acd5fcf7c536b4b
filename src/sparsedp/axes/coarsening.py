"""A coarsening: the cells of an axis in named groups, such as weekdays, counties of a state or bands of ages.

Every cell lies in one group and no group is empty, so that sums over groups are sums of cells and nothing else. What
the groups are follows from the axis, which is public: `axis.coarsenings` has them by name, and `day.weekday` is the
coarsening "weekday" of the axis "day" wherever an axis may be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput

if TYPE_CHECKING:
    from sparsedp.axes.base import Axis


@dataclass(frozen=True, eq=False)
class Coarsening:
    """The cells of an axis in groups: cell i is in group `group_of[i]`, which is a cell of the coarse `axis`.

    `axis` is an axis like any other, named "day.weekday": its cells are the groups, and it knows whether their order
    means anything. `group_of` is int64 with one number for each fine cell, from 0 to `groups` − 1, each of them at
    least once; it cannot be written to. There are as many groups as cells at most, and a declared coarsening may have
    only one.

    >>> from sparsedp.axes import Categories
    >>> county = Categories("county", {"north": ["a", "b"], "south": ["c"]})
    >>> county.coarsenings["group"].axis.labels, county.coarsenings["group"].group_of.tolist()
    (('north', 'south'), [0, 0, 1])
    """

    name: str
    axis: Axis
    group_of: Ints

    def __post_init__(self) -> None:
        group_of = np.array(self.group_of, dtype=np.int64)
        group_of.flags.writeable = False
        object.__setattr__(self, "group_of", group_of)
        met = np.unique(group_of)
        if group_of.ndim != 1 or not np.array_equal(met, np.arange(self.axis.length)):
            given = f"groups of cells that are not all of the {self.axis.length:,} of its axis"
            raise InvalidInput("group_of", given, "give the number of its group for each cell, and every group a cell")

    @property
    def groups(self) -> int:
        """How many there are."""
        return self.axis.length

    def then(self, coarser: Coarsening) -> Coarsening:
        """The same cells in the groups that a coarsening of the coarse axis makes of these."""
        return Coarsening(f"{self.name}.{coarser.name}", coarser.axis, coarser.group_of[self.group_of])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coarsening):
            return NotImplemented
        named = (self.name, self.axis) == (other.name, other.axis)
        return named and np.array_equal(self.group_of, other.group_of)

    def __hash__(self) -> int:
        return hash((self.name, self.axis, len(self.group_of)))

    def __repr__(self) -> str:
        return f"Coarsening({self.axis.name!r}, {len(self.group_of):,} cells in {self.groups:,} groups)"


def found_in(axis: Axis, name: str) -> Coarsening | None:
    """The coarsening of an axis that is called `name`: "weekday", or "month.year" of a coarsening's own axis."""
    for known, coarsening in axis.coarsenings.items():
        if name == known:
            return coarsening
        if name.startswith(f"{known}."):
            coarser = found_in(coarsening.axis, name.removeprefix(f"{known}."))
            if coarser is not None:
                return coarsening.then(coarser)
    return None


def all_names(axes: tuple[Axis, ...]) -> Iterator[str]:
    """Everything that may be named where an axis may be: each axis, and its coarsenings after it."""
    for axis in axes:
        yield axis.name
        yield from (coarsening.axis.name for coarsening in axis.coarsenings.values())


def checked_level(argument: str, name: object) -> str:
    """The name of a coarsening that people declare: one word, for it is written behind a dot."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w{0,99}", name):
        given = repr(name[:40]) if isinstance(name, str) else f"of type {type(name).__name__}"
        raise InvalidInput(argument, given, "give a word of letters and digits such as 'state'")
    return name
