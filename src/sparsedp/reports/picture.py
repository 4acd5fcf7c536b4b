"""The picture of a release, drawn by matplotlib."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import printable
from sparsedp.files.whole_file import checked_target, written_whole
from sparsedp.reports._views import Picture, main_view
from sparsedp.reports.grouping import Grouping
from sparsedp.reports.words import drawn_amount, drawn_title, labels_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


# A release as one picture.

_LONGEST_TITLE, _LONGEST_LARGE_TITLE = 96, 72
"""Letters that the width of the picture has room for, and those that it has room for in large type."""


def plot(release: Release, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw the release: a line for an ordered axis, bars for labels, lines or a heat map for two axes or more.

    Bands and thin lines are the ranges that hold 95 of 100 true values. Of more than two axes the first two are drawn,
    summed over the others. With a `path` ending in .png, .svg or .pdf the picture is written there and the path is
    returned; without one, the matplotlib figure is.
    """
    target = checked_picture(path)
    return drawn_to(target, _draw(release))


def _draw(release: Release) -> Any:
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
        _squares(parts[0], picture, picture.banded.values, amount)
        _squares(parts[1], picture, half, "may be off by ±", cmap="Greys")
        parts[0 if wide else 1].label_outer()
    else:
        parts = [figure.subplots()]
        if view.kind == "heat":
            _squares(parts[0], picture, picture.banded.values, amount)
        else:
            {"line": _line, "lines": _lines, "bars": _bars}[view.kind](parts[0], picture, amount)
    for axes in parts:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.tick_params(colors=_SOFT, labelcolor=_INK)
    title = safe(drawn_title(release, view, picture), _LONGEST_TITLE)
    size = 14 if len(title) <= _LONGEST_LARGE_TITLE else 11
    figure.suptitle(title, x=0.01, ha="left", fontsize=size, fontweight="bold", color=_INK)
    words, colour = _footnote(release, picture)
    figure.supxlabel(words, x=0.01, ha="left", fontsize=8.5, color=colour)
    return figure


def _footnote(release: Release, picture: Picture) -> tuple[str, str]:
    if not release.private:
        return "NOT PRIVATE: the noise came from a test source and protects nobody.", _ALARM
    ranges = "; ranges hold about 95 of 100 true values" if picture.banded.low is not None else ""
    return f"Differentially private, {release.spent.amount}{ranges}.", _SOFT


# The kinds of picture in matplotlib: a line with its band, several of them, bars, squares.

_ACCENT, _INK, _SOFT, _ALARM = "#0f5c9c", "#16202b", "#51606f", "#a3131f"
_SERIES = ("#0f5c9c", "#b8400e", "#1c7a4f", "#8a3a8f", "#80650a", "#2d7f9a", "#a3134a", "#454f5a")
_PATTERNS = ((6, 3), (1.5, 2), (8, 2, 1, 2), (4, 4), (10, 3), (5, 2, 1, 2, 1, 2), (1, 4))
_DASHES: tuple[Any, ...] = ("-", *((0, pattern) for pattern in _PATTERNS))
_MARKERS = "os^DvPX*"
_LONGEST = 48
"""Letters of a label."""
_MOST_LABELS = 12
"""Along a line."""
_SKEWED = 0.1
"""Where three quarters of the squares are below this share of the largest, an even scale would be blank."""


def _line(axes: Any, picture: Picture, amount: str) -> None:
    """Values along an ordered axis, and the band that true values lie in."""
    grouping, banded = picture.groupings[0], picture.banded
    places = places_of(grouping)
    values = banded.values.ravel()
    if banded.low is not None and banded.high is not None:
        axes.fill_between(places, banded.low.ravel(), banded.high.ravel(), color=_ACCENT, alpha=0.22, linewidth=0)
    marker = "o" if len(values) <= 60 else None
    axes.plot(places, values, color=_ACCENT, linewidth=1.4, marker=marker, markersize=3.5)
    for point in grouping.partial:
        axes.plot(places[point], values[point], "o", color="white", markeredgecolor=_ACCENT, markersize=5)
    _along(axes, grouping, values, amount)


