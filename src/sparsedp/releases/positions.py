"""Where the cells of an ordered axis lie on a line of numbers, and how a place on it is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Bins, Calendar, Categories, Integers
from sparsedp.axes.base import Axis
from sparsedp.errors import InvalidInput
from sparsedp.moments import EPOCH
from sparsedp.releases.uncertainty import Interval
from sparsedp.time_axis import TimeAxis

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


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

    Times are in microseconds since 1970; `clock` is their time axis.
    """

    name: str
    left: Floats
    right: Floats
    clock: TimeAxis | None = None

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
    """The line that the cells of an axis lie on; with one axis it need not be named."""
    if release.domain is None:
        if axis is not None:
            raise InvalidInput("axis", repr(axis)[:40], "leave it out: the release is a row of cells without a domain")
        return _of_ticks(release)
    if axis is None and len(release.domain.axes) > 1:
        raise InvalidInput("axis", "missing", f"choose one of {', '.join(release.domain.names)}")
    name = release.domain.names[0] if axis is None else axis
    return _of_axis(release.domain.axis(name), release)


def _of_ticks(release: Release) -> Positions:
    if release.time is None or release.time.start is None:
        numbers = np.arange(len(release), dtype=np.float64)
        return Positions("cell" if release.time is None else "tick", numbers, numbers)
    return _of_times("time", release.time, len(release))


def _of_times(name: str, clock: TimeAxis, length: int) -> Positions:
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
    kind = "whose labels have no order" if isinstance(axis, Categories) else "which is no line of numbers"
    ordered = [other.name for other in release.domain.axes if other.ordered] if release.domain is not None else []
    remedy = f"choose one of {', '.join(ordered)}" if ordered else "ask for its cells, or for `top`"
    raise InvalidInput("axis", f"{axis.name!r}, {kind}", remedy)
