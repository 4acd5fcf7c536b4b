"""What the pictures of a release show: every axis by itself, and every two of them, each point with its range."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.reports.bands import Bands
from sparsedp.reports.groupings import groupings_of
from sparsedp.reports.pairs import pair_view
from sparsedp.reports.view import MOST_BARS, Picture, View, labels_shown, picture_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_POINTS = 10_000
"""Of one line: a year of hours is 8,760."""
MOST_POINTS_IN_ALL = 20_000
MOST_SUMMED = 2**31
"""Cells that are added up for all pairs of axes together: a few seconds."""
SHOWN_FIRST = 750
"""A line opens with no more points than this: they can be told apart."""
FEW_BINS = 40


def axes_of(release: Release) -> tuple[Axis, ...]:
    """The axes of a release; one that has no domain has its ticks or its cells."""
    if release.domain is not None:
        return release.domain.axes
    if release.time is None or release.time.start is None:
        return (Integers("cell" if release.time is None else "tick", 0, len(release) - 1),)
    assert release.time.every is not None  # noqa: S101  # a schedule has both
    return (Calendar("time", release.time.start, release.time.every, len(release)),)


def views_of(release: Release) -> tuple[list[View], list[str]]:
    """The views that a page has room for, best first, and the axes or pairs of axes that were left out."""
    axes, bands = axes_of(release), Bands(release)
    shown = list(combinations(range(len(axes)), 2)) + [(place,) for place in range(len(axes))]
    left_out, points = [], 0
    # Single axes are made first, for they are cheap and every one of them is wanted; pairs are what is left out.
    made: dict[tuple[int, ...], View] = {}
    for number, places in enumerate(sorted(shown, key=len)):
        if len(places) == 2 and made and number * len(release) > MOST_SUMMED:
            left_out.append(" × ".join(axes[place].name for place in places))
            continue
        view = _single(bands, axes, places[0]) if len(places) == 1 else pair_view(bands, axes, places)
        size = sum(picture.banded.values.size for picture in view.pictures)
        if made and len(places) == 2 and points + size > MOST_POINTS_IN_ALL:
            left_out.append(view.title)
            continue
        points += size
        made[places] = view
    return [made[places] for places in shown if places in made], left_out


def main_view(release: Release) -> View:
    """The one that comes first."""
    axes, bands = axes_of(release), Bands(release)
    return _single(bands, axes, 0) if len(axes) == 1 else pair_view(bands, axes, (0, 1))


def _single(bands: Bands, axes: Sequence[Axis], place: int) -> View:
    axis = axes[place]
    if isinstance(axis, Categories):
        grouping = labels_shown(bands, axes, place, MOST_BARS)
        return View(("bars",), (axis.name,), (picture_of(bands, len(axes), {place: grouping}),))
    candidates = [grouping for grouping in groupings_of(axis) if len(grouping) <= MOST_POINTS]
    known = bands.knows_sums
    alone = len(axes) == 1
    wanted = [
        grouping
        for grouping in candidates
        if not known or bands.affordable(len(grouping)) or (alone and grouping.finest)
    ]
    wanted = wanted or candidates[:1]
    pictures: list[Picture] = []
    for grouping in wanted:
        if pictures and known and not (alone and grouping.finest) and not bands.affordable(len(grouping)):
            break
        pictures.append(picture_of(bands, len(axes), {place: grouping}))
    opens = max((number for number, each in enumerate(pictures) if each.banded.values.size <= SHOWN_FIRST), default=0)
    kind = "bars" if isinstance(axis, Bins) and axis.length <= FEW_BINS else "line"
    return View((kind,), (axis.name,), tuple(pictures), opens)