def _lines(axes: Any, picture: Picture, amount: str) -> None:
    """A line with its band for each label, told apart by dashes and markers as well as by colour."""
    (labels, along), banded = picture.groupings, picture.banded
    places = places_of(along)
    every = max(1, len(along) // 12)
    for row, label in enumerate(labels_of(labels)):
        colour = _SERIES[row]
        if banded.low is not None and banded.high is not None:
            axes.fill_between(places, banded.low[row], banded.high[row], color=colour, alpha=0.14, linewidth=0)
        axes.plot(
            places,
            banded.values[row],
            color=colour,
            linewidth=1.5,
            linestyle=_DASHES[row],
            marker=_MARKERS[row],
            markersize=5,
            markevery=(row * every // len(labels), every),
            label=safe(label),
        )
        for point in along.partial:
            axes.plot(places[point], banded.values[row][point], _MARKERS[row], color="white", markeredgecolor=colour)
    _along(axes, along, banded.values, amount)
    axes.legend(title=safe(labels.scale["name"]), loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _along(axes: Any, grouping: Grouping, values: Floats, amount: str) -> None:
    """The scales of an ordered axis and of what stands along it."""
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if (values < 0).any() else 0.0)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.set_ylabel(amount, color=_SOFT)
    axes.yaxis.set_major_formatter("{x:,.0f}" if np.ptp(axes.get_ylim()) > 5 else "{x:g}")
    if grouping.scale["kind"] == "time":
        date_ticks(axes.xaxis)
    if grouping.scale["kind"] == "category":
        every = max(1, -(-len(grouping) // _MOST_LABELS))
        axes.set_xticks(np.arange(0, len(grouping), every), [safe(name, 12) for name in labels_of(grouping)[::every]])
    zone = grouping.scale.get("zone")
    axes.set_xlabel(safe(grouping.scale["name"]) + (f" ({zone})" if zone else ""), color=_SOFT)
    axes.margins(x=0.01)


def date_ticks(axis: Any) -> None:
    """Dates and times as short as they can be told."""
    from matplotlib import dates

    locator: Any = dates.AutoDateLocator()  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _bars(axes: Any, picture: Picture, amount: str) -> None:
    """A lying bar for each label, and a thin line for its range."""
    grouping, banded = picture.groupings[0], picture.banded
    values, places = banded.values.ravel(), np.arange(len(grouping))
    axes.barh(places, values, color=_ACCENT, alpha=0.75, height=0.62)
    if banded.low is not None and banded.high is not None:
        low, high = banded.low.ravel(), banded.high.ravel()
        axes.hlines(places, low, high, color=_INK, linewidth=1.3)
        for end in (low, high):
            axes.plot(end, places, "|", color=_INK, markersize=6)
    axes.set_yticks(places, [safe(label) for label in labels_of(grouping)])
    axes.invert_yaxis()
    axes.axvline(0, color=_SOFT, linewidth=0.8)
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)
    axes.set_xlabel(amount, color=_SOFT)
    axes.set_ylabel(safe(grouping.scale["name"]), color=_SOFT)
    axes.xaxis.set_major_formatter("{x:,.0f}" if np.ptp(axes.get_xlim()) > 5 else "{x:g}")


def _squares(axes: Any, picture: Picture, values: Floats, amount: str, **other_colours: str) -> None:
    """A heat map of a picture's values, or of how far they may be off."""
    rows, columns = picture.groupings
    upwards = rows.scale["kind"] in ("bins", "number")
    origin = "lower" if upwards else "upper"
    image = axes.imshow(
        values, aspect="auto", interpolation="nearest", origin=origin, **(_colours(values) | other_colours)
    )
    shown = "{x:,.0f}" if np.abs(values[np.isfinite(values)]).max(initial=0.0) > 5 else "{x:g}"
    axes.figure.colorbar(image, ax=axes, label=amount, format=shown, pad=0.02)
    for axis, grouping, most in ((axes.xaxis, columns, 8), (axes.yaxis, rows, 16)):
        every = max(1, -(-len(grouping) // most))
        axis.set_ticks(np.arange(0, len(grouping), every), [safe(name) for name in _ticks(grouping)[::every]])
        axis.set_label_text(safe(grouping.scale["name"]), color=_SOFT)
    if max(len(name) for name in _ticks(columns)) > 6:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")


def _ticks(grouping: Grouping) -> list[str]:
    """The labels; of a bin, where it begins."""
    if grouping.scale["kind"] != "bins":
        return labels_of(grouping)
    return ["−∞" if edge is None else f"{edge:g}" for edge in grouping.scale["edges"][:-1]]


def _colours(values: Floats) -> dict[str, Any]:
    """One hue, as it reads the same to colour-blind eyes; a second one below zero. Few large values do not hide all."""
    from matplotlib.colors import PowerNorm

    sizes = np.abs(values[np.isfinite(values)])
    most = float(sizes.max(initial=0.0)) or 1.0
    if (values < 0).any():
        return {"cmap": "PuOr", "vmin": -most, "vmax": most}
    skewed = sizes.size > 0 and float(np.quantile(sizes, 0.75)) < _SKEWED * most
    return {"cmap": "Blues", "norm": PowerNorm(0.5 if skewed else 1.0, vmin=0.0, vmax=most)}


def places_of(grouping: Grouping) -> Any:
    """Where points stand on a scale of times or numbers; labels stand one beside another."""
    scale = grouping.scale
    if scale["kind"] == "category":
        return np.arange(len(grouping))
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


def safe(text: str, longest: int = _LONGEST) -> str:
    """Text as it is: a dollar would begin a formula."""
    text = printable(text)
    shown = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return shown.replace("\\", "\\\\").replace("$", r"\$") if "$" in shown else shown


# Pictures drawn with matplotlib, which the `plot` extra brings, and the files that they are written to.

_ENDINGS = (".png", ".svg", ".pdf")


def empty_figure(width: float, height: float) -> Any:
    """A figure of its own, without pyplot: drawing neither opens windows nor changes the notebook's settings."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput(
            "plot", "a picture, and matplotlib is not installed", 'install it with `pip install "sparsedp[plot]"`'
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def checked_picture(path: str | os.PathLike[str] | None) -> Path | None:
    """Where a picture goes, if anywhere; a place that none can be written to is refused before it is drawn."""
    return None if path is None else checked_target(path, _ENDINGS, "these are the pictures that are drawn")


def drawn_to(target: Path | None, figure: Any) -> Any:
    """The path that the picture was written to, whole; without one, the figure itself."""
    if target is None:
        return figure
    content = io.BytesIO()
    with warnings.catch_warnings():
        # A label in letters that no installed font has is drawn as boxes: no reason to fail.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(content, format=target.suffix[1:].lower(), dpi=150)
    return written_whole(target, lambda file: file.write(content.getvalue()))
