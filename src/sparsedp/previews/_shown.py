"""A preview in plain language, for the terminal and as HTML for notebooks, and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Calendar, Categories
from sparsedp.previews._made_up import ASKED, cells_asked_for
from sparsedp.previews._simulation import ASKED_FOR
from sparsedp.releases.uncertainty import possible_ends
from sparsedp.reports.grouping import groupings_of
from sparsedp.reports.picture import date_ticks, empty_figure, places_of, safe
from sparsedp.reports.words import labels_of

if TYPE_CHECKING:
    from sparsedp.previews._simulation import Scenario
    from sparsedp.previews.preview import Preview


# A preview in plain language: for the terminal, and as HTML for notebooks.

_Row = dict[str, Any]
_HEADINGS = ("asked for", "answer", "error", "relative error", "Laplace's error", "half the error at")


def as_text(preview: Preview) -> str:
    """A paragraph, a small table for each total, and what to make of it."""
    parts = [_opening(preview)]
    for total in _totals(preview):
        parts.append(_aligned([_HEADINGS, *_lines(preview, total)]))
    return "\n\n".join([*parts, " ".join(_remarks(preview))])


def as_html(preview: Preview) -> str:
    """The same for a notebook."""
    parts = [f"<p>{escape(_opening(preview))}</p>"]
    head = "".join(f"<th>{escape(heading)}</th>" for heading in _HEADINGS)
    for total in _totals(preview):
        rows = (
            "<tr>" + "".join(f"<td>{escape(field)}</td>" for field in line) + "</tr>" for line in _lines(preview, total)
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
    return "".join([*parts, f"<p>{escape(' '.join(_remarks(preview)))}</p>"])


def in_one_line(preview: Preview) -> str:
    """For the interpreter: what it is of, and the error of a cell."""
    error = _between(row["error"] for row in preview.table if row["asked"] == "cell")
    setting = preview.setting
    return f"Preview({preview.domain}, {setting.budget}, {setting.made_by}: a cell off by {error})"


def _question_name(preview: Preview, asked: str, cells: int) -> str:
    """What is asked, in words."""
    if asked == "box":
        return f"a {'range' if len(preview.domain.axes) == 1 else 'box'} of {cells:,} cell{'s' if cells > 1 else ''}"
    return {"cell": "a cell", "total": "the total"}[asked]


def _figure(number: float) -> str:
    """Two digits and no more: 0.31, 1.2, 140, 33,000."""
    if number == 0:
        return "0"
    digits = 1 - floor(log10(abs(number)))
    if digits > 6:
        return f"{number:.1e}"
    return f"{round(number, digits):,.{max(0, digits)}f}"


def _between(numbers: Iterable[float], show: Callable[[float], str] = _figure) -> str:
    """One number if all look alike, else the smallest and the largest."""
    given = sorted(numbers)
    low, high = show(given[0]), show(given[-1])
    return low if low == high else f"{low} to {high}"


def _percent(share: float) -> str:
    return f"{_figure(100 * share)} %"


def _totals(preview: Preview) -> list[int]:
    return list(dict.fromkeys(row["total"] for row in preview.table))


def _lines(preview: Preview, total: int) -> list[tuple[str, ...]]:
    """A line for each question, over all shapes."""
    lines: list[tuple[str, ...]] = []
    for asked in ASKED:
        rows = [row for row in preview.table if row["total"] == total and row["asked"] == asked]
        lines.append(
            (
                _question_name(preview, asked, rows[0]["cells"]),
                _figure(rows[0]["answer"]),
                _between(row["error"] for row in rows),
                _between((row["relative"] for row in rows), _percent),
                _figure(rows[0]["laplace"]),
                _halving(preview, rows),
            )
        )
    return lines


def _halving(preview: Preview, rows: list[_Row]) -> str:
    letter = "ρ" if preview.setting.budget.epsilon is None else "ε"
    found = [row["half_at"] for row in rows if row["half_at"] is not None]
    if not any(row["error"] for row in rows):
        return "–"
    if not found:
        return "far more"
    return f"{letter} = {_between(found)}{'' if len(found) == len(rows) else ' or far more'}"


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


def _standing_out(cells: list[_Row]) -> str:
    seen = [row["stands_out"] for row in cells if row["stands_out"] is not None]
    if not seen:
        return "A lone cell does not stand out from its surroundings, however much it holds within reason."
    but = "" if len(seen) == len(cells) else ", in some of the shapes not at all"
    least = f"{_between(seen)} more than expected there{but}"
    return f"A lone cell stands out, by three standard errors, from about {least}."


# The picture of a preview.

_SHOWN_FIRST = "smooth"
_WIDEST = 400
"""Cells in the picture: of more, the ones around the largest count are shown."""
_MOST_LABELS = 12
"""Of an axis of categories, written below the picture."""
_LONGEST_TITLE = 90
_COLOURS = {"cell": "tab:blue", "box": "tab:orange", "total": "tab:green"}


def draw(preview: Preview) -> Any:
    """Left a guessed table and one release of it, right how the errors fall with the budget."""
    canvas = empty_figure(11, 4.2)
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    names = [scenario.guess.shape for scenario in preview.scenarios]
    _draw_release(left, preview, preview.scenarios[names.index(_SHOWN_FIRST) if _SHOWN_FIRST in names else 0])
    _draw_errors(right, preview)
    budget, made_by = preview.setting.budget, preview.setting.made_by
    canvas.suptitle(f"What a release by {made_by} at {budget} would be like: made-up counts, nothing spent")
    return canvas


def _draw_release(axis: Any, preview: Preview, scenario: Scenario) -> None:
    along, line = _line_of_cells(scenario)
    counts, values = scenario.counts[line].astype(np.float64), scenario.values[line]
    error = float(scenario.errors[ASKED_FOR][ASKED.index("cell")])
    first = int(np.clip(counts.argmax() - _WIDEST // 2, 0, max(0, counts.size - _WIDEST)))
    shown = slice(first, first + _WIDEST)
    counts, values, places = counts[shown], values[shown], _scale(axis, scenario.domain.axes[along])[shown]
    low, high = possible_ends(values - 2 * error, values + 2 * error, values)
    axis.fill_between(places, counts, step="mid", color="0.85", label="made-up counts")
    axis.fill_between(places, low, high, step="mid", color="tab:blue", alpha=0.2, label="± 2 errors")
    axis.step(places, values, where="mid", color="tab:blue", linewidth=1.1, label="published")
    axis.axhline(0, color="0.6", linewidth=0.6)
    axis.set_ylabel("count")
    size = "" if scenario.domain == preview.domain else f", on {scenario.domain.size:,} cells"
    title = f"one guess: {scenario.guess.shape}, total {scenario.guess.total:,}{size}{_slice_in_words(scenario, line)}"
    axis.set_title(safe(title, _LONGEST_TITLE), loc="left", fontsize=10)
    axis.legend(fontsize=9)


def _scale(axis: Any, along: Axis) -> Any:
    """Where cells stand, in the axis' own words, which are written beside it."""
    finest = groupings_of(along)[-1]
    axis.set_xlabel(safe(along.name))
    if isinstance(along, Categories):
        every = -(-along.length // _MOST_LABELS)
        axis.set_xticks(np.arange(0, along.length, every), [safe(each, 12) for each in labels_of(finest)[::every]])
        return np.arange(along.length)
    if isinstance(along, Calendar):
        date_ticks(axis.xaxis)
    return places_of(finest)


def _slice_in_words(scenario: Scenario, line: tuple[int | slice, ...]) -> str:
    """Where on the other axes the drawn cells are: "; sex F"."""
    parts = [
        f"{axis.name} {labels_of(groupings_of(axis)[-1])[at]}"
        for axis, at in zip(scenario.domain.axes, line, strict=True)
        if not isinstance(at, slice)
    ]
    return f"; {', '.join(parts)}" if parts else ""


def _line_of_cells(scenario: Scenario) -> tuple[int, tuple[int | slice, ...]]:
    """The longest axis, an ordered one if there is one, through the largest count."""
    axes = scenario.domain.axes
    longest = max(range(len(axes)), key=lambda place: (axes[place].ordered, axes[place].length))
    peak = np.unravel_index(int(scenario.counts.argmax()), scenario.counts.shape)
    line = tuple(slice(None) if place == longest else int(at) for place, at in enumerate(peak))
    return longest, line


def _draw_errors(axis: Any, preview: Preview) -> None:
    setting, cells = preview.setting, cells_asked_for(preview.domain)
    factors = list(preview.scenarios[0].errors)
    budgets = [setting.budget_at(factor) for factor in factors]
    amounts = [float(budget.epsilon if budget.epsilon is not None else budget.rho or 0) for budget in budgets]
    noise = np.array([setting.plain_noise(factor) for factor in factors])
    for place, asked in enumerate(ASKED):
        errors: Floats = np.array([[each.errors[factor][place] for factor in factors] for each in preview.scenarios])
        colour = _COLOURS[asked]
        axis.fill_between(amounts, errors.min(axis=0), errors.max(axis=0), color=colour, alpha=0.25, linewidth=0)
        name = _question_name(preview, asked, cells[place])
        axis.plot(amounts, np.median(errors, axis=0), color=colour, marker="o", markersize=4, label=name)
        label = "the same by Laplace" if place == 0 else None
        axis.plot(amounts, noise * cells[place] ** 0.5, color=colour, linestyle=":", linewidth=1.2, label=label)
    axis.axvline(amounts[factors.index(ASKED_FOR)], color="0.6", linewidth=0.8)
    axis.set_xscale("log")
    # Where the noise is all but gone an error can be 0, which no logarithmic scale has.
    axis.set_yscale("log" if np.all(noise > 0) else "symlog")
    axis.set_xticks(amounts, [f"{amount:g}" for amount in amounts])
    axis.minorticks_off()
    axis.set_xlabel("ε" if setting.budget.epsilon is not None else "ρ")
    axis.set_ylabel("root mean square error")
    axis.set_title("typical error at other budgets", loc="left", fontsize=10)
    axis.legend(fontsize=9)
