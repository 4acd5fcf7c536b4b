"""What the pictures of a release show: one axis as a line or bars, two as a heat map, each point with its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput
from sparsedp.reports.bands import Banded, Bands
from sparsedp.reports.grouping import Grouping
from sparsedp.reports.groupings import groupings_of, largest_groups

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_POINTS = 10_000
"""Of one line: a year of hours is 8,760."""
MOST_POINTS_IN_ALL = 20_000
MOST_SQUARES = 6_000
"""Of a heat map: a year of days by 16 groups."""
MOST_SUMMED = 2**31
"""Cells that are added up for all pairs of axes together: a few seconds."""
MOST_BARS = 50
SHOWN_FIRST = 750
"""A line opens with no more points than this: they can be told apart."""
FEW_BINS = 40


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture's points: a `Grouping` for each axis shown (rows first for a heat map), and their values."""

    groupings: tuple[Grouping, ...]
    banded: Banded


@dataclass(frozen=True, eq=False)
class View:
    """One thing to look at, as fine or coarse as each of its `pictures`, coarsest first; `opens` with one of them."""

    kind: str
    axes: tuple[str, ...]
    pictures: tuple[Picture, ...]
    opens: int = 0

    @property
    def title(self) -> str:
        """The axes shown: "day × sex"."""
        return " × ".join(self.axes)


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
        view = _single(bands, axes, places[0]) if len(places) == 1 else _pair(bands, axes, places)
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
    return _single(bands, axes, 0) if len(axes) == 1 else _pair(bands, axes, (0, 1))


def _single(bands: Bands, axes: Sequence[Axis], place: int) -> View:
    axis = axes[place]
    if isinstance(axis, Categories):
        grouping = _labels(bands, axes, place, MOST_BARS)
        return View("bars", (axis.name,), (_picture(bands, len(axes), {place: grouping}),))
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
        pictures.append(_picture(bands, len(axes), {place: grouping}))
    opens = max((number for number, each in enumerate(pictures) if each.banded.values.size <= SHOWN_FIRST), default=0)
    kind = "bars" if isinstance(axis, Bins) and axis.length <= FEW_BINS else "line"
    return View(kind, (axis.name,), tuple(pictures), opens)


def _pair(bands: Bands, axes: Sequence[Axis], places: tuple[int, ...]) -> View:
    rows, columns = _upright(axes, places)
    found = {place: _for_squares(bands, axes, place, other) for place, other in ((rows, columns), (columns, rows))}
    picture = _picture(bands, len(axes), {rows: found[rows], columns: found[columns]}, rows_first=rows < columns)
    return View("heat", tuple(axes[place].name for place in places), (picture,))


def _upright(axes: Sequence[Axis], places: tuple[int, ...]) -> tuple[int, int]:
    """Which axis runs down and which across: time and long ordered axes across, labels down, where they can be read."""
    across = max(places, key=lambda at: (axes[at].ordered, isinstance(axes[at], Calendar), axes[at].length, at))
    if not any(axes[place].ordered for place in places):
        across = min(places, key=lambda place: axes[place].length)
    down = places[0] if across == places[1] else places[1]
    return down, across


def _for_squares(bands: Bands, axes: Sequence[Axis], place: int, other: int) -> Grouping:
    """The finest grouping of one axis that leaves the other its share of the squares."""
    axis, beside = axes[place], axes[other].length
    share = max(round(MOST_SQUARES**0.5), MOST_SQUARES // max(beside, 1))
    if isinstance(axis, Categories):
        return _labels(bands, axes, place, min(share, MOST_BARS) if axis.length > share else axis.length)
    groupings = groupings_of(axis, steps=(1, 2, 5))
    fitting = [grouping for grouping in groupings if len(grouping) <= share]
    return fitting[-1] if fitting else groupings[0]


def _labels(bands: Bands, axes: Sequence[Axis], place: int, most: int) -> Grouping:
    axis = axes[place]
    assert isinstance(axis, Categories)  # noqa: S101  # asked for labels only
    if axis.length <= most:
        return groupings_of(axis)[-1]
    rest = tuple(other for other in range(len(axes)) if other != place)
    return largest_groups(axis, bands.release.values.sum(axis=rest), most)


def _picture(bands: Bands, axes: int, shown: dict[int, Grouping], *, rows_first: bool = True) -> Picture:
    banded = bands.of([shown.get(place) for place in range(axes)])
    groupings = list(shown.values())
    shape = [len(grouping) for grouping in (groupings if rows_first else groupings[::-1])]
    parts = [
        None if part is None else part.reshape(shape) if rows_first else part.reshape(shape).T
        for part in (banded.values, banded.low, banded.high)
    ]
    if parts[0] is None:
        raise InvalidInput("release", "without values", "give a release")
    return Picture(tuple(groupings), Banded(parts[0], parts[1], parts[2], banded.why_not))
