"""Labels: regions, diagnoses, kinds of traffic; in a hierarchy where one was declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, quoted_label, quoted_name
from sparsedp.axes.coarsening import Coarsening, checked_level
from sparsedp.axes.integers import within
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.files.columns_file import Column
from sparsedp.validate import kind_of, whole, yes_or_no

_WANTED = "give different labels, all of them text or all of them whole numbers"

_MOST_LEVELS = 8


@dataclass(frozen=True)
class Level:
    """One level of a hierarchy: what its groups are called, and the number of its group for each label."""

    name: str
    groups: tuple[str, ...]
    group_of: tuple[int, ...]


@dataclass(frozen=True, init=False, repr=False)
class Categories(Axis):
    """One cell for each label, in the order they are given; the order means nothing, unless they are `ordered`.

    Labels are text, or whole numbers where the records hold codes. A record with another label is outside; a label
    such as "other" collects those only if the records are relabelled first.

    A mapping from groups to their labels declares a hierarchy, of which the records hold the labels; groups may have
    groups in turn, all labels equally many. `coarsenings` has a level under each of `levels`, outermost first: "group"
    if there is one, and "group2", … around it, unless they are named.

    >>> Categories("region", ["north", "south"]).index_of(["south", "east", "north"]).tolist()
    [1, -1, 0]
    >>> county = Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"])
    >>> county.labels, county.coarsenings["state"].axis
    (('a', 'b', 'c'), Categories('county.state', ['north', 'south']))
    """

    name: str
    labels: tuple[str, ...] | tuple[int, ...]
    ordered: bool
    hierarchy: tuple[Level, ...]
    """Its levels, outermost first."""

    kind: ClassVar[str] = "categories"

    def __init__(
        self, name: str, labels: Labels | Hierarchy, levels: Iterable[str] | None = None, *, ordered: bool = False
    ) -> None:
        leaves, groups = _flattened(labels)
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "labels", _checked(leaves))
        object.__setattr__(self, "ordered", yes_or_no("ordered", ordered))
        object.__setattr__(self, "hierarchy", _checked_levels(self.name, self.labels, groups, levels))

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
        """A label, or a list of them; a group's name is all of its labels."""
        if isinstance(wanted, slice):
            return counted_cells(self, wanted)
        several = wanted if isinstance(wanted, tuple | list | set | frozenset | np.ndarray) else [wanted]
        return np.unique(np.array([place for one in several for place in self._places_of(one)], dtype=np.int64))

    def columns(self) -> dict[str, Column]:
        """The labels, under the axis' own name."""
        return {self.name: np.array(self.labels, dtype=np.int64 if self._numeric else object)}

    @property
    def spec(self) -> str:
        """sex:F,M, size:S<M<L and county:north(a,b),south(c)/state; labels that may be misread are in double quotes."""
        between = "<" if self.ordered else ","
        alone = between if self.length == 1 and (self.ordered or not self.hierarchy) else ""
        levels = "".join(f"/{level}" for level in self.levels) if self._levels_named else ""
        return f"{quoted_name(self.name)}:{self._written(self._nested())}{alone}{levels}"

    def describe(self) -> dict[str, Any]:
        """Kind, name and labels; of a hierarchy, each group with its labels: JSON may not keep a mapping's order."""
        described: dict[str, Any] = {"kind": self.kind, "name": self.name, "labels": self._nested()}
        if self.hierarchy:
            described["levels"] = list(self.levels)
        return {**described, "ordered": True} if self.ordered else described

    @property
    def levels(self) -> tuple[str, ...]:
        """What the levels of the hierarchy are called, outermost first."""
        return tuple(level.name for level in self.hierarchy)

    def __repr__(self) -> str:
        levels = f", levels={list(self.levels)!r}" if self._levels_named else ""
        ordered = ", ordered=True" if self.ordered else ""
        return f"Categories({self.name!r}, {_as_mapping(self._nested())!r}{levels}{ordered})"

    @property
    def _levels_named(self) -> bool:
        return self.levels != _default_levels(len(self.hierarchy))

    @cached_property
    def _coarsenings(self) -> dict[str, Coarsening]:
        """Finest first. A coarse axis has the levels above its own for a hierarchy."""
        found: dict[str, Coarsening] = {}
        for depth in reversed(range(len(self.hierarchy))):
            level = self.hierarchy[depth]
            first = np.unique(np.array(level.group_of, dtype=np.int64), return_index=True)[1].tolist()
            above = [
                Level(outer.name, outer.groups, tuple(outer.group_of[label] for label in first))
                for outer in self.hierarchy[:depth]
            ]
            labels = _nested(level.groups, above)
            names = [outer.name for outer in above]
            axis = Categories(f"{self.name}.{level.name}", labels, names or None, ordered=self.ordered)
            found[level.name] = Coarsening(level.name, axis, np.array(level.group_of, dtype=np.int64))
        return found

    def _nested(self) -> list[Any]:
        return _nested(self.labels, self.hierarchy)

    def _written(self, parts: list[Any]) -> str:
        """Labels, and groups with their labels in brackets."""
        written = [
            f"{quoted_label(part[0])}({self._written(part[1])})"
            if isinstance(part, list)
            else quoted_label(part)
            if isinstance(part, str)
            else str(part)
            for part in parts
        ]
        return ("<" if self.ordered else ",").join(written)

    @cached_property
    def _grouped(self) -> dict[str, list[int]]:
        """The labels of every group."""
        found: dict[str, list[int]] = {}
        for level in self.hierarchy:
            for place, group in enumerate(level.group_of):
                found.setdefault(level.groups[group], []).append(place)
        return found

    def _places_of(self, wanted: object) -> list[int]:
        """Of a group's name, all of its labels."""
        found = self._grouped.get(wanted) if isinstance(wanted, str) else None
        return [self._place(wanted)] if found is None else found

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


