"""A preview in plain language, for the terminal and as HTML for notebooks, and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Calendar, Categories
from sparsedp.previews._made_up import ASKED, cells_asked_for
from sparsedp.previews._questions import GOOD, GOOD_UP_TO, NOISE, NOISE_FROM, ROUGH
from sparsedp.previews._simulation import AS_A_WHOLE, ASKED_FOR
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
_QUESTIONS = ("question", "entries", "typical entry", "error of one", "relative error", "verdict")


@dataclass(frozen=True)
class Shown:
    """A table of a preview, every field as people read it."""

    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]


def parts_of(preview: Preview) -> list[str | Shown]:
    """What a preview says, from top to bottom: paragraphs, and for each total two tables."""
    parts: list[str | Shown] = [_opening(preview)]
    parts += [Shown(_HEADINGS, _lines(preview, total)) for total in _totals(preview)]
    parts.append(" ".join(_remarks(preview)))
    for total in _totals(preview):
        several = f", if they add up to about {total:,}" if len(_totals(preview)) > 1 else ""
        parts.append(f"What people ask, and how far off one entry of the answer would be{several}:")
        parts.append(Shown(_QUESTIONS, _asked(preview, total)))
    parts.append(" ".join([_LEGEND, *preview.left_out]))
    if preview.suggestions:
        parts.append("\n".join(f"- {sentence}" for sentence in preview.suggestions))
    return parts


def as_text(preview: Preview) -> str:
    """A paragraph, a small table for each total, what people ask, and what would be better."""
    return "\n\n".join(
        part if isinstance(part, str) else _aligned([part.headings, *part.rows]) for part in parts_of(preview)
    )


def as_html(preview: Preview) -> str:
    """The same for a notebook."""
    return "".join(_paragraph(part) if isinstance(part, str) else _table(part) for part in parts_of(preview))


def _paragraph(text: str) -> str:
    return f"<p>{escape(text).replace(chr(10), '<br>')}</p>"


def _table(shown: Shown) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in shown.headings)
    rows = ("<tr>" + "".join(f"<td>{escape(field)}</td>" for field in row) + "</tr>" for row in shown.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


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


_LEGEND = (
    f"Good: the error is up to {100 * GOOD_UP_TO:.0f} % of a typical entry. Noise: from {100 * NOISE_FROM:.0f} % on, "
    "for a typical entry can then not be told from zero. Rough: between."
)


def _asked(preview: Preview, total: int) -> list[tuple[str, ...]]:
    """A line for each question that people ask."""
    return [
        (
            row["question"],
            f"{row['entries']:,}",
            _figure(row["entry"]),
            _between((row["least"], row["most"])),
            _percent(row["relative"]),
            row["verdict"],
        )
        for row in preview.questions
        if row["total"] == total
    ]


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
    simulated = preview.scenarios[0].domain
    if simulated.size < preview.domain.size:
        smaller = f"smaller tables of the same form were, of up to {simulated.size:,} cells"
        remarks.append(
            f"So many cells were simulated only once for each shape; for other budgets and lone cells {smaller}."
            if preview.domain.size <= AS_A_WHOLE
            else f"So many cells were not simulated: {smaller}, and their errors extended, which makes the figures "
            "rougher."
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
_BAR = 0.24
"""Inches for each question."""
_MOST_BARS = 16
_LEAST_BAR = 1e-4
"""Shown of an error of less: no logarithmic scale has nought."""
_VERDICT_COLOURS = {GOOD: "#1c7a4f", ROUGH: "#d99a1c", NOISE: "#a3131f"}
_COLOURS = {"cell": "tab:blue", "box": "tab:orange", "total": "tab:green"}


def draw(preview: Preview) -> Any:
    """Left a guessed table and one release of it, right how the errors fall with the budget; what people ask below."""
    asked = _drawn_questions(preview)
    height = 1.1 + _BAR * len(asked)
    canvas = empty_figure(11, 4.2 + height)
    grid = canvas.add_gridspec(2, 2, width_ratios=(3, 2), height_ratios=(4.2, height))
    left, right, below = (canvas.add_subplot(place) for place in (grid[0, 0], grid[0, 1], grid[1, :]))
    names = [scenario.guess.shape for scenario in preview.scenarios]
    _draw_release(left, preview, preview.scenarios[names.index(_SHOWN_FIRST) if _SHOWN_FIRST in names else 0])
    _draw_errors(right, preview)
    _draw_questions(below, asked)
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


def _drawn_questions(preview: Preview) -> list[_Row]:
    """Those of the smaller total; of many the noisiest are left out, but for the cells."""
    rows = [row for row in preview.questions if row["total"] == _totals(preview)[0]]
    if len(rows) <= _MOST_BARS:
        return rows
    kept = sorted(range(len(rows) - 1), key=lambda place: rows[place]["relative"])[: _MOST_BARS - 1]
    return [rows[place] for place in (*sorted(kept), len(rows) - 1)]


def _draw_questions(axis: Any, rows: list[_Row]) -> None:
    """A bar for each question: how far off an entry is, beside the lines between good, rough and noise."""
    relative = np.array([row["relative"] for row in rows])
    shown: Floats = np.maximum(relative, _LEAST_BAR)
    colours = [_VERDICT_COLOURS[row["verdict"]] for row in rows]
    axis.barh(np.arange(len(rows)), shown, color=colours, height=0.7)
    for place, row in enumerate(rows):
        words = f" {_percent(row['relative'])}, {row['verdict']}"
        axis.text(shown[place], place, words, va="center", fontsize=8.5)
    for line in (GOOD_UP_TO, NOISE_FROM):
        axis.axvline(line, color="0.6", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_xlim(min(shown.min(), GOOD_UP_TO) / 2, 8 * max(shown.max(), NOISE_FROM))
    axis.set_yticks(np.arange(len(rows)), [safe(row["question"], 40) for row in rows], fontsize=8.5)
    axis.xaxis.set_major_formatter(lambda share, _: _percent(share))
    axis.invert_yaxis()
    axis.set_xlabel("error of one entry, in parts of a typical entry")
    total = f"{rows[0]['total']:,}"
    axis.set_title(f"what people ask, if the counts add up to about {total}", loc="left", fontsize=10)
