"""Labels from a public table: `--by county:@counties.csv`, with the groups that they are in.

The first column has the labels that records hold, each further one what the one before is in: county, state, region.
The first line names the columns, and so the levels. Such a table is public, as everything is that declares an axis.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.errors import BadFile, InvalidInput, shortened

if TYPE_CHECKING:
    from sparsedp.axes import Axis

_MARKED = re.compile(r'\s*(?P<name>"(?:[^"]|"")*"|[^:"]*)\s*:\s*@(?P<path>.*\S)\s*', re.DOTALL)
_ENDING = ".csv"
_OTHER_DELIMITERS = ";\t|"
_MOST_BYTES = 2**26
_WHOLE = re.compile("0|-?[1-9][0-9]{0,18}")
_LONGEST_SHOWN = 40


def label_file(text: str) -> tuple[str, str] | None:
    """The name of an axis and the path of the table that has its labels; None of every other axis."""
    found = _MARKED.fullmatch(text)
    if found is None or not found["path"].lower().endswith(_ENDING):
        return None
    return found["name"].strip(), found["path"]


def moved_into(folder: Path, text: str) -> str:
    """The axis as it is named from elsewhere, where its table lies in a folder."""
    found = label_file(text)
    return text if found is None else f"{found[0]}:@{folder / found[1]}"


def axis_of(text: str) -> Axis:
    """The axis that a text declares, or a table that it names."""
    from sparsedp.axes import Categories
    from sparsedp.axes.base import leading_quoted

    found = label_file(text)
    if found is None:
        return _written_out(text)
    quoted = leading_quoted(found[0])
    name, path = found[0] if quoted is None else quoted[0], Path(found[1])
    columns, rows = _read(path)
    tree = _checked_tree(path, rows)
    labels = [row[0] for row in rows]
    whole = all(_WHOLE.fullmatch(label) for label in labels)
    levels = columns[:0:-1]
    try:
        return Categories(name, _as_declared(tree, len(columns) - 1, whole=whole), levels or None)
    except InvalidInput as error:
        what = f"{text[:60]!r}, in which {error.argument} is {error.given}"
        remedy = f"{error.remedy}; levels are named by the first line of {path}" if levels else error.remedy
        raise InvalidInput("by", what, remedy) from None


def _written_out(text: str) -> Axis:
    """The axis that a text declares by itself."""
    from sparsedp.axes import parse_axis

    try:
        return parse_axis(text)
    except InvalidInput:
        found = _MARKED.fullmatch(text)
        if found is None or "," in found["path"]:  # labels may begin with @, too
            raise
        given = f"{text[:60]!r}, a table of labels whose name does not end in {_ENDING}"
        raise InvalidInput("by", given, f"write the table as CSV, and name it such as @labels{_ENDING}") from None


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """The columns' names, and the rows, which all have as many fields."""
    try:
        if not path.is_file():
            raise BadFile(f"There is no file {path}, which an axis takes its labels from; check the path.")
        if path.stat().st_size > _MOST_BYTES:
            raise BadFile(f"{path} is larger than 64 MB; an axis takes its labels from a table of labels and groups.")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not a text file in UTF-8; save it as UTF-8.") from None
    except ValueError:  # a name that no file can have
        raise BadFile(f"There is no file {str(path)!r}; check the path.") from None
    try:
        lines = [(number, line) for number, line in _lines(text) if line]
    except csv.Error as error:
        raise BadFile(
            f"{path} is not a readable CSV file: {error}; check its double quotes, and how long its labels are."
        ) from None
    if len(lines) < 2:
        lack = "is empty" if not lines else "has a first line and no labels below it"
        raise BadFile(f"{path} {lack}; write the columns' names in its first line, such as county,state, and labels.")
    columns = lines[0][1]
    other = next((mark for mark in _OTHER_DELIMITERS if mark in columns[0]), None)
    if len(columns) == 1 and other is not None:
        # Taken as labels, these would fit no record: all would be dropped in silence, and zeros be published.
        raise BadFile(f"The first line of {path} has {other!r} and no comma; write commas between its columns.")
    for number, line in lines[1:]:
        if len(line) != len(columns):
            counted = f"{len(line)} {'field' if len(line) == 1 else 'fields'}"
            beside = f"and the first line {len(columns)}; give every label all its groups, and nothing more"
            raise BadFile(f"Line {number} of {path} has {counted}, {beside}.")
        if not all(line):
            raise BadFile(f"Line {number} of {path} has an empty field; give every label its groups.")
    return columns, [line for _, line in lines[1:]]


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each with its number in the file."""
    reader = csv.reader(text.splitlines(keepends=True), strict=True, skipinitialspace=True)
    for line in reader:
        yield reader.line_num, [field.strip() for field in line]


def _checked_tree(path: Path, rows: list[list[str]]) -> dict[str, Any]:
    """From the outermost groups to labels; what is in two groups at once is refused."""
    above: dict[tuple[int, str], str] = {}
    tree: dict[str, Any] = {}
    for row in rows:
        for level, (one, around) in enumerate(pairwise(row)):
            met = above.setdefault((level, one), around)
            if met != around:
                what = f"has {_shown(one)} in {_shown(met)} and in {_shown(around)}"
                raise BadFile(f"{path} {what}; let each be in one group, with a name of its own.")
        place = tree
        for group in row[:0:-1]:
            place = place.setdefault(group, {})
        place[row[0]] = None
    return tree


def _as_declared(tree: dict[str, Any], depth: int, *, whole: bool) -> Any:
    """As `Categories` takes it: groups, and labels in lists."""
    if depth == 0:
        return [int(label) for label in tree] if whole else list(tree)
    return {group: _as_declared(within, depth - 1, whole=whole) for group, within in tree.items()}


def _shown(text: str) -> str:
    return repr(shortened(text, _LONGEST_SHOWN))