# Hierarchies: groups of labels, and groups of groups, every label below equally many of them.

Labels = Iterable[str] | Iterable[int]
Hierarchy = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""From a group to its labels, or to groups in turn."""

_A_HIERARCHY = 'give each group its labels, such as {"north": ["a", "b"], "south": ["c"]}'


def _flattened(labels: object) -> tuple[Any, list[tuple[str, ...]]]:
    """The labels alone, and the groups that each is in, outermost first; nothing of the latter in a flat list."""
    pairs = _pairs(labels)
    if pairs is None:
        return labels, []
    leaves: list[Any] = []
    groups: list[tuple[str, ...]] = []
    _gather(pairs, (), leaves, groups)
    return leaves, groups


def _gather(
    pairs: list[tuple[Any, Any]], above: tuple[str, ...], leaves: list[Any], groups: list[tuple[str, ...]]
) -> None:
    if len(above) == _MOST_LEVELS:
        raise InvalidInput("labels", "a hierarchy nested too deep", f"give at most {_MOST_LEVELS} levels of groups")
    met: set[object] = set()
    for group, members in pairs:
        if not isinstance(group, str):
            raise InvalidInput(
                "labels", f"a hierarchy with a group of type {type(group).__name__}", "name groups by text"
            )
        shown = repr(group[:40])
        if group in met:
            raise InvalidInput(
                "labels", f"a hierarchy with the group {shown} in it twice", "give all its labels at once"
            )
        met.add(group)
        inner = _pairs(members)
        if inner is not None:
            _gather(inner, (*above, group), leaves, groups)
            continue
        if isinstance(members, str | bytes) or not isinstance(members, Iterable):
            given = f"a hierarchy whose group {shown} is of type {type(members).__name__}"
            raise InvalidInput("labels", given, _A_HIERARCHY)
        several = list(members)
        if not several:
            raise InvalidInput(
                "labels", f"a hierarchy whose group {shown} is empty", "give every group a label, or leave it out"
            )
        leaves += several
        groups += [(*above, group)] * len(several)


def _pairs(labels: object) -> list[tuple[Any, Any]] | None:
    """Groups with what is in them; None of a list of labels. An empty mapping is an empty list."""
    if isinstance(labels, Mapping):
        return list(labels.items()) or None
    if not isinstance(labels, list | tuple) or not any(isinstance(part, list | tuple) for part in labels):
        return None
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in labels):
        raise InvalidInput("labels", "a list of groups and labels side by side", _A_HIERARCHY)
    return [(group, members) for group, members in labels]


def _checked_levels(
    name: str, labels: tuple[Any, ...], groups: list[tuple[str, ...]], levels: object
) -> tuple[Level, ...]:
    """The levels of a hierarchy in which every label, and every name of a group, is met once."""
    depth = len(groups[0]) if groups else 0
    names = _level_names(name, depth, levels)
    if any(len(above) != depth for above in groups):
        odd = next(label for label, above in zip(labels, groups, strict=True) if len(above) != depth)
        given = (
            f"a hierarchy in which {str(labels[0])[:40]!r} and {str(odd)[:40]!r} are below different numbers of groups"
        )
        raise InvalidInput("labels", given, "give every label equally many levels of groups")
    taken = {str(label): "a label" for label in labels}
    found: list[Level] = []
    for place, level in enumerate(names):
        # A group is met with the groups around it: the same name elsewhere is another group.
        met = list(dict.fromkeys(above[: place + 1] for above in groups))
        for path in met:
            if path[-1] in taken:
                given = f"a hierarchy in which {path[-1][:40]!r} is a group and {taken[path[-1]]} as well"
                raise InvalidInput("labels", given, "give every group a name of its own")
            taken[path[-1]] = "another group"
        numbers = {path: number for number, path in enumerate(met)}
        group_of = tuple(numbers[above[: place + 1]] for above in groups)
        found.append(Level(level, tuple(path[-1] for path in met), group_of))
    return tuple(found)


def _level_names(name: str, depth: int, levels: object) -> tuple[str, ...]:
    if levels is None:
        levels = _default_levels(depth)
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        raise InvalidInput("levels", f"of type {type(levels).__name__}", "give a list of names, outermost first")
    names = tuple(checked_level("levels", level) for level in levels)
    if not depth and names:
        raise InvalidInput("levels", "given with labels that are in no groups", f"leave it out, or {_A_HIERARCHY}")
    if len(names) != depth or len(set(names)) < depth:
        given = f"a list of {len(names)}" if len(names) != depth else "a list with a name in it twice"
        number = "is one level" if depth == 1 else f"are {depth} levels"
        raise InvalidInput("levels", given, f"there {number} of groups: name each once, outermost first")
    for level in names:
        checked_name(f"{name}.{level}")
    return names


def _default_levels(depth: int) -> tuple[str, ...]:
    """group, and around it group2, …."""
    return tuple(f"group{number}" if number > 1 else "group" for number in range(depth, 0, -1))


def _nested(labels: tuple[Any, ...], levels: Sequence[Level]) -> list[Any]:
    """Labels in their groups, as lists: [["north", ["a", "b"]], ["south", ["c"]]]."""
    parts: list[Any] = list(labels)
    keys = list(zip(*(level.group_of for level in levels), strict=True)) if levels else []
    for depth in reversed(range(len(levels))):
        outer: list[Any] = []
        met: list[tuple[int, ...]] = []
        for key, part in zip(keys, parts, strict=True):
            if not met or met[-1] != key[: depth + 1]:
                met.append(key[: depth + 1])
                outer.append([levels[depth].groups[key[depth]], []])
            outer[-1][1].append(part)
        parts, keys = outer, met
    return parts


def _as_mapping(nested: list[Any]) -> Any:
    """As people write it."""
    if nested and isinstance(nested[0], list):
        return {group: _as_mapping(members) for group, members in nested}
    return nested


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
