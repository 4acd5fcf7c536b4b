"""What a page shows of a release: views of one or two axes, the sums in them, and how far each may be off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.errors import InvalidInput
from sparsedp.releases.error_models import likely_at_once
from sparsedp.releases.sums import Part, Sums
from sparsedp.releases.uncertainty import (
    EXPECTED,
    LIKELY,
    Interval,
    KnowsAllCells,
    bounds_of,
    interval_of,
    normal_quantile,
    possible_ends,
)
from sparsedp.reports.grouping import Grouping, groupings_of, largest_groups, named_groups

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


# One thing to look at: the points of a picture, as fine or coarse as the reader likes, and how they are drawn.

_MOST_BARS = 50


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture's points: a `Grouping` for each axis shown (rows first, of two), and their values."""

    groupings: tuple[Grouping, ...]
    banded: Banded


@dataclass(frozen=True, eq=False)
class View:
    """One thing to look at, as fine or coarse as each of its `pictures`, coarsest first; `opens` with one of them.

    `kinds` are the ways to draw it, the first one unless the reader chooses: "line", "bars", "lines" (one for each
    label) or "heat".
    """

    kinds: tuple[str, ...]
    axes: tuple[str, ...]
    pictures: tuple[Picture, ...]
    opens: int = 0

    @property
    def kind(self) -> str:
        """How it is drawn first."""
        return self.kinds[0]

    @property
    def title(self) -> str:
        """The axes shown: "day × sex"."""
        return " × ".join(self.axes)


def _picture_of(bands: Bands, axes: int, shown: dict[int, Grouping], *, rows_first: bool = True) -> Picture:
    """The sums over all axes that are not shown."""
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


def _labels_shown(bands: Bands, axes: Sequence[Axis], place: int, most: int) -> Grouping:
    """The labels of an axis; the largest ones, and all others together, where they are more than `most`."""
    axis = axes[place]
    assert isinstance(axis, Categories)  # noqa: S101  # asked for labels only
    if axis.length <= most:
        return groupings_of(axis)[-1]
    rest = tuple(other for other in range(len(axes)) if other != place)
    return largest_groups(axis, bands.release.values.sum(axis=rest), most)


# What the pictures of a release show: every axis by itself, and every two of them, each point with its range.

_MOST_POINTS = 10_000
"""Of one line: a year of hours is 8,760."""
MOST_POINTS_IN_ALL = 20_000
_MOST_SUMMED = 2**31
"""Cells that are added up for all pairs of axes together: a few seconds."""
_SHOWN_FIRST = 750
"""A line opens with no more points than this: they can be told apart."""
_FEW_BINS = 40


def axes_of(release: Release) -> tuple[Axis, ...]:
    """The axes of a release; one that has no domain has its ticks or its cells."""
    if release.domain is not None:
        return release.domain.axes
    if release.time is None or release.time.start is None:
        return (Integers("cell" if release.time is None else "tick", 0, len(release) - 1),)
    return (Calendar("time", length=len(release), **release.time.describe()),)


def views_of(release: Release) -> tuple[list[View], list[str]]:
    """The views that a page has room for, best first, and the axes or pairs of axes that were left out.

    Last come the groups of single axes' cells that make a short picture: by weekday, by hour of day, by state.
    """
    axes, bands = axes_of(release), Bands(release)
    shown = list(combinations(range(len(axes)), 2)) + [(place,) for place in range(len(axes))]
    left_out, points = [], 0
    # Single axes are made first, for they are cheap and every one of them is wanted; pairs are what is left out.
    made: dict[tuple[int, ...], View] = {}
    for number, places in enumerate(sorted(shown, key=len)):
        if len(places) == 2 and made and number * len(release) > _MOST_SUMMED:
            left_out.append(" × ".join(axes[place].name for place in places))
            continue
        view = _single(bands, axes, places[0]) if len(places) == 1 else _pair_view(bands, axes, places)
        size = sum(picture.banded.values.size for picture in view.pictures)
        if made and len(places) == 2 and points + size > MOST_POINTS_IN_ALL:
            left_out.append(view.title)
            continue
        points += size
        made[places] = view
    groups = [view for place in range(len(axes)) for view in _by_groups(bands, axes, place)]
    return [*(made[places] for places in shown if places in made), *groups], left_out


