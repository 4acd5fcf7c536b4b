"""A calendar: hours, days, months or years from a start, as many as were declared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.axes.base import (
    MOST_CELLS,
    Axis,
    Cells,
    checked_length,
    checked_name,
    counted_cells,
    quoted_name,
    range_of,
)
from sparsedp.axes.coarsening import Coarsening
from sparsedp.axes.periods import (
    DAY,
    NO_TIME,
    Period,
    period_of,
    wall_clock,
)
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import InvalidInput
from sparsedp.files.columns_file import Column
from sparsedp.moments import EPOCH, MICROSECOND, Moment, Step, microseconds_of
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
    time: Schedule
    _length: int

    kind: ClassVar[str] = "calendar"
    ordered = True

    def __init__(self, name: str, start: Moment, every: Step, length: int, zone: object = None) -> None:
        object.__setattr__(self, "name", checked_name(name))
        if start is None or every is None:
            raise InvalidInput("start" if start is None else "every", "missing", "give both start and every")
        object.__setattr__(self, "time", Schedule(start, every, zone))
        object.__setattr__(self, "_length", whole("length", length))
        checked_length("length", str(length), self._length)
        if self._end > _LAST:
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
        time = Schedule(first, every, zone, argument="first")
        period = period_of("last", last)
        end = time.settled("last", period.end, period.aware)
        return cls(checked_name(name), first, every, _checked_count(time, end), zone)

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
        return self.time.months

    @property
    def zone(self) -> str | None:
        """The IANA name of the zone whose wall clock the axis follows, if it was declared."""
        return self.time.zone

    @property
    def in_utc(self) -> bool:
        """Whether the start named an offset and no zone was declared: times must then name their offset."""
        return self.zone is None and self.time.utc

    def edges(self) -> npt.NDArray[np.datetime64]:
        """Where each cell begins and, one more, where the last one ends, by the axis' own clock: datetime64[us]."""
        return self.time.begin_of(np.arange(self._length + 1, dtype=np.int64)).view("datetime64[us]")

    def index_of(self, values: npt.ArrayLike) -> Ints:
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

    def through(self, first: str, last: str) -> slice:
        """The cells from `first`, where one begins, to the end of `last`, a day, week, month or year that is included.

        Where cells are longer than `last`, the last one ends with it, or begins with it.
        """
        period, start = period_of(self.name, last), self._tick(first, self._length)
        begin = self._settled(period)
        end = begin + period.end - period.begin
        if end <= self.time.begin_of(start):
            raise self._refuse("a range that ends before it starts", "give the earlier end first")
        if end > self._end:
            given = f"a range to {last}, after the last cell"
            raise self._refuse(given, f"give a time up to {_shown_end(self._end, utc=self.time.utc)}")
        stop, begun = self.time.tick_at(end), self.time.tick_at(begin)
        if self.time.begin_of(stop) == end:
            return slice(start, stop)
        if self.time.begin_of(begun) == begin:
            return slice(start, begun + 1)
        near = [self.time.begin_of(tick) for tick in (stop, stop + 1) if tick > start]
        ends = " or ".join(_shown_end(moment, utc=self.time.utc) for moment in near)
        raise self._refuse(f"a range to {last}, where no cell ends", f"give {ends}, which is then included")

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
        span = _written_span(self._first, self._end, in_utc=self.in_utc)
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
    def _coarsenings(self) -> dict[str, Coarsening]:
        from sparsedp.axes.rhythms import coarsenings_of  # which are calendars, too

        return coarsenings_of(self)

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


# The ends of a calendar as people write them: the last day included, or the time of day where the last cell ends.

_MINUTE = 60_000_000
_LAST = (datetime.max - EPOCH) // MICROSECOND
"""When the last cell of a calendar must have ended, in microseconds since 1970."""


def _written_span(first: int, end: int, *, in_utc: bool) -> str:
    """2024-01-01..2024-12-31, or 2024-01-01T08:00..2024-01-01T17:00; Z marks times in UTC."""
    if in_utc:
        return f"{_clock_time(first)}Z..{_clock_time(end)}Z"
    return f"{_clock_time(first) if first % DAY else _date(first)}..{_written_end(end)}"


def _written_end(end: int) -> str:
    """The last day, where the last cell ends with one."""
    return _clock_time(end) if end % DAY else _date(end - DAY)


def _checked_count(time: Schedule, end: int) -> int:
    """How many cells there are until `end`, which must be where one ends; nothing is laid out to find out."""
    if end <= time.begin_of(0):
        raise InvalidInput("last", "before first", f"give a later one: the first cell begins at {time.shown(0)}")
    if end > _LAST:
        raise InvalidInput("last", "beyond the calendar", "give one in the year 9998 or before")
    count = time.tick_at(end)
    if time.begin_of(count) != end:
        near = [time.begin_of(cells) for cells in (count, count + 1) if cells > 0]
        nearest = " or ".join(_shown_end(one, utc=time.utc) for one in near if one <= _LAST)
        given = f"{_shown_end(end, utc=time.utc)}, which is not the end of one of the {time}"
        raise InvalidInput("last", given, f"give {nearest}")
    if count > MOST_CELLS:
        given = f"{_shown_end(end, utc=time.utc)}, after {count:,} {time}"
        raise InvalidInput("last", given, f"give coarser or fewer cells: at most 2**28 = {MOST_CELLS:,}")
    return count


def _shown_end(end: int, *, utc: bool) -> str:
    return f"{_clock_time(end)}Z" if utc else _written_end(end)


def _date(moment: int) -> str:
    return (EPOCH + moment * MICROSECOND).date().isoformat()


def _clock_time(moment: int) -> str:
    return (EPOCH + moment * MICROSECOND).isoformat(timespec="auto" if moment % _MINUTE else "minutes")


# Times in a column of records, whatever holds them, by the clock of a calendar.


def _moments_of(values: npt.ArrayLike, time: Schedule, zone: str | None, end: int) -> Ints:
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


def _wall_clock(instants: Ints, zone: str, first: int, end: int) -> Ints:
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


def _from_datetime64(array: npt.NDArray[Any]) -> Ints:
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
