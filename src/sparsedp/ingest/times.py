"""Times in a column of any type, as SQL: microseconds since 1970 by the clock of a calendar, NULL for no time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sparsedp.axes import Calendar
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.lookups import Lookups
from sparsedp.moments import EPOCH, MICROSECOND

_CLOCK = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_OFFSET = "(?:Z| ?UTC|[+-][0-9]{2}(?::?[0-9]{2})?)"
A_NAIVE_TIME = f"^{_DATE}(?:{_CLOCK})?$"
AN_INSTANT = f"^{_DATE}{_CLOCK}{_OFFSET}$"
"""ISO 8601 as most programs write it. Digits beyond microseconds are cut off."""

WANTED = "give a column of dates, times or ISO 8601 text for a calendar"
_TWO_DAYS = timedelta(days=2)


@dataclass(frozen=True)
class Times:
    """Microseconds since 1970, as SQL, and whether they are instants in UTC, as SQL too: text may be either."""

    microseconds: str
    instants: str


def times(column: SourceColumn, axis: Calendar) -> Times:
    """NULL for what is no time, names an offset that the axis cannot place, or lacks one that it needs."""
    value = column.sql
    if column.kind == "text":
        trimmed = f"CASE WHEN starts_with({value}, ' ') OR ends_with({value}, ' ') THEN trim({value}) ELSE {value} END"
        return _from_text(trimmed, axis)
    if column.kind == "times with a timezone":
        if axis.zone is None and not axis.in_utc:
            raise column.refuse("declare the calendar with a zone, such as zone='Europe/Berlin'")
        return Times(f"epoch_us({value})", "true")
    if column.type == "TIMESTAMP_NS":
        # DuckDB's division cuts towards zero; times before 1970 are rounded down as all others are.
        floor = f"(epoch_ns({value}) - ((epoch_ns({value}) % 1000) + 1000) % 1000) // 1000"
        return Times(floor, "false")
    if column.kind in ("times", "dates"):
        return Times(f"epoch_us(TRY_CAST({value} AS TIMESTAMP))", "false")
    raise column.refuse(WANTED)


def by_the_clock(microseconds: str, instants: str, axis: Calendar, lookups: Lookups) -> str:
    """The same by the axis' own clock, given the names under which `times` was selected."""
    if axis.zone is None:
        return microseconds
    changes, offsets = _offsets(axis)
    offset = lookups.among_integers(microseconds, changes, offsets)
    return f"CASE WHEN {instants} THEN {microseconds} + {offset} ELSE {microseconds} END"


def _from_text(value: str, axis: Calendar) -> Times:
    # Each look with a pattern costs as much as all the rest of a record: most times name no offset, and take one.
    is_instant = f"regexp_matches({value}, '{AN_INSTANT}')"
    cases = []
    if not axis.in_utc:
        cases.append(f"WHEN regexp_matches({value}, '{A_NAIVE_TIME}') THEN {_moment(value)}")
    if axis.zone is not None or axis.in_utc:
        offset = f"regexp_extract({value}, '{_OFFSET}$')"
        sign = f"CASE left({offset}, 1) WHEN '-' THEN 1 WHEN '+' THEN -1 ELSE 0 END"
        hours = f"coalesce(TRY_CAST(substr({offset}, 2, 2) AS BIGINT), 0)"
        minutes = f"CASE WHEN length({offset}) > 3 THEN coalesce(TRY_CAST(right({offset}, 2) AS BIGINT), 0) ELSE 0 END"
        without = f"regexp_extract({value}, '^{_DATE}{_CLOCK}')"
        shift = f"({sign}) * ({hours} * 60 + {minutes}) * 60000000"
        cases.append(f"WHEN {is_instant} THEN {_moment(without)} + {shift}")
    # Of what is a time at all, only an instant has one of these after its date.
    names_its_offset = " OR ".join(f"contains(substr({value}, 11), '{mark}')" for mark in ("Z", "+", "-", "UTC"))
    return Times(f"CASE {' '.join(cases)} END", names_its_offset if axis.zone is not None else "false")


def _moment(value: str) -> str:
    return f"epoch_us(TRY_CAST(left({value}, 26) AS TIMESTAMP))"


def _offsets(axis: Calendar) -> tuple[list[int], list[int]]:
    """When the zone's offset changes, in microseconds since 1970, and the offsets before, between and after.

    Only as far as the calendar goes: a time that is beyond its ends by more than two days stays beyond them.
    """
    zone = ZoneInfo(axis.zone or "UTC")
    first, last = _within(axis.first) - _TWO_DAYS, _within(axis.end) + _TWO_DAYS
    day = datetime(first.year, first.month, first.day)
    changes, offsets = [], [_offset(day, zone)]
    while day < last:
        following = min(day + timedelta(days=1), last)
        if _offset(following, zone) != offsets[-1]:
            changes.append((_change(day, following, zone) - EPOCH) // MICROSECOND)
            offsets.append(_offset(following, zone))
        day = following
    return changes, offsets


def _within(moment: datetime) -> datetime:
    """A few days from the ends of what Python's calendar holds."""
    return min(max(moment, datetime(1, 1, 5)), datetime(9999, 12, 27))


def _change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The second at which the offset of `before` ends: by halving."""
    start = _offset(before, zone)
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        before, after = (middle, after) if _offset(middle, zone) == start else (before, middle)
    return after


def _offset(moment: datetime, zone: ZoneInfo) -> int:
    """In microseconds, at an instant in UTC."""
    offset = moment.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta()
    return offset // MICROSECOND
