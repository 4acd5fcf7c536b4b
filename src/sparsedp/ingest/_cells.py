"""From the axes of a domain to SQL: the cell of each record, or NULL where it is outside.

Each axis takes three steps, one query inside the other, so that nothing is worked out twice: the value as it is read
from its column, the same by the axis' clock (calendars only), and its place among the cells. Values are looked up in
tables of thresholds and labels, all of them public: they come from the domain alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil, floor
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.ingest._columns import DATES, INSTANTS, TIMES, WHOLE, SourceColumn, microseconds
from sparsedp.moments import EPOCH, MICROSECOND

if TYPE_CHECKING:
    import duckdb


_A_NUMBER = "give a column of numbers for this axis"


@dataclass(frozen=True)
class AxisSteps:
    """The three steps, in terms of the names x and z that the step before gave its value and, of times, its clock."""

    read: str
    zoned: str
    clocked: str
    place: str
    join: str = ""


def steps_of(axis: Axis, column: SourceColumn, outside: Outside, lookups: Lookups, x: str, z: str) -> AxisSteps:
    """How the values of a column find their cells on an axis."""
    if isinstance(axis, Bins):
        return _bins(axis, column, outside, lookups, x)
    if isinstance(axis, Integers):
        first, last = _sql_whole(axis.first), _sql_whole(axis.last)
        place = _between(x, first, last, f"{x} - {first}", axis.length, outside)
        return AxisSteps(_whole_number(column, _A_NUMBER), "false", x, place)
    if isinstance(axis, Calendar):
        return _calendar(axis, column, outside, lookups, x, z)
    if isinstance(axis, Categories):
        return _categories(axis, column, outside, lookups, x)
    raise InvalidInput("domain", f"with an axis of type {type(axis).__name__}", "use the axes of this library")


def _bins(axis: Bins, column: SourceColumn, outside: Outside, lookups: Lookups, x: str) -> AxisSteps:
    if column.type == "UBIGINT":
        # From 2⁶³ on as floats, which is how `Bins.index_of` compares them.
        small = _whole_place(axis, f"TRY_CAST({x} AS BIGINT)", outside, lookups)
        large = _real_place(axis.edges, f"CAST({x} AS DOUBLE)", outside, lookups)
        place = f"CASE WHEN {x} < {2**63} THEN {small} ELSE {large} END"
        return AxisSteps(column.sql, "false", x, place)
    if column.kind in ("whole numbers", "truth values"):
        return AxisSteps(_whole_number(column, _A_NUMBER), "false", x, _whole_place(axis, x, outside, lookups))
    edges = axis.edges
    if column.type == "FLOAT":
        # Compared with the edges rounded to as many digits: 0.1 as a float32 is then in the bin that begins at 0.1.
        with np.errstate(over="ignore"):
            edges = tuple(float(edge) for edge in np.array(edges).astype(np.float32))
    return AxisSteps(real_number(column, _A_NUMBER), "false", x, _real_place(edges, x, outside, lookups))


def _real_place(edges: Sequence[float], x: str, outside: Outside, lookups: Lookups) -> str:
    found = lookups.among_floats(x, edges[1:-1], range(len(edges) - 1))
    return _between(x, sql_double(edges[0]), sql_double(edges[-1]), found, len(edges) - 1, outside)


def _whole_place(axis: Bins, x: str, outside: Outside, lookups: Lookups) -> str:
    """For a whole number, v ≥ edge and v ≥ ⌈edge⌉ say the same; turned into floats, large ones would be rounded."""
    beyond = 2**64
    first = ceil(max(axis.edges[0], -beyond))
    last = floor(min(axis.edges[-1], beyond))
    inner = [max(ceil(max(edge, -beyond)), -(2**63)) for edge in axis.edges[1:-1] if edge < 2.0**63]
    found = lookups.among_integers(x, inner, range(len(inner) + 1))
    return _between(x, _sql_whole(first), _sql_whole(last), found, axis.length, outside)


def _between(x: str, first: str, last: str, found: str, length: int, outside: Outside) -> str:
    """The place from first to last, both included; beyond them the nearest cell, if that is declared."""
    beyond = f" WHEN {x} < {first} THEN 0 WHEN {x} > {last} THEN {length - 1}" if outside.clamp else ""
    return f"CASE WHEN {x} >= {first} AND {x} <= {last} THEN {found}{beyond} END"


def _calendar(axis: Calendar, column: SourceColumn, outside: Outside, lookups: Lookups, x: str, z: str) -> AxisSteps:
    read = _times(column, axis)
    first, end = ((moment - EPOCH) // MICROSECOND for moment in (axis.first, axis.end))
    if axis.step_months is None:
        found = f"({x} - ({first})) // {axis.step_microseconds}"
    else:
        month = axis.first.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        moment = f"make_timestamp({x} - {(axis.first - month) // MICROSECOND})"
        months = f"date_part('year', {moment}) * 12 + date_part('month', {moment})"
        found = f"({months} - {month.year * 12 + month.month}) // {axis.step_months}"
    place = _between(x, f"({first})", f"({end - 1})", found, axis.length, outside)
    return AxisSteps(read.microseconds, read.instants, _by_the_clock(x, z, axis, lookups), place)


def _categories(axis: Categories, column: SourceColumn, outside: Outside, lookups: Lookups, x: str) -> AxisSteps:
    if isinstance(axis.labels[0], int):
        read = f"TRY_CAST({_whole_number(column, _A_NUMBER)} AS BIGINT)"
    elif column.kind == "text":
        read = column.sql
    else:
        raise column.refuse("give a column of text, or declare labels that are numbers")
    table = lookups.labels(axis.labels)
    place = f"{table}.place" if outside.collects is None else f"coalesce({table}.place, {outside.collects})"
    return AxisSteps(read, "false", x, place, f"LEFT JOIN {table} ON {table}.label = {x}")


# What is done with records that are outside the domain: declared by the publisher, axis by axis.

_DROP, _CLAMP = "drop", "clamp"


@dataclass(frozen=True)
class Outside:
    """Dropped, unless values beyond the ends of an axis go to its end cells, or other labels are collected in one."""

    clamp: bool = False
    collects: int | None = None
    """The cell of the label that stands for every other one, for what is missing and for what cannot be read."""


def outside_of(domain: Domain, declared: object) -> tuple[Outside, ...]:
    """One declaration for each axis, from "drop" or from a mapping of axes' names."""
    if isinstance(declared, str) and declared == _DROP:
        return tuple(Outside() for _ in domain.axes)
    if not isinstance(declared, Mapping):
        given = repr(declared[:40]) if isinstance(declared, str) else f"of type {type(declared).__name__}"
        raise InvalidInput("outside", given, 'give "drop", or what to do for each axis: {"age": "clamp"}')
    for name in declared:
        domain.axis(name)
    return tuple(_of_axis(axis, declared.get(axis.name, _DROP)) for axis in domain.axes)


