"""Times as people name them: a moment, or a whole day, week, month or year."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np

from sparsedp.axes.months import DAY, begin_of_month, month_at
from sparsedp.errors import InvalidInput
from sparsedp.moments import microseconds_of

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
