"""An axis in one line of text: `age:0..120/5`, `sex:F,M`, `day:2024-01-01..2024-12-31/1d@Europe/Berlin`.

    name:A,B,C                         labels; whole numbers without leading zeros are numbers, all else is text
    name:"north, east","007"           a label in double quotes is text, whatever it looks like
    name:F,                            one label alone is followed by a comma
    name:0..23                         the whole numbers from 0 to 23, both included
    name:0..100/5                      bins of width 5 from 0 to 100
    name:[0,18,65,120]                 bins between these edges; -inf and inf may be the outer ones
    name:2024-01-01..2024-12-31/1d     a calendar in steps of s, min, h, d, w, mo or y; the last day is included
    …/1h@Europe/Berlin                 by the wall clock of a time zone

A date, month or year as the end of a calendar is included whole; a time of day is where the last cell ends.
"""

from __future__ import annotations

import re

from sparsedp.axes.base import Axis, checked_name
from sparsedp.axes.bins import Bins, nearest_float
from sparsedp.axes.categories import Categories
from sparsedp.axes.quoting import AUTOMATIC, leading_quoted, listed
from sparsedp.axes.spec_range import parse_range
from sparsedp.errors import InvalidInput

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
    Categories(name='sex', labels=('F', 'M'))
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
    if ".." in cells and '"' not in cells and "," not in cells:
        return parse_range(name, cells)
    return Categories(name, _labels(cells))


def _edge(text: str) -> float:
    """The float nearest to the number."""
    infinite = re.fullmatch(r"([+-]?)(inf|infinity|∞)", text.strip().lower())
    return float(f"{infinite[1]}inf") if infinite else nearest_float("edges", text)


def _labels(cells: str) -> list[str] | list[int]:
    parts = listed(cells)
    if len(parts) == 1 and not parts[0][1] and not cells.endswith(","):
        given = f"{cells[:40]!r}, neither several labels nor a range"
        raise InvalidInput("what follows the colon", given, f"give one of {EXAMPLES}; one label alone ends in a comma")
    if any(not label and not quoted for label, quoted in parts):
        raise InvalidInput("one of the labels", "empty", 'give labels such as F,M; an empty one is written ""')
    plain = [label for label, quoted in parts if not quoted]
    if len(plain) == len(parts):
        if all(_WHOLE.fullmatch(label) for label in plain):
            return [int(label) for label in plain]
        if all(_DECIMAL.fullmatch(label) for label in plain) and not all(label.isdigit() for label in plain):
            given = "a list of numbers that are not all whole"
            raise InvalidInput("labels", given, f"give edges in brackets, [{cells[:40]}], or labels in double quotes")
    return [label for label, _ in parts]
