"""Days, months, years and the clocks of time zones: how calendars divide time, and how people write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import TypeVar
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.moments import A_STEP, EPOCH, MICROSECOND, Step, microseconds_of

Numbers = TypeVar("Numbers", int, npt.NDArray[np.int64])
"""One, or an array of them."""

# Times as people name them: a moment, or a whole day, week, month or year.

_UNITS = {"Y": "year", "M": "month", "W": "week", "D": "day"}
"""Of a datetime64; a finer one is a moment."""


@dataclass(frozen=True)
class Period:
    """From `begin` until just before `end`, in microseconds since 1970; a moment has no length.

    `aware` says whether the text or object names its timezone; None of a datetime64, which cannot.
    """

    begin: int
    end: int
    whole: str
    aware: bool | None

    @property
    def moment(self) -> bool:
        """Whether it names a point in time, and not a stretch of it."""
        return not self.whole


def period_of(argument: str, at: object) -> Period:
    """What "2024", "2024-03", "2024-W10", "2024-03-05" or "2024-03-05T06:00" names, and dates and times likewise.

    A date is a whole day; a datetime is a moment, also at midnight.
    """
    whole = _whole(at)
    try:
        begin, aware = microseconds_of(argument, at.strip() + _FIRST_DAY.get(whole, "") if isinstance(at, str) else at)
    except InvalidInput as error:
        raise InvalidInput(argument, repr(at) if whole and isinstance(at, str) else error.given, error.remedy) from None
    return Period(begin, _end(begin, whole), whole, aware)


def _whole(at: object) -> str:
    if isinstance(at, np.datetime64):
        return _UNITS.get(np.datetime_data(at.dtype)[0], "")
    if isinstance(at, date):
        return "" if isinstance(at, datetime) else "day"
    if not isinstance(at, str):
        return ""
    for pattern, whole in _PATTERNS.items():
        if re.fullmatch(pattern, at.strip()):
            return whole
    return ""


_PATTERNS = {
    "[0-9]{4}": "year",
    "[0-9]{4}-[0-9]{2}": "month",
    "[0-9]{4}-?W[0-9]{2}": "week",
    "[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-W[0-9]{2}-[0-9]|[0-9]{4}W[0-9]{3}": "day",
}


_FIRST_DAY = {"year": "-01-01", "month": "-01"}


def _end(begin: int, whole: str) -> int:
    if whole in ("month", "year"):
        return begin_of_month(month_at(begin) + (1 if whole == "month" else 12))
    return begin + {"day": DAY, "week": 7 * DAY}.get(whole, 0)


# Months and years as steps: cells of unequal length, counted exactly.

DAY = 86_400_000_000
"""In microseconds."""

_MONTHS = {"mo": 1, "month": 1, "months": 1, "quarter": 3, "quarters": 3, "y": 12, "year": 12, "years": 12}
_MOST = 12 * 10_000


def months_of(every: Step) -> int | None:
    """How many months a step has; None of one with a fixed length, or of what is no step."""
    if isinstance(every, np.timedelta64) and np.datetime_data(every.dtype)[0] in ("M", "Y") and not np.isnat(every):
        months = int(every.astype("timedelta64[M]").astype(np.int64))
    else:
        parts = re.fullmatch(r"\s*([0-9]{1,18}) ?([A-Za-z]+)\s*", every) if isinstance(every, str) else None
        if parts is None or parts[2].lower() not in _MONTHS:
            return None
        months = int(parts[1]) * _MONTHS[parts[2].lower()]
    if not 0 < months <= _MOST:
        raise InvalidInput("every", "not above zero" if months <= 0 else "longer than 10,000 years", A_STEP)
    return months


def shown_months(months: int) -> str:
    """As `every` is written: 3mo, 1y."""
    return f"{months}mo" if months % 12 else f"{months // 12}y"


def begin_of_month(months: Numbers) -> Numbers:
    """When a month begins, in microseconds since 1970; months are counted from January 1970."""
    # Counted from March of the year 0: the leap day is then the last of its year.
    since = months + (1970 * 12 - 2)
    year = since // 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (since % 12) + 2) // 5 - 719_468
    return days * DAY


def month_at(moments: Numbers) -> Numbers:
    """The month of a moment in microseconds since 1970, counted from January 1970."""
    months = np.asarray(moments, dtype=np.int64).astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
    return int(months) if isinstance(moments, int) else months


# Time zones by their IANA names, and the wall clock of one at many instants.

NO_TIME = -(2**63)
"""What stands for a missing or unreadable time: datetime64's own mark."""

_SECOND = 1_000_000
"""In microseconds. No zone changes its offset within a second."""

IN_UTC = ("UTC", "Etc/UTC")
"""Zones whose wall clock shows UTC."""

_WANTED = "give the IANA name of a time zone, such as 'Europe/Berlin' or 'UTC'"
_OF_THE_MACHINE = ("localtime", "posixrules", "Factory")
"""Names that some machines have, and that mean another zone on each."""


def checked_zone(zone: object) -> str | None:
    """The name of a zone; None for none."""
    if zone is None:
        return None
    if isinstance(zone, tzinfo):
        zone = "UTC" if zone is UTC else getattr(zone, "key", zone)
    if not isinstance(zone, str):
        raise InvalidInput("zone", f"of type {type(zone).__name__}", _WANTED)
    try:
        if zone not in _OF_THE_MACHINE:
            return ZoneInfo(zone).key
    except (KeyError, ValueError, OSError):  # no such file, no path within the folder, a folder
        pass
    raise UnknownName("zone", zone[:60], available_timezones(), _WANTED)


def wall_clock(instants: Ints, zone: str) -> Ints:
    """What the clocks of a zone show at each instant, both in microseconds since 1970; NO_TIME outside years 1–9999."""
    known = np.flatnonzero(instants != NO_TIME)
    moments = instants.ravel()[known]
    offsets, sure = _offsets(moments, DAY, zone)
    if not sure.all():
        offsets[~sure] = _offsets(moments[~sure], _SECOND, zone)[0]
    walls = np.full(instants.size, NO_TIME, dtype=np.int64)
    walls[known] = np.where(offsets == NO_TIME, NO_TIME, moments + offsets)
    return walls.reshape(instants.shape)


def _offsets(moments: Ints, span: int, zone: str) -> tuple[Ints, Ints]:
    """The offset at the begin of each moment's span, and whether it is the same at the span's end.

    Spans are far fewer than moments: one look in the zone's table for each, not for every record.
    """
    info = ZoneInfo(zone)
    spans, places = np.unique(moments // span, return_inverse=True)
    begins = np.array([_offset(one * span, info) for one in spans.tolist()], dtype=np.int64)
    ends = np.array([_offset((one + 1) * span, info) for one in spans.tolist()], dtype=np.int64)
    return begins[places], (begins == ends)[places]


def _offset(moment: int, info: ZoneInfo) -> int:
    try:
        local = (EPOCH + moment * MICROSECOND).replace(tzinfo=UTC).astimezone(info)
    except OverflowError:
        return NO_TIME
    return (local.replace(tzinfo=None) - EPOCH) // MICROSECOND - moment
