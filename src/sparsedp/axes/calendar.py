"""A calendar: hours, days, months or years from a start, as many as were declared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.axes.base import Axis, Cells, checked_length, checked_name, counted_cells, quoted_name, range_of
from sparsedp.axes.periods import (
    DAY,
    IN_UTC,
    LAST,
    NO_TIME,
    STEPS,
    Period,
    begin_of_month,
    checked_count,
    checked_zone,
    month_at,
    months_of,
    period_of,
    shown_months,
    wall_clock,
    written_span,
)
from sparsedp.axes.time_axis import Numbers, TimeAxis
from sparsedp.errors import InvalidInput
from sparsedp.files.columns_file import Column
from sparsedp.moments import EPOCH, MICROSECOND, Moment, Step, first_moment, microseconds_of
from sparsedp.validate import kind_of, whole


@dataclass(frozen=True, init=False)
class Calendar(Axis):
    """Cell i holds the times from start + i·every until just before start + (i + 1)·every; `length` such cells.

    A step is of fixed length ("15min", "1h", "1d", "1w") or whole months ("1mo", "3mo", "1y"), whose cells differ in
    length. The clock is one of three:

    - with a `zone` ("Europe/Berlin", "UTC") the zone's wall clock: a time that names its offset is turned into what the
      clocks there showed; one that names none is taken to be that already. In the night when clocks are put forward
      the hour that is left out has an empty cell, and in that when they are put back one cell holds two hours;
    - without a zone, but with an offset in the start, UTC: text and datetimes must then name their offset;
    - with neither, a clock without a timezone: they must then not name any.

    A datetime64 cannot name an offset and is taken to be by the axis' own clock.

    >>> Calendar("day", "2026-01-01", every="1d", length=31).index_of(["2026-01-31T23:59", "2026-02-01"]).tolist()
    [30, -1]
    >>> Calendar("month", "2026-01-01", every="1mo", length=12, zone="Europe/Berlin").index_of(["2026-01-31T23:30Z"])
    array([1])
    """

    name: str
    time: TimeAxis
    _length: int

    kind: ClassVar[str] = "calendar"
    ordered: ClassVar[bool] = True

    def __init__(self, name: str, start: Moment, every: Step, length: int, zone: object = None) -> None:
        object.__setattr__(self, "name", checked_name(name))
        if start is None or every is None:
            raise InvalidInput("start" if start is None else "every", "missing", "give both start and every")
        object.__setattr__(self, "time", _schedule_of(start, every, zone))
        object.__setattr__(self, "_length", whole("length", length))
        checked_length("length", str(length), self._length)
        if self._end > LAST:
            given = f"{length}, and the calendar ends before so many {self.time}"
            raise InvalidInput("length", given, "give fewer cells, so that the last ends in the year 9999 or before")

    @classmethod
    def between(cls, name: str, first: Moment, last: Moment, every: Step = "1d", zone: object = None) -> Calendar:
        """From the begin of `first` to the end of `last`, which is included.

        A date such as "2024-12-31" is the whole day, "2024-12" the whole month and "2024" the whole year. A time of
        day (and so a datetime, also at midnight) is a point: there the last cell ends.

        >>> Calendar.between("day", "2024-01-01", "2024-12-31").length
        366
        >>> Calendar.between("month", "2024-01", "2024-12", every="1mo", zone="Europe/Berlin").length
        12
        >>> Calendar.between("hour", "2024-01-01T08:00", "2024-01-01T17:00", every="1h").length
        9
        """
        for argument, given in (("first", first), ("last", last), ("every", every)):
            if given is None:
                raise InvalidInput(argument, "missing", "give first, last and every")
        time = _schedule_of(first, every, zone, argument="first")
        period = period_of("last", last)
        end = time.settled("last", period.end, period.aware)
        return cls(checked_name(name), first, every, checked_count(time, end), zone)

    @property
    def length(self) -> int:
        """The number of cells."""
        return self._length

    @property
    def first(self) -> datetime:
        """Where the first cell begins, by the axis' own clock, as a datetime without a timezone."""
        return EPOCH + self._first * MICROSECOND

    @property
    def end(self) -> datetime:
        """Where the last cell ends, by the axis' own clock, as a datetime without a timezone."""
        return EPOCH + self._end * MICROSECOND

    @property
    def step_microseconds(self) -> int | None:
        """How long each cell is; None where the step is months."""
        return None if self.time.every is None else self.time.every // MICROSECOND

    @property
    def step_months(self) -> int | None:
        """How many months each cell has; None where the step has a fixed length."""
        return self.time.months if isinstance(self.time, Schedule) else None

    @property
    def zone(self) -> str | None:
        """The IANA name of the zone whose wall clock the axis follows, if it was declared."""
        return self.time.zone if isinstance(self.time, Schedule) else None

    @property
    def in_utc(self) -> bool:
        """Whether the start named an offset and no zone was declared: times must then name their offset."""
        return self.zone is None and self.time.utc

    def edges(self) -> npt.NDArray[np.datetime64]:
        """Where each cell begins and, one more, where the last one ends, by the axis' own clock: datetime64[us]."""
        return self.time.begin_of(np.arange(self._length + 1, dtype=np.int64)).view("datetime64[us]")

    def index_of(self, values: npt.ArrayLike) -> Integers:
        """The cell that each time falls into; −1 before the first and after the last, and for what is no time."""
        moments = _moments_of(values, self.time, self.zone, self._end)
        inside = (moments >= self._first) & (moments < self._end)
        return np.where(inside, self.time.tick_at(np.where(inside, moments, self._first)), -1)

    def cells_of(self, wanted: object) -> Cells:
        """A time where a cell begins, a list of them, or a range (start, stop) of such times or of cell numbers.

        "2024-03" and "2024" are all cells of that month and year, and a date is all cells of the day where cells are
        shorter; in a range they stand for where they begin: ("2024-03", "2024-04") is March.
        """
        if isinstance(wanted, slice):
            return counted_cells(self, wanted)
        bounds = range_of(wanted)
        if bounds is not None:
            start, stop = (self._tick(bound, self._length) for bound in bounds)
            if start > stop:
                raise self._refuse("a range that ends before it starts", "give (start, stop) with start ≤ stop")
            return slice(start, stop)
        if isinstance(wanted, list | np.ndarray):
            several = [self._named(one) for one in wanted]
            return np.unique(np.concatenate([np.arange(0), *(np.arange(one.start, one.stop) for one in several)]))
        one = self._named(wanted)
        return one if one.stop > one.start + 1 else np.array([one.start], dtype=np.int64)

    def columns(self) -> dict[str, Column]:
        """When each cell begins by the axis' own clock, under its name."""
        return {self.name: self.time.times(self._length)}

    @property
    def utc(self) -> tuple[str, ...]:
        """The column of times, if the axis is in UTC."""
        return (self.name,) if self.time.utc else ()

    @property
    def spec(self) -> str:
        """day:2024-01-01..2024-12-31/1d, with @Europe/Berlin for a zone."""
        facts = self.time.describe()
        span = written_span(self._first, self._end, in_utc=self.in_utc)
        zone = "" if self.zone is None else f"@{self.zone}"
        return f"{quoted_name(self.name)}:{span}/{facts['every']}{zone}"

    def describe(self) -> dict[str, Any]:
        """Kind, name, start, step and length, and the zone where there is one."""
        return {"kind": self.kind, "name": self.name, **self.time.describe(), "length": self._length}

    def __repr__(self) -> str:
        facts = self.time.describe()
        zone = f", zone={self.zone!r}" if self.zone is not None else ""
        return f"Calendar({self.name!r}, {facts['start']!r}, every={facts['every']!r}, length={self._length}{zone})"

    @cached_property
    def _first(self) -> int:
        return self.time.begin_of(0)

    @cached_property
    def _end(self) -> int:
        return self.time.begin_of(self._length)

    def _named(self, at: object) -> slice:
        """The cells that one time names: those of a whole period where it is one, else the cell that begins there."""
        if not isinstance(at, str | date | np.datetime64):
            return _one(self._tick(at, self._length - 1))
        period = period_of(self.name, at)
        begin = self._settled(period)
        end = begin + period.end - period.begin
        first, last = self.time.tick_at(begin), self.time.tick_at(end)
        whole_cells = self.time.begin_of(first) == begin and self.time.begin_of(last) == end
        if 0 <= first < last <= self._length and whole_cells:
            return slice(first, last)
        # A day that is shorter than a cell, or as long as one, names the cell as the day when it begins.
        if period.moment or not 0 <= first < self._length or (period.whole == "day" and first == last):
            return _one(self._tick(at, self._length - 1))
        given = f"a {period.whole} that is {'only partly on the axis' if whole_cells else 'not made of whole cells'}"
        shown = self.time.shown
        ends = f"give a range (start, stop) of times at which cells begin, from {shown(0)} to {shown(self._length)}"
        raise self._refuse(given, ends)

    def _settled(self, period: Period) -> int:
        return self.time.settled(self.name, period.begin, period.aware)

    def _tick(self, at: object, most: int) -> int:
        counted = isinstance(at, Integral) or not isinstance(at, str | date | np.datetime64)
        if counted:
            tick = self.time.tick_of(self.name, at)
        else:
            tick = self.time.tick_on(self.name, self._settled(period_of(self.name, at)))
        if tick > most:
            shown = f"{tick if counted else self.time.shown(tick)}, after the last tick"
            raise self._refuse(shown, f"give a time up to {self.time.shown(most)}")
        return tick


