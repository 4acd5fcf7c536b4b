"""The picture of a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Calendar, Categories
from sparsedp.previews.factors import ASKED_FOR
from sparsedp.previews.questions import ASKED, cells_asked_for
from sparsedp.previews.words import question_name
from sparsedp.releases.uncertainty import possible_ends
from sparsedp.reports.groupings import groupings_of
from sparsedp.reports.labels import labels_of
from sparsedp.reports.panels import date_ticks, places_of, safe
from sparsedp.reports.picture_file import empty_figure

if TYPE_CHECKING:
    from sparsedp.previews.report import Preview
    from sparsedp.previews.scenario import Scenario

SHOWN_FIRST = "smooth"
WIDEST = 400
"""Cells in the picture: of more, the ones around the largest count are shown."""
MOST_LABELS = 12
"""Of an axis of categories, written below the picture."""
LONGEST_TITLE = 90
COLOURS = {"cell": "tab:blue", "box": "tab:orange", "total": "tab:green"}


def draw(preview: Preview) -> Any:
    """Left a guessed table and one release of it, right how the errors fall with the budget."""
    canvas = empty_figure(11, 4.2)
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    names = [scenario.guess.shape for scenario in preview.scenarios]
    _draw_release(left, preview, preview.scenarios[names.index(SHOWN_FIRST) if SHOWN_FIRST in names else 0])
    _draw_errors(right, preview)
    budget, made_by = preview.setting.budget, preview.setting.made_by
    canvas.suptitle(f"What a release by {made_by} at {budget} would be like: made-up counts, nothing spent")
    return canvas


def _draw_release(axis: Any, preview: Preview, scenario: Scenario) -> None:
    along, line = _line_of_cells(scenario)
    counts, values = scenario.counts[line].astype(np.float64), scenario.values[line]
    error = float(scenario.errors[ASKED_FOR][ASKED.index("cell")])
    first = int(np.clip(counts.argmax() - WIDEST // 2, 0, max(0, counts.size - WIDEST)))
    shown = slice(first, first + WIDEST)
    counts, values, places = counts[shown], values[shown], _scale(axis, scenario.domain.axes[along])[shown]
    low, high = possible_ends(values - 2 * error, values + 2 * error, values)
    axis.fill_between(places, counts, step="mid", color="0.85", label="made-up counts")
    axis.fill_between(places, low, high, step="mid", color="tab:blue", alpha=0.2, label="± 2 errors")
    axis.step(places, values, where="mid", color="tab:blue", linewidth=1.1, label="published")
    axis.axhline(0, color="0.6", linewidth=0.6)
    axis.set_ylabel("count")
    size = "" if scenario.domain == preview.domain else f", on {scenario.domain.size:,} cells"
    title = f"one guess: {scenario.guess.shape}, total {scenario.guess.total:,}{size}{_slice_in_words(scenario, line)}"
    axis.set_title(safe(title, LONGEST_TITLE), loc="left", fontsize=10)
    axis.legend(fontsize=9)


def _scale(axis: Any, along: Axis) -> Any:
    """Where cells stand, in the axis' own words, which are written beside it."""
    finest = groupings_of(along)[-1]
    axis.set_xlabel(safe(along.name))
    if isinstance(along, Categories):
        every = -(-along.length // MOST_LABELS)
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
        colour = COLOURS[asked]
        axis.fill_between(amounts, errors.min(axis=0), errors.max(axis=0), color=colour, alpha=0.25, linewidth=0)
        name = question_name(preview, asked, cells[place])
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
