"""A release as one picture, drawn with matplotlib, which the `plot` extra brings."""

from __future__ import annotations

import io
import os
import warnings
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.reports.facts import default_title
from sparsedp.reports.files import checked_target, write_whole
from sparsedp.reports.grouping import Grouping
from sparsedp.reports.labels import labels_of
from sparsedp.reports.views import Picture, View, main_view

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

ENDINGS = (".png", ".svg", ".pdf")
ACCENT, INK, SOFT, ALARM = "#0f5c9c", "#16202b", "#51606f", "#a3131f"
MOST_TICKS = 12


def plot(release: Release, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw the release: a line for an ordered axis, bars for labels, a heat map for two axes or more.

    Bands and thin lines are the ranges that hold 95 of 100 true values. Of more than two axes the first two are drawn,
    summed over the others. With a `path` ending in .png, .svg or .pdf the picture is written there and the path is
    returned; without one, the matplotlib figure is.
    """
    target = None if path is None else checked_target(path, ENDINGS, "these are the pictures that are drawn")
    figure = draw(release)
    if target is None:
        return figure
    content = io.BytesIO()
    with warnings.catch_warnings():
        # A label in letters that no installed font has is drawn as boxes: no reason to fail.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(content, format=target.suffix[1:].lower(), dpi=150)
    return write_whole(target, content.getvalue())


def draw(release: Release) -> Any:
    """The figure."""
    # A figure of its own, without pyplot: drawing neither opens windows nor changes the notebook's settings.
    view = main_view(release)
    picture = view.pictures[view.opens]
    rows = len(picture.groupings[0])
    height = {"line": 4.6, "bars": 1.9 + 0.3 * rows, "heat": 5.2 if rows > 5 else 3.4}[view.kind]
    figure = _matplotlib_figure()(figsize=(9, height), layout="constrained")
    axes = figure.subplots()
    {"line": _line, "bars": _bars, "heat": _heat}[view.kind](axes, picture, _amount(release, view, picture))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=SOFT, labelcolor=INK)
    figure.suptitle(_safe(default_title(release)), x=0.01, ha="left", fontsize=14, fontweight="bold", color=INK)
    words, colour = _footnote(release, picture)
    figure.supxlabel(words, x=0.01, ha="left", fontsize=8.5, color=colour)
    return figure


def _line(axes: Any, picture: Picture, amount: str) -> None:
    grouping, banded = picture.groupings[0], picture.banded
    places = _places(grouping)
    values = banded.values.ravel()
    if banded.low is not None and banded.high is not None:
        axes.fill_between(places, banded.low.ravel(), banded.high.ravel(), color=ACCENT, alpha=0.22, linewidth=0)
    marker = "o" if len(values) <= 60 else None
    axes.plot(places, values, color=ACCENT, linewidth=1.4, marker=marker, markersize=3.5)
    for point in grouping.partial:
        axes.plot(places[point], values[point], "o", color="white", markeredgecolor=ACCENT, markersize=5)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if (values < 0).any() else 0.0)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.set_ylabel(amount, color=SOFT)
    axes.yaxis.set_major_formatter("{x:,.0f}" if np.ptp(axes.get_ylim()) > 5 else "{x:g}")
    if grouping.scale["kind"] == "time":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    zone = grouping.scale.get("zone")
    axes.set_xlabel(_safe(grouping.scale["name"]) + (f" ({zone})" if zone else ""), color=SOFT)
    axes.margins(x=0.01)


def _bars(axes: Any, picture: Picture, amount: str) -> None:
    grouping, banded = picture.groupings[0], picture.banded
    values, places = banded.values.ravel(), np.arange(len(grouping))
    axes.barh(places, values, color=ACCENT, alpha=0.75, height=0.62)
    if banded.low is not None and banded.high is not None:
        low, high = banded.low.ravel(), banded.high.ravel()
        axes.hlines(places, low, high, color=INK, linewidth=1.3)
        for end in (low, high):
            axes.plot(end, places, "|", color=INK, markersize=6)
    axes.set_yticks(places, [_safe(label) for label in labels_of(grouping)])
    axes.invert_yaxis()
    axes.axvline(0, color=SOFT, linewidth=0.8)
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)
    axes.set_xlabel(amount, color=SOFT)
    axes.set_ylabel(_safe(grouping.scale["name"]), color=SOFT)
    axes.xaxis.set_major_formatter("{x:,.0f}" if np.ptp(axes.get_xlim()) > 5 else "{x:g}")


def _heat(axes: Any, picture: Picture, amount: str) -> None:
    rows, columns = picture.groupings
    values = picture.banded.values
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    below = bool((values < 0).any())
    colours = {"cmap": "PuOr", "vmin": -most, "vmax": most} if below else {"cmap": "Blues", "vmin": 0.0, "vmax": most}
    upwards = rows.scale["kind"] in ("bins", "number")
    image = axes.imshow(
        values, aspect="auto", interpolation="nearest", origin="lower" if upwards else "upper", **colours
    )
    axes.figure.colorbar(image, ax=axes, label=amount, format="{x:,.0f}" if most > 5 else "{x:g}", pad=0.02)
    for axis, grouping, most_ticks in ((axes.xaxis, columns, 8), (axes.yaxis, rows, 24)):
        every = max(1, -(-len(grouping) // most_ticks))
        places = np.arange(0, len(grouping), every)
        names = labels_of(grouping)
        axis.set_ticks(places, [_safe(names[place]) for place in places.tolist()])
        axis.set_label_text(_safe(grouping.scale["name"]), color=SOFT)
    if max(len(label) for label in labels_of(columns)) > 12:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")


def _places(grouping: Grouping) -> Any:
    """Where points stand on a scale of times or numbers."""
    scale = grouping.scale
    if scale["kind"] == "time":
        moments: Floats = np.asarray(scale.get("times", ()), dtype=np.float64)
        if "times" not in scale:
            moments = scale["first"] + np.arange(scale["length"]) * float(scale["step"])
        return np.rint(moments * 1000).astype(np.int64).astype("datetime64[us]")
    if scale["kind"] == "number":
        bounds = scale.get("bounds")
        return scale["first"] + np.arange(scale["length"]) if bounds is None else np.asarray(bounds[:-1])
    edges = np.array([np.nan if edge is None else edge for edge in scale["edges"]], dtype=np.float64)
    middles = (edges[:-1] + edges[1:]) / 2
    return np.where(np.isnan(middles), np.where(np.isnan(edges[:-1]), edges[1:], edges[:-1]), middles)


def _amount(release: Release, view: View, picture: Picture) -> str:
    what = str(release.quantity)
    grouping = picture.groupings[0]
    if view.kind == "line" and grouping.scale["kind"] == "time" and grouping.name != "cell":
        what += f" per {grouping.name}"
    return _safe(what)


def _footnote(release: Release, picture: Picture) -> tuple[str, str]:
    if not release.private:
        return "NOT PRIVATE: the noise came from a test source and protects nobody.", ALARM
    ranges = "; ranges hold about 95 of 100 true values" if picture.banded.low is not None else ""
    return _safe(f"Differentially private, {release.spent.amount}{ranges}."), SOFT


def _safe(text: str) -> str:
    """Text as it is: a dollar would begin a formula."""
    shown = text if len(text) <= MOST_TICKS * 4 else f"{text[: MOST_TICKS * 4 - 1]}…"
    return shown.replace("\\", "\\\\").replace("$", r"\$") if "$" in shown else shown


def _matplotlib_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput(
            "plot", "a picture, and matplotlib is not installed", 'install it with `pip install "sparsedp[plot]"`'
        ) from None
    return Figure
