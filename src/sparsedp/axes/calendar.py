"""A calendar: hours, days or weeks from a start, as many as were declared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, range_of
from sparsedp.columns_file import Column
from sparsedp.errors import InvalidInput
from sparsedp.moments import EPOCH, FARTHEST, MICROSECOND, Moment, Step, microseconds_of
from sparsedp.time_axis import TimeAxis
from sparsedp.validate import kind_of, whole


@dataclass(frozen=True, init=False)
class Calendar(Axis):
    """Cell i holds the times from start + i·every until just before start + (i + 1)·every; `length` such cells.

    With a timezone in the start the axis is in UTC, and text and datetimes must name theirs; without one they must
    not. A datetime64 cannot name one and is taken to be in the axis' own.

    >>> Calendar("day", "2026-01-01", every="1d", length=31).index_of(["2026-01-31T23:59", "2026-02-01"]).tolist()
    [30, -1]
    """

    name: str
    time: TimeAxis
    _length: int

    kind: ClassVar[str] = "calendar"
    ordered: ClassVar[bool] = True

    def __init__(self, name: str, start: Moment, every: Step, length: int) -> None:
        object.__setattr__(self, "name", checked_name(name))
        if start is None or every is None:
            raise InvalidInput("start" if start is None else "every", "missing", "give both start and every")
        object.__setattr__(self, "time", TimeAxis(start, every))
        object.__setattr__(self, "_length", whole("length", length))
        checked_length("length", str(length), self._length)
        self.time.times(self._length + 1)  # refuses a calendar that ends before the axis does

    @property
    def length(self) -> int:
        """The number of ticks."""
        return self._length

    def index_of(self, values: npt.ArrayLike) -> Integers:
        """The tick that each time falls into; −1 before the first and after the last, and for what is no time."""
        array = np.asarray(values)
        if array.dtype.kind == "M":
            missing = np.isnat(array)
            # Rounded down to whole microseconds, which is where ticks begin: no time changes its tick.
            moments = array.astype("datetime64[us]").astype(np.int64)
            finer = np.datetime_data(array.dtype)[0] in ("ns", "ps", "fs", "as")
            # A coarser unit reaches further than microseconds, and numpy wraps in silence.
            missing |= False if finer else moments.view("datetime64[us]").astype(array.dtype) != array
        elif array.dtype.kind in "UTO":
            moments = np.array([self._moment(value) for value in array.ravel()], dtype=np.int64).reshape(array.shape)
            missing = moments == NO_TIME
        else:
            raise InvalidInput("values", kind_of(array), "give an array of times")
        start = self._first
        inside = ~missing & (moments >= start) & (moments < start + self._length * self._step)
        return np.where(inside, (np.where(inside, moments, start) - start) // self._step, -1)

    def cells_of(self, wanted: object) -> Cells:
        """A time on the schedule, a list of them, or a range (start, stop) of times or of ticks' numbers."""
        if isinstance(wanted, slice):
            return counted_cells(self, wanted)
        bounds = range_of(wanted)
        if bounds is not None:
            start, stop = (self._tick(bound, self._length) for bound in bounds)
            if start > stop:
                raise self._refuse("a range that ends before it starts", "give (start, stop) with start ≤ stop")
            return slice(start, stop)
        several = wanted if isinstance(wanted, list | np.ndarray) else [wanted]
        return np.unique(np.array([self._tick(one, self._length - 1) for one in several], dtype=np.int64))

    def columns(self) -> dict[str, Column]:
        """When each tick begins, under the axis' own name."""
        return {self.name: self.time.times(self._length)}

    @property
    def utc(self) -> tuple[str, ...]:
        """The column of times, if the axis is in UTC."""
        return (self.name,) if self.time.utc else ()

    def describe(self) -> dict[str, Any]:
        """Kind, name, start, step and length."""
        return {"kind": self.kind, "name": self.name, **self.time.describe(), "length": self._length}

    def __repr__(self) -> str:
        facts = self.time.describe()
        return f"Calendar({self.name!r}, {facts['start']!r}, every={facts['every']!r}, length={self._length})"

    @property
    def _first(self) -> int:
        start = self.time.start or EPOCH  # never None here
        return (start.replace(tzinfo=None) - EPOCH) // MICROSECOND

    @property
    def _step(self) -> int:
        return (self.time.every or timedelta()) // MICROSECOND  # never None here

    def _tick(self, at: object, most: int) -> int:
        tick = self.time.tick_of(self.name, at)
        if tick > most:
            shown = f"{self.time.shown(tick) if tick * self._step < FARTHEST else tick}, after the last tick"
            raise self._refuse(shown, f"give a time up to {self.time.shown(most)}")
        return tick

    def _moment(self, value: object) -> int:
        if not isinstance(value, str | date | np.datetime64):
            return NO_TIME
        try:
            if isinstance(value, datetime) and value == value and getattr(value, "nanosecond", False):
                value = value.replace(nanosecond=0)  # type: ignore[call-arg]  # a pandas.Timestamp's
            moment, aware = microseconds_of("values", value)
        except InvalidInput:
            return NO_TIME
        if aware is not None and aware != self.time.utc:
            named, axis = ("with", "has none") if aware else ("without", "is in UTC")
            given = f"times {named} a timezone, and the axis {axis}"
            raise InvalidInput("values", given, "give all of them as the axis has them")
        return moment


NO_TIME = -(2**63)
"""What stands for a missing or unreadable time: datetime64's own mark."""
