"""A schedule: when the ticks of a stream are and where the cells of a calendar begin; or plain numbers from 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.axes.periods import (
    DAY,
    IN_UTC,
    NO_TIME,
    Numbers,
    begin_of_month,
    checked_zone,
    month_at,
    months_of,
    period_of,
    shown_months,
    wall_clock,
)
from sparsedp.errors import InvalidInput
from sparsedp.moments import (
    A_TIME,
    EPOCH,
    FARTHEST,
    MICROSECOND,
    UNITS,
    Moment,
    Moments,
    Step,
    first_moment,
    in_microseconds,
    in_units,
    microseconds_of,
    shown_moment,
    step_of,
)


@dataclass(frozen=True, init=False, repr=False)
class Schedule:
    """Tick i is at start + i·every; without the two, ticks are only numbered. Public: declared, never read off data.

    It has no end. A step has a fixed length, or is whole `months`; `every` is then None. With a `zone` the clock is
    the zone's wall clock: a time that names its offset is turned into what the clocks there showed, and one that names
    none is such a time already. Without a zone, a start that names its offset makes a schedule in UTC, and every later
    time must name its offset too; a start that names none makes one whose times have none. A datetime64 cannot name
    one and is taken to be by the schedule's own clock.

    >>> hours = Schedule("2026-01-01T00:00Z", every="1h")
    >>> print(hours)
    hourly ticks from 2026-01-01 00:00 UTC
    >>> hours.tick_of("at", "2026-01-02T02:00+02:00")
    24
    """

    start: datetime | None
    every: timedelta | None
    months: int | None
    zone: str | None

    def __init__(
        self, start: Moment | None = None, every: Step | None = None, zone: object = None, *, argument: str = "start"
    ) -> None:
        """`argument` is what complaints call the start."""
        if (start is None) != (every is None):
            missing = argument if start is None else "every"
            raise InvalidInput(missing, "missing", "give both start and every, or neither for ticks without a calendar")
        object.__setattr__(self, "months", None if every is None else months_of(every))
        object.__setattr__(self, "zone", checked_zone(zone))
        object.__setattr__(self, "start", None if start is None else self._checked_start(argument, start))
        object.__setattr__(self, "every", None if every is None or self.months else step_of(every))
        if self.months and self._into_month >= 28 * DAY:
            given = f"{self.shown(0)}, and not every month has such a day"
            raise InvalidInput(argument, given, "give one on the 1st to the 28th of a month")

    def _checked_start(self, argument: str, start: Moment) -> datetime:
        period = period_of(argument, start)
        if self.zone is not None:
            return first_moment(np.datetime64(self.settled(argument, period.begin, period.aware), "us"))
        first = first_moment(np.datetime64(period.begin, "us"))
        return first.replace(tzinfo=UTC) if period.aware else first

    @property
    def utc(self) -> bool:
        """Whether the times are in UTC."""
        if self.zone is not None:
            return self.zone in IN_UTC
        return self.start is not None and self.start.tzinfo is not None

    def tick_of(self, argument: str, at: object) -> int:
        """The number of the tick at a time that lies on the schedule; a whole number is a tick's number already."""
        # numpy counts a timedelta64 among the whole numbers.
        if isinstance(at, Integral) and not isinstance(at, bool | np.timedelta64) and int(at) >= 0:
            return int(at)
        if not isinstance(at, str | date | np.datetime64):
            given = f"{at}" if isinstance(at, Integral | float) else f"of type {type(at).__name__}"
            raise InvalidInput(argument, given, f"give {self._wanted}")
        if self.start is None:
            raise InvalidInput(argument, "a time, and these ticks have no calendar", f"give {self._wanted}")
        return self.tick_on(argument, self.settled(argument, *microseconds_of(argument, at)))

    def ticks_of(self, argument: str, at: Moments) -> npt.NDArray[np.int64]:
        """`tick_of` for each of an array of times or tick numbers; one alone gives an array without dimensions."""
        try:
            array = np.asarray(at)
        except ValueError:
            raise InvalidInput(argument, "not an array", f"give {self._wanted}, or an array of them") from None
        if array.dtype.kind == "M" and self.start is not None:
            moments = in_microseconds(argument, array)
            ticks = self.tick_at(moments)
            for astray in moments[(ticks < 0) | (self.begin_of(ticks) != moments)][:1].tolist():
                self.tick_on(argument, astray)
            return np.asarray(ticks)
        if array.dtype.kind == "i" and not (array < 0).any():
            return array.astype(np.int64)
        # A number too large for any release is cut to one that is too large as well and fits in 64 bits.
        several = [min(self.tick_of(argument, one), FARTHEST) for one in array.ravel()]
        return np.array(several, dtype=np.int64).reshape(array.shape)

    def times(self, count: int) -> npt.NDArray[Any]:
        """When the first `count` ticks are: datetime64[us], in UTC if the axis is; or 0, …, count − 1."""
        count = validate.whole("count", count, least=0, most=validate.MAX_CELLS)
        if self.start is None:
            return np.arange(count, dtype=np.int64)
        if self.begin_of(count) > FARTHEST:
            raise InvalidInput("count", f"{count}, and the calendar ends before so many {self}", "give fewer ticks")
        return self.begin_of(np.arange(count, dtype=np.int64)).view("datetime64[us]")

    def shown(self, tick: int) -> str:
        """A tick as people write it: "2026-01-01 06:00 UTC", or its number."""
        return str(tick) if self.start is None else shown_moment(self.begin_of(tick), utc=self.utc)

    def span(self, count: int) -> str:
        """The first `count` ticks in words: "hourly ticks from 2026-01-01 00:00 to 2026-01-01 23:00"."""
        return f"{self} to {self.shown(count - 1)}" if count > 0 else str(self)

    def __str__(self) -> str:
        return "ticks numbered from 0" if self.start is None else f"{self._often} from {self.shown(0)}"

    def __repr__(self) -> str:
        return f"Schedule({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def describe(self) -> dict[str, Any]:
        """Start and step, and the zone where there is one, JSON-able; `from_description` gives the schedule back."""
        if self.start is None:
            return {"start": None, "every": None}
        step = shown_months(self.months) if self.months else "{}{}".format(*in_units(self._every))
        zone = {} if self.zone is None else {"zone": self.zone}
        return {"start": self.start.isoformat(), "every": step, **zone}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Schedule:
        """The schedule that `describe` described."""
        return cls(description["start"], description["every"], description.get("zone"))

    def begin_of(self, ticks: Numbers) -> Numbers:
        """When ticks are, in microseconds since 1970 by the schedule's own clock."""
        if self.months:
            return begin_of_month(self._first_month + ticks * self.months) + self._into_month
        return self._start + ticks * self._every

    def tick_at(self, moments: Numbers) -> Numbers:
        """The last tick that is not after a moment, in microseconds by its clock; below 0 before the first."""
        if self.months:
            return (month_at(moments - self._into_month) - self._first_month) // self.months
        return (moments - self._start) // self._every

    def tick_on(self, argument: str, moment: int) -> int:
        """The tick that is exactly at a moment, in microseconds by the schedule's own clock."""
        tick = self.tick_at(moment)
        if tick < 0:
            given = f"{shown_moment(moment, utc=self.utc)}, which is before the first tick"
            raise InvalidInput(argument, given, f"give {self.shown(0)} or later")
        past = moment - self.begin_of(tick)
        if past:
            given = f"{shown_moment(moment, utc=self.utc)}, which is not on the schedule of {self}"
            nearest = tick + (2 * past > self.begin_of(tick + 1) - self.begin_of(tick))
            raise InvalidInput(argument, given, f"the nearest tick is {self.shown(nearest)}")
        return tick

    def settled(self, argument: str, moment: int, aware: bool | None) -> int:
        """What `microseconds_of` read, by the schedule's own clock; refused where that would be a guess."""
        if self.zone is None:
            if aware is not None and aware != self.utc:
                raise InvalidInput(argument, *_TIMEZONE[aware])
            return moment
        if aware:
            moment = int(wall_clock(np.array([moment], dtype=np.int64), self.zone)[0])
        if moment == NO_TIME:
            raise InvalidInput(argument, "outside the calendar", "give a time in the years 1 to 9999")
        return moment

    @property
    def _often(self) -> str:
        number, unit = (self.months, "month") if self.months else in_units(self._every)
        every = _long(unit) if number == 1 else f"{number} {_long(unit)}s"
        often = _OFTEN.get(every, f"ticks every {every}")
        return often if self.zone is None or self.utc else f"{often} in {self.zone}"

    @cached_property
    def _start(self) -> int:
        assert self.start is not None  # noqa: S101  # asked for only where there is a calendar
        return (self.start.replace(tzinfo=None) - EPOCH) // MICROSECOND

    @cached_property
    def _every(self) -> int:
        assert self.every is not None  # noqa: S101  # asked for only where there is a calendar
        return self.every // MICROSECOND

    @cached_property
    def _first_month(self) -> int:
        return month_at(self._start)

    @cached_property
    def _into_month(self) -> int:
        """How long after the begin of a month its tick is."""
        return self._start - begin_of_month(self._first_month)

    @property
    def _wanted(self) -> str:
        return "the number of a tick, counted from 0" + (f", or {A_TIME}" if self.start is not None else "")


_TIMEZONE = {
    False: ("a time without a timezone, and the axis is in UTC", 'give one such as "2026-01-01T06:00Z"'),
    True: ("a time with a timezone, and the axis has none", 'give one without, such as "2026-01-01T06:00"'),
}

_OFTEN = {
    "hour": "hourly ticks",
    "day": "daily ticks",
    "week": "weekly ticks",
    "month": "monthly ticks",
    "3 months": "quarterly ticks",
    "12 months": "yearly ticks",
}


def _long(unit: str) -> str:
    return UNITS[unit][0] if unit in UNITS else unit
