"""When the ticks of a stream are: a public schedule with a fixed step, or plain numbers from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.errors import InvalidInput

Moment = str | date | np.datetime64
"""How a user may write a time: ISO text, a date or datetime (a pandas.Timestamp is one), a datetime64."""

Moments = npt.ArrayLike | date | Sequence[date]
"""One time or tick number, or an array of them."""

Step = str | timedelta | np.timedelta64
"""How a user may write the time between two ticks: "15min", "1h", "1d", a timedelta or a timedelta64."""

FARTHEST = 2**62
"""Microseconds from 1970, some 146,000 years: the difference of two such times still fits in 64 bits."""

UNITS = {
    "w": ("week", 604_800_000_000),
    "d": ("day", 86_400_000_000),
    "h": ("hour", 3_600_000_000),
    "min": ("minute", 60_000_000),
    "s": ("second", 1_000_000),
    "ms": ("millisecond", 1_000),
    "us": ("microsecond", 1),
}
"""Short name → long name and microseconds; the longest unit first."""


@dataclass(frozen=True, init=False, repr=False)
class TimeAxis:
    """Tick i is at start + i·every; without the two, ticks are only numbered. Public: declared, never read off data.

    A start with a timezone makes an axis in UTC, and every later time must name its timezone too; a start without one
    makes an axis whose times have none. A datetime64 cannot name one and is taken to be in the axis' own.

    >>> hours = TimeAxis("2026-01-01T00:00Z", every="1h")
    >>> print(hours)
    hourly ticks from 2026-01-01 00:00 UTC
    >>> hours.tick_of("at", "2026-01-02T02:00+02:00")
    24
    """

    start: datetime | None
    every: timedelta | None

    def __init__(self, start: Moment | None = None, every: Step | None = None) -> None:
        if (start is None) != (every is None):
            missing = "start" if start is None else "every"
            raise InvalidInput(missing, "missing", "give both start and every, or neither for ticks without a calendar")
        object.__setattr__(self, "start", None if start is None else _first(start))
        object.__setattr__(self, "every", None if every is None else _step(every))

    @property
    def utc(self) -> bool:
        """Whether the times are in UTC; otherwise they name no timezone."""
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
        moment, aware = _microseconds(argument, at)
        if aware is not None and aware != self.utc:
            raise InvalidInput(argument, *_TIMEZONE[aware])
        return self._tick_at(argument, moment)

    def ticks_of(self, argument: str, at: Moments) -> npt.NDArray[np.int64]:
        """`tick_of` for each of an array of times or tick numbers; one alone gives an array without dimensions."""
        try:
            array = np.asarray(at)
        except ValueError:
            raise InvalidInput(argument, "not an array", f"give {self._wanted}, or an array of them") from None
        if array.dtype.kind == "M" and self.start is not None:
            moments = _in_microseconds(argument, array)
            offsets = moments - self._start
            for astray in moments[(offsets < 0) | (offsets % self._every != 0)][:1].tolist():
                self._tick_at(argument, astray)
            return np.asarray(offsets // self._every)
        if array.dtype.kind == "i" and not (array < 0).any():
            return array.astype(np.int64)
        # A number too large for any release is cut to one that is too large as well and fits in 64 bits.
        ticks = [min(self.tick_of(argument, one), FARTHEST) for one in array.ravel()]
        return np.array(ticks, dtype=np.int64).reshape(array.shape)

    def times(self, count: int) -> npt.NDArray[Any]:
        """When the first `count` ticks are: datetime64[us], in UTC if the axis is; or 0, …, count − 1."""
        count = validate.whole("count", count, least=0, most=validate.MAX_CELLS)
        if self.start is None:
            return np.arange(count, dtype=np.int64)
        if self._start + count * self._every > FARTHEST:
            raise InvalidInput("count", f"{count}, and the calendar ends before so many {self}", "give fewer ticks")
        return (self._start + np.arange(count, dtype=np.int64) * self._every).view("datetime64[us]")

    def shown(self, tick: int) -> str:
        """A tick as people write it: "2026-01-01 06:00 UTC", or its number."""
        return str(tick) if self.start is None else _shown(self._start + tick * self._every, utc=self.utc)

    def span(self, count: int) -> str:
        """The first `count` ticks in words: "hourly ticks from 2026-01-01 00:00 to 2026-01-01 23:00"."""
        return f"{self} to {self.shown(count - 1)}" if count > 0 else str(self)

    def __str__(self) -> str:
        if self.start is None:
            return "ticks numbered from 0"
        number, unit = _in_units(self._every)
        every = UNITS[unit][0] if number == 1 else f"{number} {UNITS[unit][0]}s"
        often = {"hour": "hourly ticks", "day": "daily ticks", "week": "weekly ticks"}.get(
            every, f"ticks every {every}"
        )
        return f"{often} from {self.shown(0)}"

    def __repr__(self) -> str:
        return f"TimeAxis({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def describe(self) -> dict[str, Any]:
        """A JSON-able description; `TimeAxis.from_description` gives the axis back."""
        if self.start is None:
            return {"start": None, "every": None}
        number, unit = _in_units(self._every)
        return {"start": self.start.isoformat(), "every": f"{number}{unit}"}

    @classmethod
    def from_description(cls, description: dict[str, Any]) -> TimeAxis:
        """The axis that `describe` described."""
        return cls(description["start"], description["every"])

    @cached_property
    def _start(self) -> int:
        assert self.start is not None  # noqa: S101  # asked for only where there is a calendar
        return (self.start.replace(tzinfo=None) - _EPOCH) // _MICROSECOND

    @cached_property
    def _every(self) -> int:
        assert self.every is not None  # noqa: S101  # asked for only where there is a calendar
        return self.every // _MICROSECOND

    @property
    def _wanted(self) -> str:
        return "the number of a tick, counted from 0" + (f", or {_A_TIME}" if self.start is not None else "")

    def _tick_at(self, argument: str, moment: int) -> int:
        tick, past = divmod(moment - self._start, self._every)
        if tick < 0:
            given = f"{_shown(moment, utc=self.utc)}, which is before the first tick"
            raise InvalidInput(argument, given, f"give {self.shown(0)} or later")
        if past:
            given = f"{_shown(moment, utc=self.utc)}, which is not on the schedule of {self}"
            raise InvalidInput(argument, given, f"the nearest tick is {self.shown(tick + (2 * past > self._every))}")
        return tick


_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_A_TIME = 'a time such as "2026-01-01T06:00"'
_A_STEP = 'give a step such as "15min", "1h" or "1d"'
_TIMEZONE = {
    False: ("a time without a timezone, and the axis is in UTC", 'give one such as "2026-01-01T06:00Z"'),
    True: ("a time with a timezone, and the axis has none", 'give one without, such as "2026-01-01T06:00"'),
}
_LENGTHS = {name: length for short, (long, length) in UNITS.items() for name in (short, long, f"{long}s")}
_NO_FIXED_LENGTH = {"m", "mo", "month", "months", "me", "ms", "q", "quarter", "quarters", "y", "a", "year", "years"}
"""In small letters, and so `ms` too: for pandas, "MS" is the start of a month."""


def _first(start: Moment) -> datetime:
    """The first tick as a plain datetime: in UTC, or without a timezone."""
    moment, aware = _microseconds("start", start)
    try:
        return (_EPOCH + moment * _MICROSECOND).replace(tzinfo=UTC if aware else None)
    except OverflowError:
        raise InvalidInput("start", "outside the calendar", "give a time in the years 1 to 9999") from None


def _step(every: Step) -> timedelta:
    """The time between two ticks, of whole microseconds."""
    if isinstance(every, np.timedelta64):
        length = int(_in_microseconds("every", np.asarray(every)))
    elif isinstance(every, timedelta):
        if getattr(every, "nanoseconds", 0):
            raise InvalidInput("every", "finer than microseconds", _A_STEP)
        length = every // _MICROSECOND
    elif isinstance(every, str):
        length = _length_of("every", every.strip())
    else:
        raise InvalidInput("every", f"of type {type(every).__name__}", _A_STEP)
    if not 0 < length <= FARTHEST // 2:
        raise InvalidInput("every", "not above zero" if length <= 0 else "longer than 70,000 years", _A_STEP)
    return length * _MICROSECOND


def _length_of(argument: str, text: str) -> int:
    parts = re.fullmatch(r"([0-9]{1,18}) ?([A-Za-z]+)", text)
    unit = parts[2] if parts else text
    small = unit.lower()
    if small in _NO_FIXED_LENGTH and unit != "ms":
        raise InvalidInput(argument, repr(text), f"{_A_STEP}; months and years have no fixed length")
    if parts is None or small not in _LENGTHS:
        raise InvalidInput(argument, repr(text[:40]), f"{_A_STEP}: a whole number and one of {', '.join(UNITS)}")
    return int(parts[1]) * _LENGTHS[small]


def _microseconds(argument: str, at: object) -> tuple[int, bool | None]:
    """Microseconds since 1970, and whether the time names its timezone; None of a datetime64, which cannot."""
    if isinstance(at, np.datetime64):
        return int(_in_microseconds(argument, np.asarray(at))), None
    if isinstance(at, str):
        at = _from_text(argument, at.strip())
    if not isinstance(at, date):
        raise InvalidInput(argument, f"of type {type(at).__name__}", f"give {_A_TIME}")
    if at != at:  # pandas' NaT
        raise InvalidInput(argument, "no time at all (NaT)", f"give {_A_TIME}")
    if getattr(at, "nanosecond", 0):
        raise InvalidInput(argument, "finer than microseconds", f"give {_A_TIME}")
    if not isinstance(at, datetime):
        at = datetime(at.year, at.month, at.day)
    aware = at.utcoffset() is not None
    try:
        at = at.astimezone(UTC) if aware else at
        # Anew from its parts: a subclass has an arithmetic of its own.
        plain = datetime(at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond)
    except (OverflowError, ValueError):
        raise InvalidInput(argument, "outside the calendar", "give a time in the years 1 to 9999") from None
    return (plain - _EPOCH) // _MICROSECOND, aware


def _from_text(argument: str, text: str) -> datetime:
    # datetime reads six digits of a second and drops the rest without a word.
    if any(rest.strip("0") for rest in re.findall(r"[.,]\d{6}(\d+)", text)):
        raise InvalidInput(argument, "finer than microseconds", f"give {_A_TIME}")
    try:
        return datetime.fromisoformat(re.sub(" ?UTC$", "Z", text))
    except ValueError:
        raise InvalidInput(argument, repr(text[:40]), f"give {_A_TIME}") from None


def _in_microseconds(argument: str, array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Datetime64 or timedelta64 of any unit as whole microseconds, exactly or not at all."""
    wanted = f"give {_A_TIME}" if array.dtype.kind == "M" else _A_STEP
    if np.isnat(array).any():
        raise InvalidInput(argument, "no time at all (NaT)", wanted)
    unit = np.datetime_data(array.dtype)[0]
    if array.dtype.kind == "m" and unit in ("Y", "M", "generic"):
        raise InvalidInput(argument, f"of type {array.dtype}", f"{wanted}; months and years have no fixed length")
    # numpy rounds and wraps in silence, but what was rounded or wrapped does not come back the same.
    cast = array.astype(f"{array.dtype.kind}8[us]")
    numbers = cast.astype(np.int64)
    if (cast.astype(array.dtype) != array).any() or (numbers > FARTHEST).any() or (numbers < -FARTHEST).any():
        given = "finer than microseconds" if unit in ("ns", "ps", "fs", "as") else "beyond 140,000 years"
        raise InvalidInput(argument, given, wanted)
    return numbers


def _in_units(length: int) -> tuple[int, str]:
    """A length in the longest unit that divides it."""
    return next((length // size, short) for short, (_, size) in UNITS.items() if length % size == 0)


def _shown(moment: int, *, utc: bool) -> str:
    unit = "m" if moment % 60_000_000 == 0 else "s" if moment % 1_000_000 == 0 else "us"
    text = str(np.datetime64(moment, "us").astype(f"datetime64[{unit}]"))
    return text.replace("T", " ") + (" UTC" if utc else "")