def _one(tick: int) -> slice:
    return slice(tick, tick + 1)


# When the cells of a calendar begin, where a plain time axis cannot say it: months, years and time zones.


@dataclass(frozen=True, init=False, repr=False)
class Schedule(TimeAxis):
    """A time axis whose step may be `months`, and whose clock may be the wall clock of a `zone`.

    With a zone, a time that names its offset is turned into what the zone's clocks showed then, and one that names
    none is such a time already. `every` is None where the step is months.
    """

    months: int | None
    zone: str | None

    def __init__(self, start: Moment, every: Step, zone: object = None, *, argument: str = "start") -> None:
        object.__setattr__(self, "months", months_of(every))
        object.__setattr__(self, "zone", checked_zone(zone))
        period = period_of(argument, start)
        begin = period.begin if self.zone is None else self.settled(argument, period.begin, period.aware)
        first = first_moment(np.datetime64(begin, "us"))
        in_utc = self.zone is None and period.aware
        try:
            super().__init__(first.replace(tzinfo=UTC) if in_utc else first, "1d" if self.months else every)
        except InvalidInput as error:
            # What a time axis says of months does not hold here.
            raise InvalidInput(error.argument, error.given, STEPS) from None
        if self.months:
            object.__setattr__(self, "every", None)
            if self._into_month >= 28 * DAY:
                given = f"{self.shown(0)}, and not every month has such a day"
                raise InvalidInput(argument, given, "give one on the 1st to the 28th of a month")

    @property
    def utc(self) -> bool:
        """Whether the times are in UTC."""
        return self.zone in IN_UTC if self.zone is not None else super().utc

    def begin_of(self, ticks: Numbers) -> Numbers:
        """When ticks are, in microseconds since 1970 by the axis' own clock."""
        if self.months is None:
            return super().begin_of(ticks)
        return begin_of_month(self._first_month + ticks * self.months) + self._into_month

    def tick_at(self, moments: Numbers) -> Numbers:
        """The last tick that is not after a moment."""
        if self.months is None:
            return super().tick_at(moments)
        return (month_at(moments - self._into_month) - self._first_month) // self.months

    def settled(self, argument: str, moment: int, aware: bool | None) -> int:
        """The moment by the zone's wall clock."""
        if self.zone is None:
            return super().settled(argument, moment, aware)
        if aware:
            moment = int(wall_clock(np.array([moment], dtype=np.int64), self.zone)[0])
        if moment == NO_TIME:
            raise InvalidInput(argument, "outside the calendar", "give a time in the years 1 to 9999")
        return moment

    def describe(self) -> dict[str, Any]:
        """Start and step, and the zone where there is one."""
        facts = super().describe() if self.months is None else _monthly(self.start, self.months)
        return facts if self.zone is None else {**facts, "zone": self.zone}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> Schedule:
        """The schedule that `describe` described."""
        return cls(**description)

    def __repr__(self) -> str:
        return f"Schedule({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    @property
    def _often(self) -> str:
        often = super()._often if self.months is None else _OFTEN.get(self.months, f"ticks every {self.months} months")
        return often if self.zone is None or self.utc else f"{often} in {self.zone}"

    @cached_property
    def _first_month(self) -> int:
        return month_at(self._start)

    @cached_property
    def _into_month(self) -> int:
        """How long after the begin of a month its cell begins."""
        return self._start - begin_of_month(self._first_month)


