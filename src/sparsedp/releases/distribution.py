"""How what was counted is spread along an axis: its mean, its variance, its quantiles, its cumulative shares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes import Bins, Calendar, Categories, Integers
from sparsedp.axes.base import Axis
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.moments import EPOCH
from sparsedp.releases.error_models import cost
from sparsedp.releases.uncertainty import Interval, Uncertainty, checked_level, interval_of, normal_quantile
from sparsedp.validate import Number, share, whole, yes_or_no

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


_MOST_POINTS, FEWEST_POINTS = 512, 32
WORK = 2**24
"""Cells that may be looked at for all points together, unless more points are asked for: a few seconds."""

_WITHIN_CELLS = (
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


def variance(release: Release, axis: str | None, level: Number) -> Interval:
    """The mean squared distance from the mean, on the axis.

    About any point c it is the ratio Σ (x − c)²·D over ΣD, less the square of how far the mean is from c. With c the
    estimated mean, both lie in intervals of half the level's failures each, and so the difference in what these give.
    """
    wanted = checked_level(level)
    release, at, sums, total = _along(release, axis)
    if at.clock is not None:
        raise InvalidInput("axis", f"{at.name!r}, whose places are times", "ask for two quantiles, which are times too")
    middles = at.middles
    centre = float(middles[0] + ((middles - middles[0]) @ sums) / total)
    squares = (middles - centre) ** 2
    estimate = float(squares @ sums / total)
    ratios = Ratios(release.known_errors, total, release.shape, (1 + wanted) / 2)
    if not (ratios.bounded or release.nonnegative):
        raise _nothing_left()
    (below, above), off = ratios.reach(squares - estimate), max(ratios.reach(middles - centre))
    low, high = max(0.0, estimate - below - off**2), estimate + above
    if release.nonnegative:
        low, high = max(low, 0.0), min(high, float(middles[-1] - middles[0]) ** 2 / 4)  # half the records at each end
        estimate = min(max(estimate, 0.0), high)
    return Interval(min(low, estimate), max(high, estimate), estimate, wanted)


def mean_caveat(release: Release, axis: str | None) -> str | None:
    """The sentence to print beside a mean along that axis; None where every place is known, as of whole numbers."""
    at = positions(release, axis)
    return None if np.array_equal(at.left, at.right) else _WITHIN_CELLS


def cdf(
    release: Release, axis: str | None, level: Number, points: int | None, *, simultaneous: bool = False
) -> list[Share]:
    """The cumulative shares at some or all cells of the axis."""
    wanted = checked_level(level)
    cells = len(release)
    release, at, sums, total = _along(release, axis)
    most = _affordable(release, cells) if points is None else whole("points", points, least=2)
    asked = spread(len(sums), most).tolist()
    of_each = 1 - (1 - wanted) / len(asked) if yes_or_no("simultaneous", simultaneous) else wanted
    ratios = Ratios(release.known_errors, total, release.shape, of_each)
    if not (ratios.bounded or release.nonnegative):
        raise _nothing_left()
    shares = np.cumsum(sums) / total
    found = []
    for cell in asked:
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
    alone = release if release.domain is None or release.domain.names == (at.name,) else release.marginal(at.name)
    total = float(alone.values.sum())
    if not total > 0:
        raise _nothing_left()
    return alone, at, alone.values, total


def _nothing_left() -> InvalidInput:
    given = "of a total that cannot be told from zero"
    return InvalidInput("release", given, "nothing is left above the noise that could have a mean or a quantile")


def _affordable(release: Release, cells: int) -> int:
    """How many questions may be asked of a release that was summed up from so many cells."""
    return min(_MOST_POINTS, max(FEWEST_POINTS, WORK // cost(release.known_errors, cells)))


def spread(length: int, most: int) -> Ints:
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
        found = interval_of(errors, _up_to(cell, length) - part, float(above[cell]), level)
        ends[:, place] = above[cell] - found.low, found.high - above[cell]
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


# Where the cells of an ordered axis lie on a line of numbers, and how a place on it is told.


@dataclass(frozen=True)
class TimeInterval:
    """An `Interval` of times: in UTC where the calendar is, otherwise by its own clock."""

    low: datetime
    high: datetime
    estimate: datetime
    level: float

    def __str__(self) -> str:
        return f"{self.estimate} [{self.low}, {self.high}] at {self.level:.6g}"


@dataclass(frozen=True, eq=False)
class Positions:
    """Cell i of the axis reaches from left[i] to right[i]; of whole numbers and ticks the two are the same.

    Times are in microseconds since 1970; `clock` is their schedule.
    """

    name: str
    left: Floats
    right: Floats
    clock: Schedule | None = None

    @property
    def middles(self) -> Floats:
        """Where the records of each cell are taken to lie."""
        if not (np.isfinite(self.left).all() and np.isfinite(self.right).all()):
            given = f"{self.name!r}, which has a bin without an end"
            raise InvalidInput("axis", given, "its middle is nowhere; ask for a `quantile`, or declare finite edges")
        return self.left / 2 + self.right / 2

    def told(self, interval: Interval) -> Interval | TimeInterval:
        """The interval in the axis' own words."""
        if self.clock is None:
            return interval
        low, high, estimate = (self.value(at) for at in (interval.low, interval.high, interval.estimate))
        return TimeInterval(low, high, estimate, interval.level)

    def value(self, at: float) -> Any:
        """A number, whole on an axis of whole numbers, or a time."""
        if self.clock is None:
            return int(at) if isfinite(at) and self.left is self.right and at == int(at) else at
        moment = EPOCH + timedelta(microseconds=round(at))
        return moment.replace(tzinfo=UTC) if self.clock.utc else moment


