"""Two axes in one picture: a line for each of a few labels, or a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsedp.axes import Axis, Calendar, Categories
from sparsedp.reports.bands import Banded, Bands
from sparsedp.reports.grouping import Grouping
from sparsedp.reports.groupings import groupings_of
from sparsedp.reports.view import MOST_BARS, Picture, View, labels_shown, picture_of

MOST_SQUARES = 6_000
"""Of a heat map: a year of days by 16 groups."""
MOST_LINES = 8
"""More lines in one chart cannot be followed."""
LEAST_ALONG = 3
"""A line through fewer points is none."""
SHOWN_FIRST = 130
"""Several lines open with no more points each than this: bands of longer ones hide one another."""
CLEAR = 1.5
"""A square is clear where one and a half times the end of its range that is nearer to zero reaches its value: that is
where half its range is a third of it."""
CLEAR_ENOUGH = 0.6
"""A heat map opens as fine as it can be with so much of what it shows clear."""


def pair_view(bands: Bands, axes: Sequence[Axis], places: tuple[int, ...]) -> View:
    """What two of the axes show, summed over the others."""
    rows, columns = _upright(axes, places)
    down = _for_squares(bands, axes, rows, columns)[-1]
    pictures: list[Picture] = []
    for along in _for_squares(bands, axes, columns, rows)[::-1]:
        # Finest first: a coarser one is a bonus, and takes no more than a share of the work that is left.
        if pictures and not (2 * len(along) <= len(pictures[0].groupings[1]) and _cheap(bands, down, along)):
            continue
        shown = {rows: down, columns: along}
        pictures.insert(0, picture_of(bands, len(axes), shown, rows_first=rows < columns))
    names = tuple(axes[place].name for place in places)
    finest = pictures[-1].groupings
    if isinstance(axes[rows], Categories) and axes[columns].ordered and _as_lines(*finest):
        opens = [number for number, each in enumerate(pictures) if len(each.groupings[1]) <= SHOWN_FIRST]
        return View(("lines", "heat"), names, tuple(pictures), max(opens, default=0))
    clear = [number for number, each in enumerate(pictures) if clearness(each.banded) >= CLEAR_ENOUGH]
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
    sure = np.nan_to_num(np.clip(CLEAR * nearest, 0.0, sizes), nan=0.0, posinf=0.0, neginf=0.0)
    return float(sure.sum()) / total if total else 1.0


def _as_lines(down: Grouping, along: Grouping) -> bool:
    return 2 <= len(down) <= MOST_LINES and len(along) >= LEAST_ALONG


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
    share = max(round(MOST_SQUARES**0.5), MOST_SQUARES // max(beside, 1))
    if isinstance(axis, Categories):
        return [labels_shown(bands, axes, place, min(share, MOST_BARS) if axis.length > share else axis.length)]
    groupings = groupings_of(axis, steps=(1, 2, 5))
    fitting = [grouping for grouping in groupings if len(grouping) <= share] or groupings[:1]
    return fitting if isinstance(axis, Calendar) else fitting[-1:]
