"""An axis in one line of text: `age:0..120/5`, `sex:F,M`, `day:2024-01-01..2024-12-31/1d@Europe/Berlin`.

    name:A,B,C                         labels; whole numbers without leading zeros are numbers, all else is text
    name:"north, east","007"           a label in double quotes is text, whatever it looks like
                                       (needed for one with a comma, which else ends a label)
    name:F,                            one label alone is followed by a comma
    name:S<M<L                         labels whose order means something
    name:north(a,b),south(c)           labels in groups: a hierarchy, of which records hold a, b and c
    name:north(a,b),south(c)/state     what its levels are called, outermost first, if not "group"
    name:0..23                         the whole numbers from 0 to 23, both included
    name:0..17,18..64,65..120          whole numbers in bands
    name:child(0..17),adult(18..120)   in bands that have names
    name:0..100/5                      bins of width 5 from 0 to 100
    name:[0,18,65,120]                 bins between these edges; -inf and inf may be the outer ones
    name:2024-01-01..2024-12-31/1d     a calendar in steps of s, min, h, d, w, mo or y; the last day is included
    …/1h@Europe/Berlin                 by the wall clock of a time zone

A date, month or year as the end of a calendar is included whole; a time of day is where the last cell ends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from sparsedp.axes.base import AUTOMATIC, Axis, checked_length, checked_name, leading_quoted, listed
from sparsedp.axes.bins import Bins, nearest_float
from sparsedp.axes.calendar import Calendar
from sparsedp.axes.categories import Categories
from sparsedp.axes.integers import Integers
from sparsedp.errors import InvalidInput
from sparsedp.validate import exact_number, one_of, shown

EXAMPLES = (
    "age:0..120/5 (bins), age:[0,18,65,120] (edges), sex:F,M (labels), day:2024-01-01..2024-12-31/1d (a calendar)"
)
_FROM_DATA = re.compile(r"(auto\b|min\s*\.\.)[^,]*", re.IGNORECASE)
_WHOLE = re.compile("0|-?[1-9][0-9]*")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf", re.IGNORECASE)


def parse_axis(text: str) -> Axis:
    """The axis that a line of text declares; `axis.spec` is such a line.

    >>> parse_axis("age:0..120/40")
    Bins(name='age', edges=(0.0, 40.0, 80.0, 120.0))
    >>> parse_axis("sex:F,M")
    Categories('sex', ['F', 'M'])
    >>> parse_axis("county:north(a,b),south(c)/state")
    Categories('county', {'north': ['a', 'b'], 'south': ['c']}, levels=['state'])
    >>> parse_axis("day:2024-02-01..2024-02-29/1d@Europe/Berlin").length
    29
    """
    if not isinstance(text, str):
        raise InvalidInput("by", f"of type {type(text).__name__}", f"give text such as {EXAMPLES}")
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    name, cells = _split(text, shown)
    if not cells or cells.lower() in AUTOMATIC or _FROM_DATA.fullmatch(cells):
        raise _undeclared(shown, name)
    try:
        return _axis(checked_name(name), cells)
    except InvalidInput as error:
        raise InvalidInput("by", f"{shown!r}, in which {error.argument} is {error.given}", error.remedy) from None


def _split(text: str, shown: str) -> tuple[str, str]:
    """The name, and what its cells are."""
    found = leading_quoted(text)
    if found is not None:
        name, rest = found
        if rest and not rest.startswith(":"):
            raise InvalidInput("by", repr(shown), f"give a name, a colon and its cells, such as {EXAMPLES}")
        return name, rest[1:].strip()
    name, _, cells = text.partition(":")
    return name.strip(), cells.strip()


def _undeclared(shown: str, name: str) -> InvalidInput:
    example = name if re.fullmatch(r"\w{1,30}", name) else "age"
    return InvalidInput(
        "by",
        f"{shown!r}, which does not say what the cells are",
        "they are never read off the data, for what is found there (the least and the largest value, a rare label) "
        "tells of single people; declare them from what is publicly known: "
        f"{example}:0..120/5 (bins), {example}:[0,18,65,120] (edges), {example}:A,B,C (labels) "
        f"or {example}:2024-01-01..2024-12-31/1d (a calendar)",
    )


def _axis(name: str, cells: str) -> Axis:
    if cells.startswith("["):
        if not cells.endswith("]"):
            raise InvalidInput("the list of edges", "without its closing bracket", "give edges such as [0,18,65,120]")
        return Bins(name, [_edge(edge) for edge in cells[1:-1].split(",")])
    if ".." in cells and '"' not in cells and "," not in cells and "(" not in cells:
        return _parse_range(name, cells)
    if _BANDS.fullmatch(cells):
        return _banded(name, [(None, part) for part in cells.split(",")])
    plain = re.sub(_IN_QUOTES, "", cells)
    _check_commas(plain)
    if re.search("[()]", plain) or ("<" in plain and "," not in plain):
        return _nested(name, cells, "," if "," in plain or "<" not in plain else "<")
    return Categories(name, _labels(cells))


def _check_commas(plain: str) -> None:
    """In Washington, DC,New York the first comma is part of a label: as two labels they would fit no record."""
    for part in re.split("[()]", plain):
        if len({bool(found[1]) for found in re.finditer(r",(\s*)(?=\S)", part)}) > 1:
            given = "a list with a blank after some of its commas, and none after others"
            wanted = 'write a label that has a comma of its own in double quotes, "Washington, DC", or all commas alike'
            raise InvalidInput("labels", given, wanted)


def _edge(text: str) -> float:
    """The float nearest to the number."""
    infinite = re.fullmatch(r"([+-]?)(inf|infinity|∞)", text.strip().lower())
    return float(f"{infinite[1]}inf") if infinite else nearest_float("edges", text)


def _labels(cells: str) -> list[str] | list[int]:
    parts = listed(cells)
    if len(parts) == 1 and not parts[0][1] and not cells.endswith(","):
        given = f"{cells[:40]!r}, neither several labels nor a range"
        raise InvalidInput("what follows the colon", given, f"give one of {EXAMPLES}; one label alone ends in a comma")
    return _typed(parts, cells)


def _typed(parts: list[tuple[str, bool]], cells: str) -> list[Any]:
    """Labels, each of which was quoted or not: all whole numbers, or all text."""
    if any(not label and not quoted for label, quoted in parts):
        raise InvalidInput("one of the labels", "empty", 'give labels such as F,M; an empty one is written ""')
    plain = [label for label, quoted in parts if not quoted]
    runs = [label for label in plain if ".." in label and _RUN.fullmatch(label)]
    if runs:
        # As labels they would fit no number: all records would be dropped in silence, and zeros be published.
        wanted = "give every band both its ends, such as 0..17,18..64,65..120, or labels in double quotes"
        raise InvalidInput("bands", f"{runs[0]} in a list that is not one of bands", wanted)
    if len(plain) == len(parts):
        if all(_WHOLE.fullmatch(label) for label in plain):
            return [int(label) for label in plain]
        if all(_DECIMAL.fullmatch(label) for label in plain) and not all(label.isdigit() for label in plain):
            given = "a list of numbers that are not all whole"
            raise InvalidInput("labels", given, f"give edges in brackets, [{cells[:40]}], or labels in double quotes")
    return [label for label, _ in parts]


# Labels in groups, in brackets behind the group's name; `<` between labels says that their order means something.

_IN_QUOTES = r'"(?:[^"]|"")*"'
_LEVELS = re.compile(r"(.*[),<])\s*((?:/\s*\w+\s*)+)", re.DOTALL)
_RUN = re.compile(r"\s*([+-]?[0-9]{1,20})\s*(?:\.\.\s*([+-]?[0-9]{1,20})\s*)?")
_BANDS = re.compile(rf"(?=.*\.\.){_RUN.pattern}(?:,{_RUN.pattern})+")
_BRACKETS = "write groups as north(a,b),south(c), and a label that has brackets of its own in double quotes"
_DEEPEST = 10


def _nested(name: str, cells: str, between: str) -> Axis:
    """Categories in a hierarchy or an order, or whole numbers in bands that have names."""
    found = _LEVELS.fullmatch(cells)
    text, levels = (found[1], [level.strip() for level in found[2].split("/")[1:]]) if found else (cells, None)
    tree = _tree(text, between)
    leaves: list[tuple[str, bool]] = []
    _collect(tree, leaves)
    grouped = all(within is not None for _, _, within in tree)
    runs = [within[0][0] for _, _, within in tree if within is not None and len(within) == 1 and not within[0][1]]
    if grouped and levels is None and len(runs) == len(tree) == len(leaves) and _are_runs(runs):
        return _banded(name, [(group, run) for (group, _, _), run in zip(tree, runs, strict=True)])
    typed = iter(_typed(leaves, cells))
    return Categories(name, _filled(tree, typed), levels, ordered=between == "<")


def _are_runs(texts: list[str]) -> bool:
    return all(_RUN.fullmatch(text) for text in texts) and any(".." in text for text in texts)


_Tree = list[tuple[str, bool, Any]]
"""Labels or groups, each with whether it was quoted, and what is in it; None of a label."""


def _tree(text: str, between: str) -> _Tree:
    """The labels and groups of a text, `between` standing between them, and perhaps once more at the end."""
    token = re.compile(rf'\s*(?:"((?:[^"]|"")*)"|([^"(){between}]*[^"(){between}\s])|([(){between}])|$)\s*', re.DOTALL)
    around: list[_Tree] = [[]]
    complete = False  # whether a label or a group has just ended, and what follows must say how it goes on
    place = 0
    while place < len(text):
        found = token.match(text, place)
        if found is None or (found[3] is None and complete):
            raise InvalidInput("labels", "a list with a double quote or a bracket out of place", _BRACKETS)
        place = found.end()
        quoted, plain, mark = found.groups()
        if mark is None:
            around[-1].append((plain if quoted is None else quoted.replace('""', '"'), quoted is not None, None))
            complete = True
        elif mark == "(" and complete and around[-1][-1][2] is None:
            if len(around) == _DEEPEST:
                raise InvalidInput("labels", "groups nested too deep", "give at most 8 levels of groups")
            group, was_quoted, _ = around[-1].pop()
            inner: _Tree = []
            around[-1].append((group, was_quoted, inner))
            around.append(inner)
            complete = False
        elif mark == ")" and len(around) > 1:
            around.pop()
            complete = True
        elif mark == between and complete:
            complete = False
        elif mark == between:
            raise InvalidInput("one of the labels", "empty", 'give labels such as F,M; an empty one is written ""')
        else:
            raise InvalidInput("labels", "a list with a bracket out of place", _BRACKETS)
    if len(around) > 1:
        raise InvalidInput("labels", "a list whose brackets do not all end", _BRACKETS)
    return around[0]


def _collect(tree: _Tree, leaves: list[tuple[str, bool]]) -> None:
    kinds = {within is None for _, _, within in tree}
    if len(kinds) > 1:
        raise InvalidInput("labels", "a list of groups and labels side by side", _BRACKETS)
    for label, quoted, within in tree:
        if within is None:
            leaves.append((label, quoted))
        else:
            _collect(within, leaves)


def _filled(tree: _Tree, leaves: Iterator[Any]) -> list[Any]:
    """The tree as `Categories` takes it."""
    return [next(leaves) if within is None else [label, _filled(within, leaves)] for label, _, within in tree]


def _banded(name: str, bands: list[tuple[str | None, str]]) -> Integers:
    """Whole numbers in runs that follow one another."""
    runs = []
    for _, text in bands:
        found = _RUN.fullmatch(text)
        assert found is not None  # noqa: S101  # of such texts only
        begin, end = int(found[1]), int(found[1] if found[2] is None else found[2])
        if end < begin:
            raise InvalidInput("bands", f"a list with {begin}..{end}", "give the lower end of each first")
        runs.append((begin, end))
    for (_, end), (begin, _) in pairwise(runs):
        if begin != end + 1:
            given = f"a list in which {begin} comes after {end}"
            raise InvalidInput("bands", given, "let each begin where the one before ends, such as 0..17,18..64,65..120")
    begins = [begin for begin, _ in runs]
    labels = [label for label, _ in bands if label is not None]
    named = list(zip(labels, begins, strict=True)) if labels else begins
    return Integers(name, begins[0], runs[-1][1], named)


# A range in the text of an axis, first..last/step@zone: whole numbers, regular bins or a calendar.

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}(-?([0-9]{2}|W).*)?")
_A_RANGE = "give a range such as 0..23, 0..100/5 or 2024-01-01..2024-12-31/1d"


def _parse_range(name: str, cells: str) -> Axis:
    """Integers, bins or a calendar, by how the ends and the step look."""
    body, at, zone = (part.strip() for part in cells.partition("@"))
    first, _, rest = (part.strip() for part in body.partition(".."))
    last, slash, step = (part.strip() for part in rest.partition("/"))
    if not first or not last or last.startswith(".") or (slash and not step) or (at and not zone):
        raise InvalidInput("what follows the colon", f"{cells[:40]!r}", _A_RANGE)
    of_numbers = _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last)
    if of_numbers and not at and (not step or _NUMBER.fullmatch(step)):
        return _bins(name, first, last, step) if step else _integers(name, first, last)
    if not of_numbers and not (_DATE.fullmatch(first) and _DATE.fullmatch(last)):
        odd = first if not _NUMBER.fullmatch(first) and not _DATE.fullmatch(first) else last
        infinite = "; infinite ends need edges, such as [-inf,0,18,65,inf]" if "inf" in odd.lower() else ""
        raise InvalidInput("one end of the range", repr(odd[:40]), _A_RANGE + infinite)
    if step and _NUMBER.fullmatch(step):
        raise InvalidInput(
            "the step", f"{step[:40]!r}, without its unit", "give one such as /15min, /1h, /1d, /1w or /1mo"
        )
    if not step and not (_is_day(first) and _is_day(last)):
        raise InvalidInput("the step", "missing", "give one such as /15min, /1h, /1d, /1w or /1mo after the end")
    return Calendar.between(name, first, last, step or "1d", zone or None)


def _is_day(text: str) -> bool:
    return re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None


def _integers(name: str, first: str, last: str) -> Integers:
    start, stop = exact_number("first", first), exact_number("last", last)
    if start.denominator != 1 or stop.denominator != 1:
        odd = first if start.denominator != 1 else last
        raise InvalidInput(
            "one end of the range", f"{odd}, not a whole number", f"give bins a width: {first}..{last}/0.1"
        )
    if max(abs(start), abs(stop)) > 2**62:
        odd = first if abs(start) > 2**62 else last
        raise InvalidInput("one end of the range", repr(odd[:40]), "give whole numbers from -2**62 to 2**62")
    return Integers(name, int(start), int(stop))


def _bins(name: str, first: str, last: str, step: str) -> Bins:
    """Exact: 0..1/0.1 has ten bins, though no float is a tenth."""
    start, stop, width = exact_number("first", first), exact_number("last", last), exact_number("the step", step)
    if width <= 0:
        raise InvalidInput("the step", shown(width), "give the width of a bin, above zero")
    if stop <= start:
        raise InvalidInput("last", f"{last}, with first {first}", "give first < last")
    nearest_float("edges", start), nearest_float("edges", stop)
    bins = (stop - start) / width
    if bins.denominator != 1:
        given = f"{shown(stop)}, and from {shown(start)} there are not whole steps of {shown(width)} to it"
        raise InvalidInput("last", given, f"give {_nearest(start, width, bins)}")
    number = f"{int(bins):,}" if bins < 10**24 else "more than 10**24"
    checked_length("the range", f"one of {number} bins", int(bins))
    return Bins.regular(name, start, stop, int(bins))


def _nearest(start: Fraction, width: Fraction, bins: Fraction) -> str:
    near = [start + width * whole for whole in (floor(bins), floor(bins) + 1) if whole > 0]
    return " or ".join(shown(end) for end in near if abs(end) <= sys.float_info.max)


# Every kind of axis by name, and back from its description.

AXES: dict[str, Callable[..., Axis]] = {
    "categories": Categories,
    "bins": Bins,
    "integers": Integers,
    "calendar": Calendar,
}


def axis_from(description: Mapping[str, Any]) -> Axis:
    """The axis that `describe` described. What cannot be one is refused in a sentence: it may come from a file."""
    if not isinstance(description, Mapping) or "kind" not in description:
        raise InvalidInput("axis", "described without its kind", "give what `describe()` returned")
    kind = one_of("kind", description["kind"], AXES)
    try:
        return kind(**{key: value for key, value in description.items() if key != "kind"})
    except TypeError:
        fields = ", ".join(sorted(map(str, description)))
        raise InvalidInput("axis", f"described by {fields}", "give what `describe()` returned") from None