def _of_axis(axis: Axis, declared: object) -> Outside:
    argument = f"outside[{axis.name!r}]"
    if isinstance(axis, Categories):
        if declared in axis.labels and not isinstance(declared, bool):
            return Outside(collects=axis.labels.index(declared))
        wanted = 'give "drop", or one of the labels, which then collects all other values'
    else:
        if declared == _CLAMP:
            return Outside(clamp=True)
        wanted = 'give "drop", or "clamp" for the nearest end cell'
    if declared == _DROP:
        return Outside()
    shown = repr(declared) if isinstance(declared, str | int) else f"of type {type(declared).__name__}"
    raise InvalidInput(argument, shown[:60], wanted)


# Numbers in a column of any type, as SQL: NULL for what is missing, unreadable or not a number.

_A_WHOLE_NUMBER = r"^[ \t]*[+-]?[0-9]+([.]0*)?[ \t]*$"
_A_REAL_NUMBER = r"^[ \t]*[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF])[ \t]*$"
"""Plain decimal notation and nothing else: no 1_000, no 1.000,00, no 0x1F, whatever DuckDB's casts take. A decimal
comma stands for the point where it is declared, and then alone."""

_EXACT_DIGITS = 15
"""A decimal of so many digits is turned into the nearest float by one division; a longer one goes through text."""


