"""Times in a column of records, whatever holds them, by the clock of a calendar."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.axes.months import DAY
from sparsedp.axes.zones import NO_TIME, wall_clock
from sparsedp.errors import InvalidInput
from sparsedp.moments import microseconds_of
from sparsedp.time_axis import TimeAxis
from sparsedp.validate import kind_of


def moments_of(values: npt.ArrayLike, time: TimeAxis, zone: str | None, end: int) -> Integers:
    """Microseconds since 1970 by the clock of `time`, whose zone is `zone`; NO_TIME for what is missing or no time.

    What is far from all cells, the last of which ends at `end`, may be NO_TIME as well.
    """
    if _names_its_zone(values):
        if zone is None and not time.utc:
            raise _refusal(with_zone=True)
        instants = _from_datetime64(np.asarray(values, dtype="datetime64[us]"))
        return instants if zone is None else _wall_clock(instants, zone, time.begin_of(0), end)
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return _from_datetime64(array)
    if array.dtype.kind not in "UTO":
        raise InvalidInput("values", kind_of(array), "give an array of times")
    read = [_moment(value) for value in array.ravel()]
    moments = np.array([moment for moment, _ in read], dtype=np.int64).reshape(array.shape)
    aware = [known for moment, known in read if known is not None and moment != NO_TIME]
    if zone is None and (not time.utc) in aware:
        raise _refusal(with_zone=not time.utc)
    if zone is not None:
        named = np.array([known is True for _, known in read], dtype=np.bool_).reshape(array.shape)
        moments[named] = _wall_clock(moments[named], zone, time.begin_of(0), end)
    return moments


def _wall_clock(instants: Integers, zone: str, first: int, end: int) -> Integers:
    """By the zone's clock, of what may fall into a cell: no offset is as long as two days."""
    near = (instants >= first - 2 * DAY) & (instants < end + 2 * DAY)
    return wall_clock(np.where(near, instants, NO_TIME), zone)


def _refusal(*, with_zone: bool) -> InvalidInput:
    named, axis = ("with", "has none") if with_zone else ("without", "is in UTC")
    given = f"times {named} a timezone, and the axis {axis}"
    return InvalidInput("values", given, "give all of them as the axis has them, or declare the axis with a zone")


def _names_its_zone(values: object) -> bool:
    """Whether a column of pandas, polars or Arrow holds instants: as a numpy array they would lose their timezone."""
    dtype = getattr(values, "dtype", None)
    zones = getattr(dtype, "tz", None), getattr(dtype, "time_zone", None), getattr(_arrow_type(values), "tz", None)
    return any(isinstance(zone, str) or hasattr(zone, "utcoffset") for zone in zones)


def _arrow_type(values: object) -> Any:
    dtype = getattr(values, "dtype", None)
    return getattr(dtype, "pyarrow_dtype", None) or getattr(values, "type", None)


def _from_datetime64(array: npt.NDArray[Any]) -> Integers:
    # Rounded down to whole microseconds, which is where cells begin: no time changes its cell.
    moments = array.astype("datetime64[us]").astype(np.int64)
    if np.datetime_data(array.dtype)[0] not in ("ns", "ps", "fs", "as"):
        # A coarser unit reaches further than microseconds, and numpy wraps in silence.
        moments = np.where(moments.view("datetime64[us]").astype(array.dtype) == array, moments, NO_TIME)
    return np.where(np.isnat(array), NO_TIME, moments)


def _moment(value: object) -> tuple[int, bool | None]:
    if not isinstance(value, str | date | np.datetime64):
        return NO_TIME, None
    try:
        if isinstance(value, datetime) and value == value and getattr(value, "nanosecond", False):
            value = value.replace(nanosecond=0)  # type: ignore[call-arg]  # a pandas.Timestamp's
        return microseconds_of("values", value)
    except InvalidInput:
        return NO_TIME, None
