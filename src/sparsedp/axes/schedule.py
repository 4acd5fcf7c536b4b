"""When the cells of a calendar begin, where a plain time axis cannot say it: months, years and time zones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np

from sparsedp.axes.months import DAY, STEPS, begin_of_month, month_at, months_of, shown_months
from sparsedp.axes.periods import period_of
from sparsedp.axes.zones import IN_UTC, NO_TIME, checked_zone, wall_clock
from sparsedp.errors import InvalidInput
from sparsedp.moments import Moment, Step, first_moment
from sparsedp.time_axis import Numbers, TimeAxis


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


def schedule_of(start: Moment, every: Step, zone: object = None, *, argument: str = "start") -> TimeAxis:
    """A plain time axis where that will do; `argument` is what complaints call the start."""
    schedule = Schedule(start, every, zone, argument=argument)
    plain = schedule.months is None and schedule.zone is None
    return TimeAxis(schedule.start, schedule.every) if plain else schedule


def _monthly(start: datetime | None, months: int) -> dict[str, Any]:
    assert start is not None  # noqa: S101  # a schedule has one
    return {"start": start.isoformat(), "every": shown_months(months)}