def _whole_number(column: SourceColumn, wanted: str) -> str:
    """The column's whole numbers as BIGINT or HUGEINT; 3.0 is 3, and 3.5 is not one. Infinite ones are very large."""
    value = column.sql
    if (column.kind == "whole numbers" and column.type in WHOLE) or column.kind == "truth values":
        return f"CAST({value} AS BIGINT)"
    if column.type == "UBIGINT":
        return f"CAST({value} AS HUGEINT)"
    if column.kind == "floats":
        # Beyond all 64-bit integers any place is as good as another; 1e300 would not fit in 128 bits.
        near = f"greatest(-1e19::DOUBLE, least(1e19::DOUBLE, CAST({value} AS DOUBLE)))"
        return f"CASE WHEN NOT isnan({value}) AND floor({value}) = {value} THEN CAST({near} AS HUGEINT) END"
    if column.kind == "decimals":
        # Cut, and not rounded down: below a decimal of 38 places there may be no other.
        return f"CASE WHEN trunc({value}) = {value} THEN TRY_CAST({value} AS HUGEINT) END"
    if column.kind == "text":
        return _from_text(column, _A_WHOLE_NUMBER, "HUGEINT")
    raise column.refuse(wanted)


def real_number(column: SourceColumn, wanted: str) -> str:
    """The column's numbers as DOUBLE, each the nearest float; no number is NULL, and infinite ones stay."""
    value = column.sql
    if column.kind == "floats":
        return f"CASE WHEN NOT isnan({value}) THEN CAST({value} AS DOUBLE) END"
    if column.kind == "decimals":
        exact = column.digits[0] <= _EXACT_DIGITS
        return f"CAST({value} AS DOUBLE)" if exact else f"TRY_CAST(CAST({value} AS VARCHAR) AS DOUBLE)"
    if column.kind == "text":
        return _from_text(column, _A_REAL_NUMBER, "DOUBLE")
    if column.kind in ("whole numbers", "truth values"):
        return f"CAST({f'CAST({value} AS BIGINT)' if column.kind == 'truth values' else value} AS DOUBLE)"
    raise column.refuse(wanted)


def _from_text(column: SourceColumn, pattern: str, kind: str) -> str:
    """One look with the pattern, then the cast."""
    value, number = column.sql, column.sql
    if column.point == ",":
        pattern, number = pattern.replace("[.]", "[,]"), f"replace({value}, ',', '.')"
    return f"CASE WHEN regexp_matches({value}, '{pattern}') THEN TRY_CAST({number} AS {kind}) END"


# Times in a column of any type, as SQL: microseconds since 1970 by the clock of a calendar, NULL for no time.

_CLOCK = r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_OFFSET = "(?:Z| ?UTC|[+-][0-9]{2}(?::?[0-9]{2})?)"
_A_NAIVE_TIME = f"^{_DATE}(?:{_CLOCK})?$"
_AN_INSTANT = f"^{_DATE}{_CLOCK}{_OFFSET}$"
"""ISO 8601 as most programs write it. Digits beyond microseconds are cut off."""

_WANTED = "give a column of dates, times or ISO 8601 text for a calendar"
_TWO_DAYS = timedelta(days=2)


@dataclass(frozen=True)
class Times:
    """Microseconds since 1970, as SQL, and whether they are instants in UTC, as SQL too: text may be either."""

    microseconds: str
    instants: str


def _times(column: SourceColumn, axis: Calendar) -> Times:
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
    raise column.refuse(_WANTED)


def _by_the_clock(microseconds: str, instants: str, axis: Calendar, lookups: Lookups) -> str:
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
    naive = f"WHEN regexp_matches({value}, '{_A_NAIVE_TIME}') THEN {_moment(value)}"
    without = _moment(f"regexp_extract({value}, '^{_DATE}{_CLOCK}')")
    if axis.zone is None and not axis.in_utc:
        shift = "0"
    else:
        offset = f"regexp_extract({value}, '{_OFFSET}$')"
        sign = f"CASE left({offset}, 1) WHEN '-' THEN 1 WHEN '+' THEN -1 ELSE 0 END"
        hours = f"coalesce(TRY_CAST(substr({offset}, 2, 2) AS BIGINT), 0)"
        minutes = f"CASE WHEN length({offset}) > 3 THEN coalesce(TRY_CAST(right({offset}, 2) AS BIGINT), 0) ELSE 0 END"
        shift = f"({sign}) * ({hours} * 60 + {minutes}) * 60000000"
    instant = f"WHEN regexp_matches({value}, '{_AN_INSTANT}') THEN {without} + {shift}"
    # Of what is a time at all, only an instant has one of these after its date.
    names_its_offset = " OR ".join(f"contains(substr({value}, 11), '{mark}')" for mark in ("Z", "+", "-", "UTC"))
    return Times(f"CASE {naive} {instant} END", names_its_offset if axis.zone is not None else "false")