def main_view(release: Release) -> View:
    """The one that comes first."""
    axes, bands = axes_of(release), Bands(release)
    return _single(bands, axes, 0) if len(axes) == 1 else _pair_view(bands, axes, (0, 1))


def _single(bands: Bands, axes: Sequence[Axis], place: int) -> View:
    axis = axes[place]
    if isinstance(axis, Categories):
        grouping = _labels_shown(bands, axes, place, _MOST_BARS)
        return View(("bars",), (axis.name,), (_picture_of(bands, len(axes), {place: grouping}),))
    candidates = [grouping for grouping in groupings_of(axis) if len(grouping) <= _MOST_POINTS]
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
        pictures.append(_picture_of(bands, len(axes), {place: grouping}))
    opens = max((number for number, each in enumerate(pictures) if each.banded.values.size <= _SHOWN_FIRST), default=0)
    kind = "bars" if isinstance(axis, Bins) and axis.length <= _FEW_BINS else "line"
    return View((kind,), (axis.name,), tuple(pictures), opens)


_LONGEST_GROUPED = 2**20
"""Cells of an axis that are looked at for groups."""


def _by_groups(bands: Bands, axes: Sequence[Axis], place: int) -> Iterator[View]:
    """A bar for each weekday, hour of day, state or band; days, weeks and months are how a line is drawn anyway."""
    axis = axes[place]
    found = axis.coarsenings if axis.length <= _LONGEST_GROUPED else {}
    for name, coarsening in found.items():
        stretches = isinstance(coarsening.axis, Calendar)
        no_rhythm = name == "month_of_year" and "month" in found and found["month"].groups <= coarsening.groups
        if 1 < coarsening.groups < axis.length and coarsening.groups <= _MOST_BARS and not (stretches or no_rhythm):
            picture = _picture_of(bands, len(axes), {place: named_groups(coarsening)})
            yield View(("bars",), (coarsening.axis.name,), (picture,))


# Two axes in one picture: a line for each of a few labels, or a heat map.

_MOST_SQUARES = 6_000
"""Of a heat map: a year of days by 16 groups."""
_MOST_LINES = 8
"""More lines in one chart cannot be followed."""
_LEAST_ALONG = 3
"""A line through fewer points is none."""
_SQUARES_SHOWN_FIRST = 130
"""Several lines open with no more points each than this: bands of longer ones hide one another."""
_CLEAR = 1.5
"""A square is clear where one and a half times the end of its range that is nearer to zero reaches its value: that is
where half its range is a third of it."""
_CLEAR_ENOUGH = 0.6
"""A heat map opens as fine as it can be with so much of what it shows clear."""


def _pair_view(bands: Bands, axes: Sequence[Axis], places: tuple[int, ...]) -> View:
    """What two of the axes show, summed over the others."""
    rows, columns = _upright(axes, places)
    down = _for_squares(bands, axes, rows, columns)[-1]
    pictures: list[Picture] = []
    for along in _for_squares(bands, axes, columns, rows)[::-1]:
        # Finest first: a coarser one is a bonus, and takes no more than a share of the work that is left.
        if pictures and not (2 * len(along) <= len(pictures[0].groupings[1]) and _cheap(bands, down, along)):
            continue
        shown = {rows: down, columns: along}
        pictures.insert(0, _picture_of(bands, len(axes), shown, rows_first=rows < columns))
    names = tuple(axes[place].name for place in places)
    finest = pictures[-1].groupings
    if isinstance(axes[rows], Categories) and axes[columns].ordered and _as_lines(*finest):
        opens = [number for number, each in enumerate(pictures) if len(each.groupings[1]) <= _SQUARES_SHOWN_FIRST]
        return View(("lines", "heat"), names, tuple(pictures), max(opens, default=0))
    clear = [number for number, each in enumerate(pictures) if clearness(each.banded) >= _CLEAR_ENOUGH]
    return View(("heat",), names, tuple(pictures), max(clear, default=0))


