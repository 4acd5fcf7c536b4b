"""The ends of a calendar as people write them: the last day included, or the time of day where the last cell ends."""

from __future__ import annotations

from datetime import datetime

from sparsedp.axes.base import MOST_CELLS
from sparsedp.axes.months import DAY
from sparsedp.errors import InvalidInput
from sparsedp.moments import EPOCH, MICROSECOND
from sparsedp.time_axis import TimeAxis

MINUTE = 60_000_000
LAST = (datetime.max - EPOCH) // MICROSECOND
"""When the last cell of a calendar must have ended, in microseconds since 1970."""


def written_span(first: int, end: int, *, in_utc: bool) -> str:
    """2024-01-01..2024-12-31, or 2024-01-01T08:00..2024-01-01T17:00; Z marks times in UTC."""
    if in_utc:
        return f"{_moment(first)}Z..{_moment(end)}Z"
    return f"{_moment(first) if first % DAY else _day(first)}..{written_end(end)}"


def written_end(end: int) -> str:
    """The last day, where the last cell ends with one."""
    return _moment(end) if end % DAY else _day(end - DAY)


def checked_count(time: TimeAxis, end: int) -> int:
    """How many cells there are until `end`, which must be where one ends; nothing is laid out to find out."""
    if end <= time.begin_of(0):
        raise InvalidInput("last", "before first", f"give a later one: the first cell begins at {time.shown(0)}")
    if end > LAST:
        raise InvalidInput("last", "beyond the calendar", "give one in the year 9998 or before")
    count = time.tick_at(end)
    if time.begin_of(count) != end:
        near = [time.begin_of(cells) for cells in (count, count + 1) if cells > 0]
        nearest = " or ".join(_shown_end(one, utc=time.utc) for one in near if one <= LAST)
        given = f"{_shown_end(end, utc=time.utc)}, which is not the end of one of the {time}"
        raise InvalidInput("last", given, f"give {nearest}")
    if count > MOST_CELLS:
        given = f"{_shown_end(end, utc=time.utc)}, after {count:,} {time}"
        raise InvalidInput("last", given, f"give coarser or fewer cells: at most 2**28 = {MOST_CELLS:,}")
    return count


def _shown_end(end: int, *, utc: bool) -> str:
    return f"{_moment(end)}Z" if utc else written_end(end)


def _day(moment: int) -> str:
    return (EPOCH + moment * MICROSECOND).date().isoformat()


def _moment(moment: int) -> str:
    return (EPOCH + moment * MICROSECOND).isoformat(timespec="auto" if moment % MINUTE else "minutes")