_OFTEN = {1: "monthly ticks", 3: "quarterly ticks", 12: "yearly ticks"}


def _schedule_of(start: Moment, every: Step, zone: object = None, *, argument: str = "start") -> TimeAxis:
    """A plain time axis where that will do; `argument` is what complaints call the start."""
    schedule = Schedule(start, every, zone, argument=argument)
    plain = schedule.months is None and schedule.zone is None
    return TimeAxis(schedule.start, schedule.every) if plain else schedule


def _monthly(start: datetime | None, months: int) -> dict[str, Any]:
    assert start is not None  # noqa: S101  # a schedule has one
    return {"start": start.isoformat(), "every": shown_months(months)}


# Times in a column of records, whatever holds them, by the clock of a calendar.


def _moments_of(values: npt.ArrayLike, time: TimeAxis, zone: str | None, end: int) -> Integers:
    """Microseconds since 1970 by the clock of `time`, whose zone is `zone`; NO_TIME for what is missing or no time.

    What is far from all cells, the last of which ends at `end`, may be NO_TIME as well.
    """
    if _names_its_zone(values):
        if zone is None and not time.utc:
            raise _refusal(with_zone=True)
        instants = _from_datetime64(np.asarray(values, dtype="datetime64[us]"))
        return instants if zone is None else _wall_clock(instants, zone, time.begin_of(0), end)
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return _from_datetime64(array)
    if array.dtype.kind not in "UTO":
        raise InvalidInput("values", kind_of(array), "give an array of times")
    read = [_moment(value) for value in array.ravel()]
    moments = np.array([moment for moment, _ in read], dtype=np.int64).reshape(array.shape)
    aware = [known for moment, known in read if known is not None and moment != NO_TIME]
    if zone is None and (not time.utc) in aware:
        raise _refusal(with_zone=not time.utc)
    if zone is not None:
        named = np.array([known is True for _, known in read], dtype=np.bool_).reshape(array.shape)
        moments[named] = _wall_clock(moments[named], zone, time.begin_of(0), end)
    return moments