def clearness(banded: Banded) -> float:
    """How much of what a heat map shows is clearly no noise: 0 is nothing, or not known, and 1 is all."""
    low, high = banded.low, banded.high
    if low is None or high is None:
        return 0.0
    sizes = np.abs(banded.values)
    total = float(sizes.sum())
    nearest = np.where(banded.values < 0, -high, low)
    # Ends that are not known count as none.
    sure = np.nan_to_num(np.clip(_CLEAR * nearest, 0.0, sizes), nan=0.0, posinf=0.0, neginf=0.0)
    return float(sure.sum()) / total if total else 1.0


def _as_lines(down: Grouping, along: Grouping) -> bool:
    return 2 <= len(down) <= _MOST_LINES and len(along) >= _LEAST_ALONG


def _cheap(bands: Bands, down: Grouping, along: Grouping) -> bool:
    return bands.knows_sums and bands.affordable(4 * len(down) * len(along))


def _upright(axes: Sequence[Axis], places: tuple[int, ...]) -> tuple[int, int]:
    """Which axis runs down and which across: time and long ordered axes across, labels down, where they can be read."""
    across = max(places, key=lambda at: (axes[at].ordered, isinstance(axes[at], Calendar), axes[at].length, at))
    if not any(axes[place].ordered for place in places):
        across = min(places, key=lambda place: axes[place].length)
    down = places[0] if across == places[1] else places[1]
    return down, across


