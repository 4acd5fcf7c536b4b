"""A release as one picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sparsedp.reports.drawn_words import drawn_amount, drawn_title
from sparsedp.reports.panels import ALARM, INK, SOFT, bars, line, lines, safe, squares
from sparsedp.reports.picture_file import checked_picture, drawn_to, empty_figure
from sparsedp.reports.view import Picture
from sparsedp.reports.views import main_view

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

LONGEST_TITLE, LONGEST_LARGE_TITLE = 96, 72
"""Letters that the width of the picture has room for, and those that it has room for in large type."""


def plot(release: Release, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw the release: a line for an ordered axis, bars for labels, lines or a heat map for two axes or more.

    Bands and thin lines are the ranges that hold 95 of 100 true values. Of more than two axes the first two are drawn,
    summed over the others. With a `path` ending in .png, .svg or .pdf the picture is written there and the path is
    returned; without one, the matplotlib figure is.
    """
    target = checked_picture(path)
    return drawn_to(target, draw(release))


def draw(release: Release) -> Any:
    """The figure."""
    view = main_view(release)
    picture = view.pictures[view.opens]
    rows = len(picture.groupings[0])
    height = {"line": 4.6, "lines": 4.6, "bars": 1.9 + 0.3 * rows, "heat": 5.2 if rows > 5 else 3.4}[view.kind]
    figure = empty_figure(9, height)
    amount, half = safe(drawn_amount(release, picture)), picture.banded.half_width
    if view.kind == "heat" and half is not None:
        # How far a square may be off cannot be drawn into it, so it is drawn beside it.
        wide = len(picture.groupings[1]) > 2 * rows
        parts = figure.subplots(2, 1, sharex=True) if wide else figure.subplots(1, 2, sharey=True)
        squares(parts[0], picture, picture.banded.values, amount)
        squares(parts[1], picture, half, "may be off by ±", cmap="Greys")
        parts[0 if wide else 1].label_outer()
    else:
        parts = [figure.subplots()]
        if view.kind == "heat":
            squares(parts[0], picture, picture.banded.values, amount)
        else:
            {"line": line, "lines": lines, "bars": bars}[view.kind](parts[0], picture, amount)
    for axes in parts:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.tick_params(colors=SOFT, labelcolor=INK)
    title = safe(drawn_title(release, view, picture), LONGEST_TITLE)
    size = 14 if len(title) <= LONGEST_LARGE_TITLE else 11
    figure.suptitle(title, x=0.01, ha="left", fontsize=size, fontweight="bold", color=INK)
    words, colour = _footnote(release, picture)
    figure.supxlabel(words, x=0.01, ha="left", fontsize=8.5, color=colour)
    return figure


def _footnote(release: Release, picture: Picture) -> tuple[str, str]:
    if not release.private:
        return "NOT PRIVATE: the noise came from a test source and protects nobody.", ALARM
    ranges = "; ranges hold about 95 of 100 true values" if picture.banded.low is not None else ""
    return f"Differentially private, {release.spent.amount}{ranges}.", SOFT
