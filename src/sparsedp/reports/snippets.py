"""How to ask the release more, in its own words: Python, SQL and the shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.reports.views import axes_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

LONGEST = 200
"""An example with a longer label in it would not be read."""


@dataclass(frozen=True)
class Snippet:
    """One way of asking, ready to be copied."""

    heading: str
    says: str
    code: str


def snippets(release: Release, file: str) -> list[Snippet]:
    """The release lies in `file`."""
    select = example_sql(release)
    return [
        Snippet(
            "Python",
            _says(release),
            python_example(release, file),
        ),
        Snippet(
            "Command line",
            "The SQL question from the shell; it adds up values, without ranges:",
            f"sparsedp query {_quoted(file)} {_quoted(select)}",
        ),
        Snippet(
            "Any other tool",
            "The file is plain Parquet, which pandas, polars, Spark and DuckDB open as it is. In DuckDB:",
            f"{example_sql(release, _text(file))};",
        ),
    ]


def python_example(release: Release, file: str) -> str:
    """A few lines that run where the file lies."""
    asked = _asked(release)
    lines = ["import sparsedp as sdp", f"release = sdp.open_release({file!r})"]
    lines.append(f"print(release.sql({example_sql(release)!r}))")
    if release.uncertainty is not None:
        lines.append(f"print(release.interval({asked}))")
        if release.domain is not None and len(release.domain.axes) > 1:
            kept, example = _asked_axis(release.domain.axes).name, "select * from release"
            lines.append(f"print(release.marginal({kept!r}).sql({example!r}))")
    elif release.domain is not None:
        lines.append(f"print(release.box_sum({asked}))")
    else:
        lines.append(f"print(release.range_sum{asked})")
    return "\n".join(lines)


def example_sql(release: Release, table: str = "release") -> str:
    """A sum by the first axis of labels, or the largest cells."""
    value = release.quantity.column
    labels = next((axis for axis in axes_of(release) if isinstance(axis, Categories)), None)
    if labels is None:
        return f"select * from {table} order by {value} desc limit 10"  # noqa: S608  # shown, never run
    column = _name(labels.name)
    return f"select {column}, sum({value}) from {table} group by {column} order by 2 desc"  # noqa: S608


def _asked(release: Release) -> str:
    """One box, or a range of a plain vector."""
    if release.domain is None:
        return f"(0, {max(1, len(release) // 2)})"
    axis = _asked_axis(release.domain.axes)
    return "{" + f"{axis.name!r}: {_box_value(axis)}" + "}"


def _asked_axis(axes: Sequence[Axis]) -> Axis:
    return next((axis for axis in axes if isinstance(axis, Categories)), axes[0])


def _says(release: Release) -> str:
    if release.uncertainty is None:
        return "Any sum of cells, and SQL, answered on your own machine:"
    several = release.domain is not None and len(release.domain.axes) > 1
    table = ", and `marginal` for a whole table of sums with their errors" if several else ""
    return (
        "Questions are answered on your own machine. Sums in SQL come without a range, and adding up the column "
        f"stderr does not give one: ask `interval` for a sum with its range{table}."
    )


def _box_value(axis: Axis) -> str:
    half = max(1, axis.length // 2)
    if isinstance(axis, Categories):
        shown = [label for label in axis.labels if len(str(label)) <= LONGEST] or list(axis.labels[:1])
        return repr(shown[0])
    if isinstance(axis, Bins):
        finite = [edge for edge in axis.edges if np.isfinite(edge)]
        return f"({finite[0]!r}, {finite[min(half, len(finite) - 1)]!r})" if len(finite) > 1 else "slice(0, 1)"
    if isinstance(axis, Integers):
        return f"({axis.first}, {axis.first + half})"
    if isinstance(axis, Calendar) and axis.length > 1 and (axis.zone or not axis.utc):
        (times,) = axis.columns().values()
        first, last = (str(time.astype("datetime64[m]")).removesuffix("T00:00") for time in (times[0], times[half]))
        if (times[0] == np.datetime64(first)) and times[half] == np.datetime64(last):
            return f"({first!r}, {last!r})"
    return f"slice(0, {half})"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(text: str) -> str:
    return shlex.quote(text)
