"""The report: one page of HTML that holds everything it needs and opens without a network."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.files.whole_file import checked_target, written_whole
from sparsedp.reports._reading import finer_than_shown, reading
from sparsedp.reports._statement import (
    Figure,
    details,
    facts,
    key_figures,
    ledger_line,
    not_promised,
    promise_in_words,
    protected_unit,
)
from sparsedp.reports._views import LEVEL, Banded, Picture, View, axes_of, views_of
from sparsedp.reports.words import decimals_for, default_title, span_of
from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


_SCRIPTS = (
    "writing.js",
    "ticks.js",
    "drawing.js",
    "line_frame.js",
    "line.js",
    "lines.js",
    "bars.js",
    "without_noise.js",
    "heat.js",
    "table.js",
    "page.js",
)
_ENDINGS = (".html", ".htm")
_LONGEST_TITLE = 200


def write_report(
    release: Release,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    file: str | os.PathLike[str] | None = None,
) -> Path:
    """Write a page about the release that opens offline: the numbers with their ranges, and what is promised.

    `title` heads it; `file` is the name of the release's own file, for the examples on the page. The page appears under
    its name only once it is complete. Nothing of it was not published before: it shows the release and no more.
    """
    target = checked_target(path, _ENDINGS, "the report is a page of HTML")
    named = _checked_title(title) or default_title(release)
    page = page_of(release, title=named, file=_name_of(file, target)).encode()
    return written_whole(target, lambda file: file.write(page))


def page_of(release: Release, *, title: str, file: str | None = None) -> str:
    """The whole page as text."""
    views, left_out = views_of(release)
    style, script = _part("page.css"), _script()
    most = max(picture.banded.values.size for view in views for picture in view.pictures)
    fields = {
        "policy": _policy(style, script),
        "version": _escape(__version__),
        "title": _escape(title),
        "style": style,
        "script": script,
        "kicker": "Published with differential privacy" if release.private else "Not private",
        "lead": _escape(_lead(release)),
        "warning": _warning(release),
        "figures": _figures(key_figures(release)),
        "coarse": _paragraphs([finer_than_shown(release, most)] if len(axes_of(release)) <= 2 else [], "note"),
        "reading": _paragraphs(reading(release, views, left_out)),
        "promise": _promise(release),
        "facts": _list(facts(release)),
        "details": _list(details(release)),
        "file_note": _escape("" if file else "(Put the name of your own file for release.parquet.)"),
        "snippets": "".join(
            f"<h3>{_escape(each.heading)}</h3><p>{_with_code(each.says)}</p>"
            f'<pre tabindex="0" role="region" aria-label="{_escape(each.heading)} example">'
            f"<code>{_code(each.code)}</code></pre>"
            for each in snippets(release, file or "release.parquet")
        ),
        "ledger": _ledger(release),
        "data": in_script(_chart_data(release, views, title)),
    }
    # One pass over the template: what was put in is never looked at again, whatever braces it holds.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match[1]], _part("page.html"))


def _escape(text: str) -> str:
    """Text that may stand anywhere on the page, in quotes too, and that cannot turn the direction of writing."""
    return html.escape(printable(text))


def _code(text: str) -> str:
    """Lines of code."""
    return "\n".join(map(_escape, text.split("\n")))


def _shown(data: Any) -> Any:
    """The same data, every text in it fit to be shown."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, Mapping):
        return {name: _shown(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return (
            [_shown(value) for value in data] if any(isinstance(each, str | Mapping | list) for each in data) else data
        )
    return data


def in_script(data: object) -> str:
    """JSON that can stand in a script element: no tag, comment or line separator can begin inside it."""
    text = json.dumps(_shown(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded from anywhere, and only this style and this script run."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _part(name: str) -> str:
    return files("sparsedp.reports").joinpath(name).read_text(encoding="utf-8")


def _script() -> str:
    return '(() => {\n"use strict";\n' + "\n".join(_part(name) for name in _SCRIPTS) + "})();\n"


def _lead(release: Release) -> str:
    cells = f"{len(release):,} number{'s' if len(release) > 1 else ''}"
    if not release.private:
        return f"{cells}, made with noise that can be repeated: for tests only."
    hidden = protected_unit(release.guarantee)
    known = "" if release.uncertainty is None else " Each comes with the range that its true value is likely in."
    when = next((span_of(axis) for axis in axes_of(release) if isinstance(axis, Calendar)), None)
    begin = f"{when[:1].upper()}{when[1:]}: {cells}" if when else cells
    return f"{begin}, published with noise that hides any one {hidden}.{known}"


def _warning(release: Release) -> str:
    if release.private:
        return ""
    words = _escape(promise_in_words(release.guarantee)[0])
    return f'<div class="banner" role="alert"><strong>NOT PRIVATE</strong><p>{words}</p></div>'


def _promise(release: Release) -> str:
    parts = _paragraphs(promise_in_words(release.guarantee))
    never = not_promised(release.guarantee)
    if never:
        items = "".join(f"<li>{_escape(each)}</li>" for each in never)
        parts += f"<h3>What it does not promise</h3><ul>{items}</ul>"
    return f'{parts}<h3>In strict terms</h3><p class="strict">{_escape(str(release.guarantee))}</p>'


def _ledger(release: Release) -> str:
    lines = ledger_line(release.record)
    if not lines:
        return "<p>This release names no ledger: what else was published from the same data is not known here.</p>"
    why = (
        "A ledger adds up what all releases from one data set spend, so that together they stay within its budget. "
        "This is what it says of this release."
    )
    return f'<p>{why}</p><dl class="facts">{_list(lines)}</dl>'


def _figures(figures: Iterable[Figure]) -> str:
    return "".join(
        f"<div><dt>{_escape(each.name)}</dt><dd>{_escape(each.value)}"
        + (f'<span class="small">{_escape(each.note)}</span>' if each.note else "")
        + "</dd></div>"
        for each in figures
    )


def _with_code(text: str) -> str:
    """Text in which what stands between backquotes is code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", _escape(text))


def _list(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{_escape(name)}</dt><dd>{_escape(value)}</dd></div>" for name, value in pairs)


def _paragraphs(texts: Iterable[str | None], kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return "".join(f"<p{style}>{_escape(text)}</p>" for text in texts if text)


def _checked_title(title: object) -> str | None:
    if title is None:
        return None
    if not isinstance(title, str) or not title.strip():
        given = "empty" if isinstance(title, str) else f"of type {type(title).__name__}"
        raise InvalidInput("title", given, "give a short text, or leave it out")
    if len(title) > _LONGEST_TITLE:
        raise InvalidInput("title", f"{len(title)} characters long", f"give at most {_LONGEST_TITLE}")
    return " ".join(title.split())


def _name_of(file: str | os.PathLike[str] | None, target: Path) -> str | None:
    """The release's file as seen from the page; where nobody says, one of the page's own name beside it."""
    if file is not None:
        return str(Path(file))
    beside = [target.with_suffix(ending) for ending in (".release.parquet", ".parquet")]
    return next((each.name for each in beside if each.is_file()), None)


# What the page's script draws: plain numbers and labels, no finer than they are known.

_SPARE_DIGITS = 1
"""More decimals than two digits of the error, so that sums of what is shown stay right."""


def _chart_data(release: Release, views: list[View], title: str) -> dict[str, Any]:
    """A JSON-able description of every view."""
    return {
        "title": title,
        "quantity": str(release.quantity),
        "column": release.quantity.column,
        "level": LEVEL,
        "views": [_view(view) for view in views],
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "kinds": list(view.kinds),
        "title": view.title,
        "opens": view.opens,
        "pictures": [_picture(picture) for picture in view.pictures],
    }


def _picture(picture: Picture) -> dict[str, Any]:
    banded = picture.banded
    digits = _digits(banded)
    found: dict[str, Any] = {
        "name": picture.groupings[-1].name,
        "axes": [{**grouping.scale, "partial": list(grouping.partial)} for grouping in picture.groupings],
        "values": _numbers(banded.values, digits),
    }
    if banded.why_not is not None:
        found["note"] = banded.why_not
    if banded.low is not None and banded.high is not None:
        found |= {"low": _numbers(banded.low, digits), "high": _numbers(banded.high, digits)}
    return found


def _digits(banded: Banded) -> int:
    half = banded.half_width
    known = np.zeros(0) if half is None else half[np.isfinite(half) & (half > 0)]
    if known.size:
        return decimals_for(float(known.min())) + _SPARE_DIGITS
    # Without an error, about six digits of the greatest value.
    greatest = float(np.abs(banded.values).max(initial=0.0))
    return decimals_for(greatest / 1e4) if greatest else 0


def _numbers(values: Floats, digits: int) -> list[float | int | None]:
    rounded = np.round(values.ravel(), digits)
    if digits == 0 or (rounded == np.rint(rounded)).all():
        return [int(value) if np.isfinite(value) else None for value in rounded.tolist()]
    return [value if np.isfinite(value) else None for value in rounded.tolist()]


# How to ask the release more, in its own words: Python, SQL and the shell.

_LONGEST = 200
"""An example with a longer label in it would not be read."""


@dataclass(frozen=True)
class Snippet:
    """One way of asking, ready to be copied."""

    heading: str
    says: str
    code: str


def snippets(release: Release, file: str) -> list[Snippet]:
    """The release lies in `file`."""
    select = _example_sql(release)
    return [
        Snippet(
            "Python",
            _says(release),
            _python_example(release, file),
        ),
        Snippet(
            "Command line",
            "The SQL question from the shell; it adds up values, without ranges:",
            f"sparsedp query {_quoted(file)} {_quoted(select)}",
        ),
        Snippet(
            "Any other tool",
            "The file is plain Parquet, which pandas, polars, Spark and DuckDB open as it is. In DuckDB:",
            f"{_example_sql(release, _text(file))};",
        ),
    ]


def _python_example(release: Release, file: str) -> str:
    """A few lines that run where the file lies."""
    asked = _asked(release)
    lines = ["import sparsedp as sdp", f"release = sdp.open_release({file!r})"]
    lines.append(f"print(release.sql({_example_sql(release)!r}))")
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


def _example_sql(release: Release, table: str = "release") -> str:
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
        shown = [label for label in axis.labels if len(str(label)) <= _LONGEST] or list(axis.labels[:1])
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
