"""Times and steps as people write them, in whole microseconds, exactly or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

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

EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
A_TIME = 'a time such as "2026-01-01T06:00"'
A_STEP = 'give a step such as "15min", "1h", "1d", "1mo" or "1y": a whole number and one of s, min, h, d, w, mo, y'
_LENGTHS = {name: length for short, (long, length) in UNITS.items() for name in (short, long, f"{long}s")}


def first_moment(start: Moment) -> datetime:
    """The first tick as a plain datetime: in UTC, or without a timezone."""
    moment, aware = microseconds_of("start", start)
    try:
        return (EPOCH + moment * MICROSECOND).replace(tzinfo=UTC if aware else None)
    except OverflowError:
        raise InvalidInput("start", "outside the calendar", "give a time in the years 1 to 9999") from None


def step_of(every: Step) -> timedelta:
    """The time between two ticks, of whole microseconds; a step of months has no such length."""
    if isinstance(every, np.timedelta64):
        length = int(in_microseconds("every", np.asarray(every)))
    elif isinstance(every, timedelta):
        if getattr(every, "nanoseconds", 0):
            raise InvalidInput("every", "finer than microseconds", A_STEP)
        length = every // MICROSECOND
    elif isinstance(every, str):
        length = _length_of("every", every.strip())
    else:
        raise InvalidInput("every", f"of type {type(every).__name__}", A_STEP)
    if not 0 < length <= FARTHEST // 2:
        raise InvalidInput("every", "not above zero" if length <= 0 else "longer than 70,000 years", A_STEP)
    return length * MICROSECOND


def _length_of(argument: str, text: str) -> int:
    parts = re.fullmatch(r"([0-9]{1,18}) ?([A-Za-z]+)", text)
    unit = parts[2] if parts else text
    # For pandas "MS" is the start of a month, so that milliseconds are in small letters only.
    if parts is None or unit.lower() not in _LENGTHS or (unit.lower() == "ms" and unit != "ms"):
        raise InvalidInput(argument, repr(text[:40]), A_STEP)
    return int(parts[1]) * _LENGTHS[unit.lower()]


def microseconds_of(argument: str, at: object) -> tuple[int, bool | None]:
    """Microseconds since 1970, and whether the time names its timezone; None of a datetime64, which cannot."""
    if isinstance(at, np.datetime64):
        return int(in_microseconds(argument, np.asarray(at))), None
    if isinstance(at, str):
        at = _from_text(argument, at.strip())
    if not isinstance(at, date):
        raise InvalidInput(argument, f"of type {type(at).__name__}", f"give {A_TIME}")
    if at != at:  # pandas' NaT
        raise InvalidInput(argument, "no time at all (NaT)", f"give {A_TIME}")
    if getattr(at, "nanosecond", 0):
        raise InvalidInput(argument, "finer than microseconds", f"give {A_TIME}")
    if not isinstance(at, datetime):
        at = datetime(at.year, at.month, at.day)
    aware = at.utcoffset() is not None
    try:
        at = at.astimezone(UTC) if aware else at
        # Anew from its parts: a subclass has an arithmetic of its own.
        plain = datetime(at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond)
    except (OverflowError, ValueError):
        raise InvalidInput(argument, "outside the calendar", "give a time in the years 1 to 9999") from None
    return (plain - EPOCH) // MICROSECOND, aware


def _from_text(argument: str, text: str) -> datetime:
    # datetime reads six digits of a second and drops the rest without a word.
    if any(rest.strip("0") for rest in re.findall(r"[.,]\d{6}(\d+)", text)):
        raise InvalidInput(argument, "finer than microseconds", f"give {A_TIME}")
    # It also takes any letter between day and hour, so that "2026-01-01+02:00" would be two o'clock.
    if len(text) > 10 and text[4] == "-" and text[10] not in "Tt ":
        raise InvalidInput(argument, repr(text[:40]), f"give {A_TIME}")
    try:
        return datetime.fromisoformat(re.sub(" ?UTC$", "Z", text))
    except ValueError:
        raise InvalidInput(argument, repr(text[:40]), f"give {A_TIME}") from None


def in_microseconds(argument: str, array: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Datetime64 or timedelta64 of any unit as whole microseconds, exactly or not at all."""
    wanted = f"give {A_TIME}" if array.dtype.kind == "M" else A_STEP
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


def in_units(length: int) -> tuple[int, str]:
    """A length in the longest unit that divides it."""
    return next((length // size, short) for short, (_, size) in UNITS.items() if length % size == 0)


def shown_moment(moment: int, *, utc: bool) -> str:
    """A time as people write it: "2026-01-01 06:00 UTC"."""
    unit = "m" if moment % 60_000_000 == 0 else "s" if moment % 1_000_000 == 0 else "us"
    text = str(np.datetime64(moment, "us").astype(f"datetime64[{unit}]"))
    return text.replace("T", " ") + (" UTC" if utc else "")