def _in_format(value: str, date_format: str) -> Times:
    """As it was declared; by the calendar's own clock."""
    # Words such as "epoch" and "infinity" are times to DuckDB, whatever the format.
    parsed = f"epoch_us(try_strptime({value}, {_sql_text(date_format)}))"
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


# Tables that values are looked up in: thresholds, and labels. All of them public: they come from the domain alone.

_FEW = 32
"""So many comparisons are faster as a tree in SQL than as a call into numpy; far more would take seconds to plan."""

_TYPES: dict[str, type[np.generic]] = {"DOUBLE": np.float64, "BIGINT": np.int64}


class Lookups:
    """What a query looks up, registered with its connection under names of its own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._count = 0

    def among_floats(self, value: str, thresholds: Sequence[float], results: Sequence[int]) -> str:
        """results[i] where i of the rising thresholds are at most `value`, which is of type DOUBLE."""
        if len(thresholds) <= _FEW:
            return _sql_stepwise(value, [sql_double(one) for one in thresholds], results)
        return self._searched(value, "DOUBLE", thresholds, results)

    def among_integers(self, value: str, thresholds: Sequence[int], results: Sequence[int]) -> str:
        """results[i] where i of the rising thresholds are at most `value`, which is of type BIGINT."""
        if len(thresholds) <= _FEW:
            return _sql_stepwise(value, [_sql_whole(one) for one in thresholds], results)
        return self._searched(value, "BIGINT", thresholds, results)

    def labels(self, labels: Sequence[str] | Sequence[int]) -> str:
        """The name of a table that has the `place` of every `label`."""
        import pyarrow as pa

        known = {label: place for place, label in enumerate(labels) if _can_be_held(label)}
        kind = pa.int64() if isinstance(labels[0], int) else pa.string()
        given, table = self._named("given"), self._named("labels")
        columns = {"label": pa.array(list(known), kind), "place": pa.array(list(known.values()), pa.int64())}
        self._connection.register(given, pa.table(columns))
        self._connection.execute(f"CREATE TEMP TABLE {table} AS SELECT label, place FROM {given}")  # noqa: S608
        self._connection.unregister(given)
        return table

    def _searched(self, value: str, kind: str, thresholds: Sequence[float], results: Sequence[int]) -> str:
        steps, places = np.array(thresholds, dtype=_TYPES[kind]), np.array(results, dtype=np.int64)

        def found(values: Any) -> Any:
            import pyarrow as pa

            # A gap is any number here: DuckDB puts NULL where it gave one.
            numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
            return pa.array(places[np.searchsorted(steps, numbers, side="right")])

        function = self._named("searched")
        self._connection.create_function(function, found, [kind], "BIGINT", type="arrow")  # type: ignore[call-overload]
        return f"{function}({value})"

    def _named(self, what: str) -> str:
        self._count += 1
        return f"sparsedp_{what}_{self._count}"


def _can_be_held(label: object) -> bool:
    """A label with half a character in it can be declared, but no file can hold it."""
    try:
        return not isinstance(label, str) or label.encode() is not None
    except UnicodeEncodeError:
        return False


# Texts and numbers in a query, quoted so that they mean what they say.


def _sql_text(value: str) -> str:
    """A text."""
    return "'" + value.replace("'", "''") + "'"


def sql_double(value: float) -> str:
    """A float, digit by digit: a bare decimal would be read as a decimal number first, and rounded twice."""
    return f"CAST('{value!r}' AS DOUBLE)"


def _sql_whole(value: int) -> str:
    """A whole number of up to 128 bits."""
    return f"({value})" if -(2**63) < value < 2**63 else f"CAST('{value}' AS HUGEINT)"


def _sql_stepwise(value: str, thresholds: Sequence[str], results: Sequence[int]) -> str:
    """results[i] where i of the rising thresholds are at most `value`; a balanced tree of comparisons."""
    if not thresholds:
        return str(results[0])
    middle = len(thresholds) // 2
    above = _sql_stepwise(value, thresholds[middle + 1 :], results[middle + 1 :])
    below = _sql_stepwise(value, thresholds[:middle], results[: middle + 1])
    return f"CASE WHEN {value} >= {thresholds[middle]} THEN {above} ELSE {below} END"
