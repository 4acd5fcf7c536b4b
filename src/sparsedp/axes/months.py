"""Months and years as steps: cells of unequal length, counted exactly."""

from __future__ import annotations

import re

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.moments import Step
from sparsedp.time_axis import Numbers

DAY = 86_400_000_000
"""In microseconds."""

STEPS = 'give a step such as "15min", "1h", "1d", "1mo" or "1y": a whole number and one of s, min, h, d, w, mo, y'

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
        raise InvalidInput("every", "not above zero" if months <= 0 else "longer than 10,000 years", STEPS)
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