def _wall_clock(instants: Integers, zone: str, first: int, end: int) -> Integers:
    """By the zone's clock, of what may fall into a cell: no offset is as long as two days."""
    near = (instants >= first - 2 * DAY) & (instants < end + 2 * DAY)
    return wall_clock(np.where(near, instants, NO_TIME), zone)


def _refusal(*, with_zone: bool) -> InvalidInput:
    named, axis = ("with", "has none") if with_zone else ("without", "is in UTC")
    given = f"times {named} a timezone, and the axis {axis}"
    return InvalidInput("values", given, "give all of them as the axis has them, or declare the axis with a zone")


def _names_its_zone(values: object) -> bool:
    """Whether a column of pandas, polars or Arrow holds instants: as a numpy array they would lose their timezone."""
    dtype = getattr(values, "dtype", None)
    zones = getattr(dtype, "tz", None), getattr(dtype, "time_zone", None), getattr(_arrow_type(values), "tz", None)
    return any(isinstance(zone, str) or hasattr(zone, "utcoffset") for zone in zones)


def _arrow_type(values: object) -> Any:
    dtype = getattr(values, "dtype", None)
    return getattr(dtype, "pyarrow_dtype", None) or getattr(values, "type", None)


def _from_datetime64(array: npt.NDArray[Any]) -> Integers:
    # Rounded down to whole microseconds, which is where cells begin: no time changes its cell.
    moments = array.astype("datetime64[us]").astype(np.int64)
    if np.datetime_data(array.dtype)[0] not in ("ns", "ps", "fs", "as"):
        # A coarser unit reaches further than microseconds, and numpy wraps in silence.
        moments = np.where(moments.view("datetime64[us]").astype(array.dtype) == array, moments, NO_TIME)
    return np.where(np.isnat(array), NO_TIME, moments)


def _moment(value: object) -> tuple[int, bool | None]:
    if not isinstance(value, str | date | np.datetime64):
        return NO_TIME, None
    try:
        if isinstance(value, datetime) and value == value and getattr(value, "nanosecond", False):
            value = value.replace(nanosecond=0)  # type: ignore[call-arg]  # a pandas.Timestamp's
        return microseconds_of("values", value)
    except InvalidInput:
        return NO_TIME, None
