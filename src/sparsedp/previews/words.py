"""A preview in plain language: for the terminal, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, Any

from sparsedp.previews.questions import ASKED

if TYPE_CHECKING:
    from sparsedp.previews.report import Preview

Row = dict[str, Any]
HEADINGS = ("asked for", "answer", "error", "relative error", "Laplace's error", "half the error at")


def as_text(preview: Preview) -> str:
    """A paragraph, a small table for each total, and what to make of it."""
    parts = [_opening(preview)]
    for total in _totals(preview):
        parts.append(_aligned([HEADINGS, *_lines(preview, total)]))
    return "\n\n".join([*parts, " ".join(_remarks(preview))])


def as_html(preview: Preview) -> str:
    """The same for a notebook."""
    parts = [f"<p>{escape(_opening(preview))}</p>"]
    head = "".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS)
    for total in _totals(preview):
        rows = (
            "<tr>" + "".join(f"<td>{escape(field)}</td>" for field in line) + "</tr>" for line in _lines(preview, total)
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
    return "".join([*parts, f"<p>{escape(' '.join(_remarks(preview)))}</p>"])


def in_one_line(preview: Preview) -> str:
    """For the interpreter: what it is of, and the error of a cell."""
    error = between(row["error"] for row in preview.table if row["asked"] == "cell")
    setting = preview.setting
    return f"Preview({preview.domain}, {setting.budget}, {setting.made_by}: a cell off by {error})"


def question_name(preview: Preview, asked: str, cells: int) -> str:
    """What is asked, in words."""
    if asked == "box":
        return f"a {'range' if len(preview.domain.axes) == 1 else 'box'} of {cells:,} cell{'s' if cells > 1 else ''}"
    return {"cell": "a cell", "total": "the total"}[asked]


def figure(number: float) -> str:
    """Two digits and no more: 0.31, 1.2, 140, 33,000."""
    if number == 0:
        return "0"
    digits = 1 - floor(log10(abs(number)))
    if digits > 6:
        return f"{number:.1e}"
    return f"{round(number, digits):,.{max(0, digits)}f}"


def between(numbers: Iterable[float], show: Callable[[float], str] = figure) -> str:
    """One number if all look alike, else the smallest and the largest."""
    given = sorted(numbers)
    low, high = show(given[0]), show(given[-1])
    return low if low == high else f"{low} to {high}"


def _percent(share: float) -> str:
    return f"{figure(100 * share)} %"


def _totals(preview: Preview) -> list[int]:
    return list(dict.fromkeys(row["total"] for row in preview.table))


def _lines(preview: Preview, total: int) -> list[tuple[str, ...]]:
    """A line for each question, over all shapes."""
    lines: list[tuple[str, ...]] = []
    for asked in ASKED:
        rows = [row for row in preview.table if row["total"] == total and row["asked"] == asked]
        lines.append(
            (
                question_name(preview, asked, rows[0]["cells"]),
                figure(rows[0]["answer"]),
                between(row["error"] for row in rows),
                between((row["relative"] for row in rows), _percent),
                figure(rows[0]["laplace"]),
                _halving(preview, rows),
            )
        )
    return lines


def _halving(preview: Preview, rows: list[Row]) -> str:
    letter = "ρ" if preview.setting.budget.epsilon is None else "ε"
    found = [row["half_at"] for row in rows if row["half_at"] is not None]
    if not any(row["error"] for row in rows):
        return "–"
    if not found:
        return "far more"
    return f"{letter} = {between(found)}{'' if len(found) == len(rows) else ' or far more'}"


def _aligned(lines: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            field.ljust(width) if place == 0 else field.rjust(width)
            for place, (field, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _opening(preview: Preview) -> str:
    setting = preview.setting
    totals = " or ".join(f"{total:,}" for total in _totals(preview))
    shapes = list(dict.fromkeys(row["shape"] for row in preview.table))
    shape = f"of any shape ({', '.join(shapes)})" if len(shapes) > 1 else f"of the shape {shapes[0]!r}"
    return (
        f"Expected errors of a release at {setting.budget} by {setting.made_by}, for {preview.domain}, "
        f"if the counts add up to about {totals} and are {shape}. "
        "Simulated on made-up counts: no data was seen and nothing is spent."
    )


def _remarks(preview: Preview) -> list[str]:
    cells = [row for row in preview.table if row["asked"] == "cell"]
    remarks = [_standing_out(cells)]
    if all(row["relative"] >= 1 for row in cells):
        remarks.append(
            "At this budget a typical cell is mostly noise: publish fewer, larger cells, or ask only for sums of many."
        )
    simulated = preview.scenarios[0].domain
    if simulated.size < preview.domain.size:
        remarks.append(
            f"So many cells were not simulated: smaller tables of the same form were, of up to {simulated.size:,} "
            "cells, and their errors extended, which makes the figures rougher."
        )
    return remarks


def _standing_out(cells: list[Row]) -> str:
    seen = [row["stands_out"] for row in cells if row["stands_out"] is not None]
    if not seen:
        return "A lone cell does not stand out from its surroundings, however much it holds within reason."
    but = "" if len(seen) == len(cells) else ", in some of the shapes not at all"
    least = f"{between(seen)} more than expected there{but}"
    return f"A lone cell stands out, by three standard errors, from about {least}."