def positions(release: Release, axis: str | None) -> Positions:
    """The line that the cells of an axis lie on, or those of its groups; with one axis it need not be named."""
    if release.domain is None:
        if axis is not None:
            raise InvalidInput("axis", repr(axis)[:40], "leave it out: the release is a row of cells without a domain")
        return _of_ticks(release)
    if axis is None and len(release.domain.axes) > 1:
        raise InvalidInput("axis", "missing", f"choose one of {', '.join(release.domain.names)}")
    name = release.domain.names[0] if axis is None else axis
    place, coarsening = release.domain.part(name)
    return _of_axis(release.domain.axes[place] if coarsening is None else coarsening.axis, release)


def _of_ticks(release: Release) -> Positions:
    if release.time is None or release.time.start is None:
        numbers = np.arange(len(release), dtype=np.float64)
        return Positions("cell" if release.time is None else "tick", numbers, numbers)
    return _of_times("time", release.time, len(release))


def _of_times(name: str, clock: Schedule, length: int) -> Positions:
    edges = clock.times(length + 1).astype(np.int64).astype(np.float64)
    return Positions(name, edges[:-1], edges[1:], clock)


def _of_axis(axis: Axis, release: Release) -> Positions:
    if isinstance(axis, Calendar):
        return _of_times(axis.name, axis.time, axis.length)
    if isinstance(axis, Integers):
        whole = np.arange(axis.first, axis.last + 1, dtype=np.float64)
        return Positions(axis.name, whole, whole)
    if isinstance(axis, Bins):
        edges = np.array(axis.edges)
        return Positions(axis.name, edges[:-1], edges[1:])
    no_numbers = "whose labels are no numbers" if axis.ordered else "whose labels have no order"
    kind = no_numbers if isinstance(axis, Categories) else "which is no line of numbers"
    others = release.domain.axes if release.domain is not None else ()
    lines = [other.name for other in others if other.ordered and not isinstance(other, Categories)]
    remedy = f"choose one of {', '.join(lines)}" if lines else "ask for its cells, or for `top`"
    raise InvalidInput("axis", f"{axis.name!r}, {kind}", remedy)


# The interval of a ratio of two linear queries, such as a mean or a share.

_SURE = 0.05
"""A denominator whose interval reaches less far to either side, as a share of it, is taken as known (delta method)."""


class Ratios:
    """Intervals of (Σ w·D) / (Σ D) for several weights w; the sum of all cells is the denominator of all of them."""

    def __init__(self, errors: Uncertainty, total: float, shape: tuple[int, ...], level: float) -> None:
        """`total`: the estimated sum of all cells, above zero."""
        self._errors, self._total, self._level = errors, total, level
        self._normal = normal_quantile(level)
        self._ones = np.ones(shape)
        self._total_variance = errors.variance(self._ones)

    @property
    def bounded(self) -> bool:
        """Whether the denominator can be told from zero: otherwise a ratio can be anything."""
        return self._normal**2 * self._total_variance < self._total**2

    def reach(self, weights: Floats) -> tuple[float, float]:
        """How far below and above the estimated ratio the interval reaches; `weights` are w minus that ratio.

        Their sum is then estimated at zero, and has an interval of its own, [−a, b]. For a denominator that is known
        the ratio's is that over the denominator; otherwise Fieller's: all d with 0 in the interval of Σ (w − d)·D.
        """
        found = interval_of(self._errors, weights, 0.0, self._level)
        if self._normal**2 * self._total_variance <= (_SURE * self._total) ** 2:
            return -found.low / self._total, found.high / self._total
        variance = self._errors.variance(weights)
        if not isfinite(variance) or not isfinite(self._total_variance):
            return inf, inf
        if variance == 0.0:
            return 0.0, 0.0
        covariance = self._covariance(weights, variance)
        below, above = -found.low / sqrt(variance), found.high / sqrt(variance)
        return self._fieller(below, variance, -covariance), self._fieller(above, variance, covariance)

    def _covariance(self, weights: Floats, variance: float) -> float:
        """With the denominator: from the variance of the two together, weighed alike."""
        alike = sqrt(variance / self._total_variance) if self._total_variance else 1.0
        together = self._errors.variance(weights + alike * self._ones)
        return (together - variance - alike**2 * self._total_variance) / (2 * alike)

    def _fieller(self, deviations: float, variance: float, covariance: float) -> float:
        """The largest d ≥ 0 with d·total ≤ deviations·√(variance − 2d·covariance + d²·total_variance)."""
        squared = deviations**2
        known = self._total**2 - squared * self._total_variance
        if known <= 0:
            return inf
        middle = -squared * covariance
        return (middle + sqrt(max(middle**2 + known * squared * variance, 0.0))) / known
