"""The report: one page of HTML that holds everything it needs and opens without a network."""

from __future__ import annotations

import html
import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.axes import Calendar
from sparsedp.errors import InvalidInput
from sparsedp.reports.axis_words import default_title, span_of
from sparsedp.reports.chart_data import chart_data
from sparsedp.reports.facts import Figure, details, facts, key_figures, ledger_line
from sparsedp.reports.files import checked_target, write_whole
from sparsedp.reports.reading import finer_than_shown, reading
from sparsedp.reports.snippets import snippets
from sparsedp.reports.statement import not_promised, promise_in_words, protected_unit
from sparsedp.reports.views import axes_of, views_of
from sparsedp.untrusted import printable
from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

SCRIPTS = (
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
ENDINGS = (".html", ".htm")
LONGEST_TITLE = 200


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
    target = checked_target(path, ENDINGS, "the report is a page of HTML")
    named = _checked_title(title) or default_title(release)
    return write_whole(target, page_of(release, title=named, file=_name_of(file, target)).encode())


def page_of(release: Release, *, title: str, file: str | None = None) -> str:
    """The whole page as text."""
    views, left_out = views_of(release)
    style, script = _part("page.css"), _script()
    most = max(picture.banded.values.size for view in views for picture in view.pictures)
    fields = {
        "policy": _policy(style, script),
        "version": escape(__version__),
        "title": escape(title),
        "style": style,
        "script": script,
        "kicker": "Published with differential privacy" if release.private else "Not private",
        "lead": escape(_lead(release)),
        "warning": _warning(release),
        "figures": _figures(key_figures(release)),
        "coarse": _paragraphs([finer_than_shown(release, most)] if len(axes_of(release)) <= 2 else [], "note"),
        "reading": _paragraphs(reading(release, views, left_out)),
        "promise": _promise(release),
        "facts": _list(facts(release)),
        "details": _list(details(release)),
        "file_note": escape("" if file else "(Put the name of your own file for release.parquet.)"),
        "snippets": "".join(
            f"<h3>{escape(each.heading)}</h3><p>{_with_code(each.says)}</p>"
            f'<pre tabindex="0" role="region" aria-label="{escape(each.heading)} example">'
            f"<code>{_code(each.code)}</code></pre>"
            for each in snippets(release, file or "release.parquet")
        ),
        "ledger": _ledger(release),
        "data": in_script(chart_data(release, views, title)),
    }
    # One pass over the template: what was put in is never looked at again, whatever braces it holds.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match[1]], _part("page.html"))


def escape(text: str) -> str:
    """Text that may stand anywhere on the page, in quotes too, and that cannot turn the direction of writing."""
    return html.escape(printable(text))


def _code(text: str) -> str:
    """Lines of code."""
    return "\n".join(map(escape, text.split("\n")))


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
    return '(() => {\n"use strict";\n' + "\n".join(_part(name) for name in SCRIPTS) + "})();\n"


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
    words = escape(promise_in_words(release.guarantee)[0])
    return f'<div class="banner" role="alert"><strong>NOT PRIVATE</strong><p>{words}</p></div>'


def _promise(release: Release) -> str:
    parts = _paragraphs(promise_in_words(release.guarantee))
    never = not_promised(release.guarantee)
    if never:
        items = "".join(f"<li>{escape(each)}</li>" for each in never)
        parts += f"<h3>What it does not promise</h3><ul>{items}</ul>"
    return f'{parts}<h3>In strict terms</h3><p class="strict">{escape(str(release.guarantee))}</p>'


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
        f"<div><dt>{escape(each.name)}</dt><dd>{escape(each.value)}"
        + (f'<span class="small">{escape(each.note)}</span>' if each.note else "")
        + "</dd></div>"
        for each in figures
    )


def _with_code(text: str) -> str:
    """Text in which what stands between backquotes is code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _list(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)


def _paragraphs(texts: Iterable[str | None], kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return "".join(f"<p{style}>{escape(text)}</p>" for text in texts if text)


def _checked_title(title: object) -> str | None:
    if title is None:
        return None
    if not isinstance(title, str) or not title.strip():
        given = "empty" if isinstance(title, str) else f"of type {type(title).__name__}"
        raise InvalidInput("title", given, "give a short text, or leave it out")
    if len(title) > LONGEST_TITLE:
        raise InvalidInput("title", f"{len(title)} characters long", f"give at most {LONGEST_TITLE}")
    return " ".join(title.split())


def _name_of(file: str | os.PathLike[str] | None, target: Path) -> str | None:
    """The release's file as seen from the page; where nobody says, one of the page's own name beside it."""
    if file is not None:
        return str(Path(file))
    beside = [target.with_suffix(ending) for ending in (".release.parquet", ".parquet")]
    return next((each.name for each in beside if each.is_file()), None)
