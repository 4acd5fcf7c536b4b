"""Times in a column of any type, as SQL: microseconds since 1970 by the clock of a calendar, NULL for no time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from sparsedp.axes import Calendar
from sparsedp.ingest import sql_text
from sparsedp.ingest.arrow_columns import microseconds
from sparsedp.ingest.columns import SourceColumn
from sparsedp.ingest.lookups import Lookups
from sparsedp.ingest.plain_types import DATES, INSTANTS, TIMES
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
    """NULL for what is no time. Text is read record by record, as it is written."""
    value = column.sql
    if column.kind == "text":
        trimmed = f"CASE WHEN starts_with({value}, ' ') OR ends_with({value}, ' ') THEN trim({value}) ELSE {value} END"
        return _in_format(trimmed, column.date_format) if column.date_format else _in_text(trimmed, axis)
    if column.kind == INSTANTS:
        if axis.zone is None and not axis.in_utc:
            raise column.refuse("declare the calendar with a zone, such as zone='Europe/Berlin'")
        return Times(microseconds(value, column.kind), "true")
    if column.kind in (TIMES, DATES):
        return Times(microseconds(value, column.kind), "false")
    raise column.refuse(WANTED)


def by_the_clock(microseconds: str, instants: str, axis: Calendar, lookups: Lookups) -> str:
    """The same by the axis' own clock, given the names under which `times` was selected."""
    if axis.zone is None:
        return microseconds
    changes, offsets = _offsets(axis)
    offset = lookups.among_integers(microseconds, changes, offsets)
    return f"CASE WHEN {instants} THEN {microseconds} + {offset} ELSE {microseconds} END"


def _in_text(value: str, axis: Calendar) -> Times:
    """ISO 8601. What names its offset is an instant, for a calendar that has a zone or is in UTC; one that has neither
    takes the clock time as it is written. What names none is by the calendar's own clock."""
    # Each look with a pattern costs as much as all the rest of a record: most times name no offset, and take one.
    naive = f"WHEN regexp_matches({value}, '{A_NAIVE_TIME}') THEN {_moment(value)}"
    without = _moment(f"regexp_extract({value}, '^{_DATE}{_CLOCK}')")
    if axis.zone is None and not axis.in_utc:
        shift = "0"
    else:
        offset = f"regexp_extract({value}, '{_OFFSET}$')"
        sign = f"CASE left({offset}, 1) WHEN '-' THEN 1 WHEN '+' THEN -1 ELSE 0 END"
        hours = f"coalesce(TRY_CAST(substr({offset}, 2, 2) AS BIGINT), 0)"
        minutes = f"CASE WHEN length({offset}) > 3 THEN coalesce(TRY_CAST(right({offset}, 2) AS BIGINT), 0) ELSE 0 END"
        shift = f"({sign}) * ({hours} * 60 + {minutes}) * 60000000"
    instant = f"WHEN regexp_matches({value}, '{AN_INSTANT}') THEN {without} + {shift}"
    # Of what is a time at all, only an instant has one of these after its date.
    names_its_offset = " OR ".join(f"contains(substr({value}, 11), '{mark}')" for mark in ("Z", "+", "-", "UTC"))
    return Times(f"CASE {naive} {instant} END", names_its_offset if axis.zone is not None else "false")


def _in_format(value: str, date_format: str) -> Times:
    """As it was declared; by the calendar's own clock."""
    # Words such as "epoch" and "infinity" are times to DuckDB, whatever the format.
    parsed = f"epoch_us(try_strptime({value}, {sql_text.text(date_format)}))"
    return Times(f"CASE WHEN regexp_matches({value}, '[0-9]') THEN {parsed} END", "false")


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