def _for_squares(bands: Bands, axes: Sequence[Axis], place: int, other: int) -> list[Grouping]:
    """The finest grouping that leaves the other axis its share of the squares; of times, the coarser ones before it."""
    axis, beside = axes[place], axes[other].length
    share = max(round(_MOST_SQUARES**0.5), _MOST_SQUARES // max(beside, 1))
    if isinstance(axis, Categories):
        return [_labels_shown(bands, axes, place, min(share, _MOST_BARS) if axis.length > share else axis.length)]
    groupings = groupings_of(axis, steps=(1, 2, 5))
    fitting = [grouping for grouping in groupings if len(grouping) <= share] or groupings[:1]
    return fitting if isinstance(axis, Calendar) else fitting[-1:]


# Values with the ranges that their true values lie in, for every point of a picture.

LEVEL = 0.95
MOST_WORK = 3 * 2**26
"""The range of one sum takes a pass over all cells, at up to 30 ns a cell: this many cells are a few seconds."""

UNKNOWN = "how far it may be off is not known"
OF_CELLS_ONLY = "how far a sum may be off is not known: the file keeps the error of single cells"
TOO_MANY = "its range is not on this page, for there are too many: ask the file"


@dataclass(frozen=True, eq=False)
class Banded:
    """Values, and the ends of their ranges; None where nothing is known of the error, or the ranges cost too much."""

    values: Floats
    low: Floats | None = None
    high: Floats | None = None
    why_not: str | None = None
    """Why there are no ranges."""

    @property
    def half_width(self) -> Floats | None:
        """Half of each range."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


class Bands:
    """The points of pictures of one release; it keeps account of how much work their ranges have been."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.work = 0

    def affordable(self, points: int) -> bool:
        """Whether so many sums can have their ranges, after all those that have them already."""
        return self.work + points * len(self.release) <= MOST_WORK

    @cached_property
    def knows_sums(self) -> bool:
        """Whether the release can tell the error of a sum, and not only of each cell."""
        if self.release.uncertainty is None:
            return False
        try:
            self.release.uncertainty.variance(np.ones(self.release.shape))
        except InvalidInput:
            return False
        return True

    def of(self, groupings: Sequence[Grouping | None]) -> Banded:
        """The sums of each combination of points, one axis after another; None sums over the whole axis."""
        values = self.release.values
        for axis, grouping in enumerate(groupings):
            values = values.sum(axis=axis, keepdims=True) if grouping is None else grouping.sums(values, axis)
        if self.release.uncertainty is None:
            return Banded(values, why_not=UNKNOWN)
        if all(grouping is not None and grouping.finest for grouping in groupings):
            return self._cells(groupings)
        if not self.knows_sums:
            return Banded(values, why_not=OF_CELLS_ONLY)
        known = self._at_once(groupings, values)
        if known is not None:
            return known
        if not self.affordable(values.size):
            return Banded(values, why_not=TOO_MANY)
        self.work += values.size * len(self.release)
        return self._ranges(groupings, values)

    def _cells(self, groupings: Sequence[Grouping | None]) -> Banded:
        low, high = self.cell_ends
        parts = [self.release.values, low, high]
        for axis, grouping in enumerate(groupings):
            if grouping is not None and grouping.order is not None:
                parts = [part.take(grouping.order, axis=axis) for part in parts]
        return Banded(parts[0], parts[1], parts[2])

    @cached_property
    def cell_ends(self) -> tuple[Floats, Floats]:
        """Where the ranges of all cells end; of very many, by their standard errors alone."""
        release = self.release
        shape, uncertainty = release.shape, release.uncertainty
        assert uncertainty is not None  # noqa: S101  # asked for only where there is one
        at_once = uncertainty.cell_intervals(LEVEL) if isinstance(uncertainty, KnowsAllCells) else None
        if at_once is not None:
            low, high = (np.asarray(end).reshape(shape) for end in at_once)
            low, high = np.minimum(low, release.values), np.maximum(high, release.values)
        elif len(release) ** 2 <= MOST_WORK:
            every = [np.arange(length) for length in shape]
            cells = [Grouping("cell", numbers, len(numbers), {}) for numbers in every]
            banded = self._at_once(cells, release.values) or self._ranges(cells, release.values)
            assert banded.low is not None  # noqa: S101  # ranges were asked for
            assert banded.high is not None  # noqa: S101
            low, high = banded.low, banded.high
        else:
            assert release.stderr is not None  # noqa: S101  # there is an uncertainty
            half = normal_quantile(LEVEL) * release.stderr
            low, high = release.values - half, release.values + half
        if release.nonnegative:
            low, high = possible_ends(low, high, release.values)
        return low, high

    def _at_once(self, groupings: Sequence[Grouping | None], values: Floats) -> Banded | None:
        """The ranges of all points together, where the errors are those of a fitted model: there one sum takes not one
        pass over the cells but hundreds, and a picture of a thousand of them took minutes."""
        release = self.release
        assert release.uncertainty is not None  # noqa: S101  # asked for only where there is one
        parts = [
            Part(axis, len(grouping), grouping.group_of)
            for axis, grouping in enumerate(groupings)
            if grouping is not None
        ]
        sums = Sums(release.shape, tuple(parts))
        ends = likely_at_once(release.uncertainty, sums, values.reshape(sums.lengths), LEVEL)
        if ends is None:
            return None
        low, high = (end.reshape(values.shape) for end in ends)
        low, high = np.minimum(low, values), np.maximum(high, values)
        if release.nonnegative:
            low, high = possible_ends(low, high, values)
        return Banded(values, low, high)

    def _ranges(self, groupings: Sequence[Grouping | None], values: Floats) -> Banded:
        release = self.release
        assert release.uncertainty is not None  # noqa: S101  # asked for only where there is one
        low, high = np.empty(values.shape), np.empty(values.shape)
        weights = np.zeros(release.shape)
        for point in product(*(range(length) for length in values.shape)):
            with _ones(weights, groupings, point):
                found = _drawn(release, weights, float(values[point]))
            low[point], high[point] = found.low, found.high
        return Banded(values, np.minimum(low, values), np.maximum(high, values))


def _drawn(release: Release, weights: Floats, value: float) -> Interval:
    """The likely interval of a sum that was measured; of others, which may be anything within a group, the expected."""
    errors = release.known_errors
    known = bounds_of(errors, weights, value)
    kind = EXPECTED if known is None or known.exact is None else LIKELY
    return interval_of(errors, weights, value, LEVEL, at_least_zero=release.nonnegative, kind=kind)


@contextmanager
def _ones(weights: Floats, groupings: Sequence[Grouping | None], point: tuple[int, ...]) -> Iterator[None]:
    """Weights that are one for the cells of a point, and zero again afterwards."""
    cells: list[slice | np.ndarray] = [
        slice(None) if grouping is None else grouping.members(place)
        for grouping, place in zip(groupings, point, strict=True)
    ]
    if any(isinstance(part, np.ndarray) for part in cells):
        cells = list(np.ix_(*(np.arange(length)[part] for length, part in zip(weights.shape, cells, strict=True))))
    weights[tuple(cells)] = 1.0
    yield
    weights[tuple(cells)] = 0.0
