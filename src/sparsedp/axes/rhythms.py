"""The coarsenings of a calendar: its rhythms (weekday, hour of day), and the days, weeks, months and years it spans.

A cell belongs to where it begins by the calendar's own clock: the hour from 23:30 counts for the day it begins in. Only
calendars whose cells follow the clock have coarsenings: steps that divide a day, or months that divide a year. The
rhythm of an axis in steps of five hours, two days or a week is left to the mechanism's blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.axes.base import LONGEST_NAME
from sparsedp.axes.categories import Categories
from sparsedp.axes.coarsening import Coarsening
from sparsedp.axes.integers import Integers
from sparsedp.axes.periods import DAY, month_at
from sparsedp.errors import InvalidInput
from sparsedp.moments import EPOCH, MICROSECOND

if TYPE_CHECKING:
    from sparsedp.axes.calendar import Calendar

HOUR = DAY // 24
_MONDAY = 3
"""1970 began on a Thursday, three days after a Monday."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HOURS = tuple(range(24))
_HOURS_OF_WEEK = tuple(f"{day} {hour:02}" for day in WEEKDAYS for hour in range(24))


def coarsenings_of(calendar: Calendar) -> dict[str, Coarsening]:
    """By name, those with fewer groups than cells and more than one group: rhythms first, then stretches of time."""
    if len(calendar.name) > LONGEST_NAME - len(".month_of_year"):
        return {}  # no axis may be called so
    begins = calendar.edges()[:-1].astype(np.int64)
    found = [*_rhythms(calendar, begins), *_stretches(calendar, begins)]
    return {each.name: each for each in found if 1 < each.groups < calendar.length}


def _rhythms(calendar: Calendar, begins: Ints) -> Iterator[Coarsening]:
    """What comes again: Mondays, 8 o'clock, Mondays at 8, Januaries; in the order of the clock."""
    if _within_days(calendar):
        weekdays = (begins // DAY + _MONDAY) % 7
        yield _repeating(calendar, "weekday", weekdays, WEEKDAYS)
        if calendar.step_microseconds != DAY:
            hours = begins % DAY // HOUR
            yield _repeating(calendar, "hour_of_day", hours, _HOURS)
            yield _repeating(calendar, "hour_of_week", 24 * weekdays + hours, _HOURS_OF_WEEK)
    if _within_days(calendar) or _within_years(calendar):
        yield _repeating(calendar, "month_of_year", month_at(begins) % 12, MONTHS)


def _repeating(calendar: Calendar, name: str, numbers: Ints, labels: tuple[str, ...] | tuple[int, ...]) -> Coarsening:
    """Groups of equal numbers; those that no cell has are left out."""
    met, group_of = np.unique(numbers, return_inverse=True)
    called, first, last = f"{calendar.name}.{name}", int(met[0]), int(met[-1])
    if labels is _HOURS and last - first + 1 == len(met):
        return Coarsening(name, Integers(called, first, last), group_of)
    axis = Categories(called, [labels[number] for number in met.tolist()], ordered=True)
    return Coarsening(name, axis, group_of)


def _stretches(calendar: Calendar, begins: Ints) -> Iterator[Coarsening]:
    """What does not come again: the days, weeks from Monday, months and years that the calendar has a part of."""
    if _within_days(calendar):
        days = begins // DAY
        yield from _consecutive(calendar, "day", "1d", days)
        yield from _consecutive(calendar, "week", "1w", (days + _MONDAY) // 7)
        yield from _consecutive(calendar, "month", "1mo", month_at(begins))
    if _within_days(calendar) or _within_years(calendar):
        yield from _consecutive(calendar, "year", "1y", month_at(begins) // 12)


def _consecutive(calendar: Calendar, name: str, every: str, numbers: Ints) -> Iterator[Coarsening]:
    """A calendar of longer steps; none where the last of them would not end in the year 9999 or before."""
    from sparsedp.axes.calendar import Calendar as Longer

    first, length = int(numbers[0]), int(numbers[-1] - numbers[0]) + 1
    start = EPOCH + {"1d": first * DAY, "1w": (7 * first - _MONDAY) * DAY}.get(every, 0) * MICROSECOND
    if every in ("1mo", "1y"):
        month = first if every == "1mo" else 12 * first
        start = start.replace(year=1970 + month // 12, month=month % 12 + 1)
    start = start.replace(tzinfo=UTC) if calendar.in_utc else start
    try:
        axis = Longer(f"{calendar.name}.{name}", start, every, length, calendar.zone)
    except InvalidInput:
        return
    yield Coarsening(name, axis, numbers - first)


def _within_days(calendar: Calendar) -> bool:
    """Whether a day is a whole number of its steps: cells then begin at the same times of every day."""
    return calendar.step_microseconds is not None and DAY % calendar.step_microseconds == 0


def _within_years(calendar: Calendar) -> bool:
    """Whether a year is a whole number of its steps: cells then begin in the same months of every year."""
    return calendar.step_months is not None and 12 % calendar.step_months == 0
