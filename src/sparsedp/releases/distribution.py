"""How what was counted is spread along an axis: its mean, its quantiles, its cumulative shares."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput
from sparsedp.releases.mapped_errors import cost
from sparsedp.releases.positions import Positions, TimeInterval, positions
from sparsedp.releases.ratios import Ratios
from sparsedp.releases.uncertainty import Interval, checked_level, interval_of
from sparsedp.validate import Number, share, whole

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_POINTS, FEWEST_POINTS = 512, 32
WORK = 2**24
"""Cells that may be looked at for all points together, unless more points are asked for: a few seconds."""

WITHIN_CELLS = (
    "What fell into one cell is taken to lie in its middle; how far off that is, the interval does not say: "
    "at most half the width of the widest cell."
)
"""What a mean over bins or stretches of time cannot know."""


@dataclass(frozen=True)
class Share:
    """The share of all that was counted up to and including `position`, between `low` and `high`.

    `position` is a number of the axis, the right edge of a bin, or the end of a stretch of time.
    """

    position: Any
    share: float
    low: float
    high: float
    level: float


def mean(release: Release, axis: str | None, level: Number) -> Interval | TimeInterval:
    """The mean position on the axis, weighed with what was counted."""
    wanted = checked_level(level)
    release, at, sums, total = _along(release, axis)
    middles = at.middles
    estimate = float(middles[0] + ((middles - middles[0]) @ sums) / total)
    ratios = Ratios(release.known_errors, total, release.shape, wanted)
    below, above = ratios.reach(middles - estimate)
    low, high = estimate - below, estimate + above
    if release.nonnegative:
        low, high = max(low, float(middles[0])), min(high, float(middles[-1]))
    elif not ratios.bounded:
        raise _nothing_left()
    return at.told(Interval(min(low, estimate), max(high, estimate), estimate, wanted))


def mean_caveat(release: Release, axis: str | None) -> str | None:
    """The sentence to print beside a mean along that axis; None where every place is known, as of whole numbers."""
    at = positions(release, axis)
    return None if np.array_equal(at.left, at.right) else WITHIN_CELLS


def cdf(release: Release, axis: str | None, level: Number, points: int | None) -> list[Share]:
    """The cumulative shares at some or all cells of the axis."""
    wanted = checked_level(level)
    cells = len(release)
    release, at, sums, total = _along(release, axis)
    most = _affordable(release, cells) if points is None else whole("points", points, least=2)
    ratios = Ratios(release.known_errors, total, release.shape, wanted)
    if not (ratios.bounded or release.nonnegative):
        raise _nothing_left()
    shares = np.cumsum(sums) / total
    found = []
    for cell in spread(len(sums), most).tolist():
        estimate = float(shares[cell])
        below, above = ratios.reach(_up_to(cell, len(sums)) - estimate)
        if cell == len(sums) - 1:
            estimate, below, above = 1.0, 0.0, 0.0
        low, high = estimate - below, estimate + above
        if release.nonnegative:
            estimate = min(max(estimate, 0.0), 1.0)
            low, high = min(max(low, 0.0), estimate), max(min(high, 1.0), estimate)
        found.append(Share(at.value(float(at.right[cell])), estimate, low, high, wanted))
    return found


def quantile(release: Release, q: Number, axis: str | None, level: Number) -> Interval | TimeInterval:
    """The position that the share q does not exceed, and all that cannot be told from it."""
    wanted, part = checked_level(level), float(share("q", q))
    cells = len(release)
    release, at, sums, total = _along(release, axis)
    above = np.cumsum(sums) - part * total
    first, last = _cells_around(release, _affordable(release, cells), above, part, wanted)
    middle = _crossing(above)
    estimate = _within(at, middle, above, sums)
    low, high = min(float(at.left[first]), estimate), max(float(at.right[last]), estimate)
    return at.told(Interval(low, high, estimate, wanted))


def _along(release: Release, axis: str | None) -> tuple[Release, Positions, Floats, float]:
    """The release summed up along the axis, where its cells lie, its values, and the sum of all."""
    at = positions(release, axis)
    alone = release if len(release.shape) == 1 else release.marginal(at.name)
    total = float(alone.values.sum())
    if not total > 0:
        raise _nothing_left()
    return alone, at, alone.values, total


def _nothing_left() -> InvalidInput:
    given = "of a total that cannot be told from zero"
    return InvalidInput("release", given, "nothing is left above the noise that could have a mean or a quantile")


def _affordable(release: Release, cells: int) -> int:
    """How many questions may be asked of a release that was summed up from so many cells."""
    return min(MOST_POINTS, max(FEWEST_POINTS, WORK // cost(release.known_errors, cells)))


def spread(length: int, most: int) -> Integers:
    """At most so many cells of an axis, evenly spaced, the first and the last among them."""
    if length <= most:
        return np.arange(length)
    return np.unique(np.linspace(0, length - 1, most).round().astype(np.int64))


def _up_to(cell: int, length: int) -> Floats:
    return (np.arange(length) <= cell).astype(np.float64)


def _cells_around(release: Release, points: int, above: Floats, part: float, level: float) -> tuple[int, int]:
    """The first and the last cell that may hold the quantile, by asking at so many points.

    Σ up to cell j − q·Σ of all is a linear query, `above[j]`, whose sign says on which side of j the quantile is. The
    true sums rise along the axis, so an interval that fails at the true cell alone makes this fail, on either side.
    """
    length = len(above)
    asked = spread(length, points)
    ends = np.empty((2, len(asked)))
    errors = release.known_errors
    for place, cell in enumerate(asked.tolist()):
        found = interval_of(errors, _up_to(cell, length) - part, 0.0, level)
        ends[:, place] = -found.low, found.high
    if len(asked) < length:
        # Between two cells that were asked for, as wide as at the wider one.
        behind = np.searchsorted(asked, np.arange(length))
        ends = np.maximum(ends[:, behind], ends[:, np.maximum(behind - 1, 0)])
    below, beyond = above - ends[0], above + ends[1]
    below[-1] = beyond[-1] = np.inf  # nothing exceeds the end of the axis
    unsure = np.flatnonzero(below < 0)
    return int(np.argmax(beyond >= 0)), int(unsure[-1]) + 1 if len(unsure) else 0


def _crossing(above: Floats) -> int:
    """The cell in which the share is reached; where noise makes sums fall, half way between first and last."""
    missed = above < 0
    missed[-1] = False
    behind = np.flatnonzero(missed)
    return (int(np.argmin(missed)) + (int(behind[-1]) + 1 if len(behind) else 0)) // 2


def _within(at: Positions, cell: int, above: Floats, sums: Floats) -> float:
    """The place within the cell, as if what it holds were spread evenly."""
    left, right = float(at.left[cell]), float(at.right[cell])
    if left == right:
        return left
    if not (isfinite(left) and isfinite(right)):
        edge = f"from {left:g}" if isfinite(left) else f"up to {right:g}"
        given = f"{at.name!r}, and the quantile lies in its bin {edge} without an end"
        raise InvalidInput("axis", given, "declare a finite edge, or ask for another q")
    held = float(sums[cell])
    before = float(above[cell]) - held
    part = min(max(-before / held, 0.0), 1.0) if held > 0 else 0.5
    return left + part * (right - left)
