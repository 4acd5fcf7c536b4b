"""Times taken together as people do: quarters of an hour, days, weeks from Monday, months, years."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.reports.grouping import Grouping, in_runs

MICROSECONDS = {"s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
FIXED = [
    ("6 hours", "time", 6 * MICROSECONDS["h"]),
    ("hour", "time", MICROSECONDS["h"]),
    ("15 minutes", "time", 15 * MICROSECONDS["min"]),
    ("5 minutes", "time", 5 * MICROSECONDS["min"]),
    ("minute", "time", MICROSECONDS["min"]),
    ("10 seconds", "second", 10 * MICROSECONDS["s"]),
    ("second", "second", MICROSECONDS["s"]),
]
FROM_MONDAY = 3
"""1970 began on a Thursday, three days after a Monday."""
MILLISECOND = 1000


def time_groupings(name: str, times: npt.NDArray[Any], zone: str | None) -> list[Grouping]:
    """From years down to the cells themselves, coarsest first; `times` are where cells begin, in microseconds."""
    moments = times.astype(np.int64)
    found: list[Grouping] = []
    for called, unit, keys in _keys(times, moments):
        starts = in_runs(keys)
        before = len(found[-1]) if found else 1
        # A grouping is worth offering where it shows clearly more than the one before and less than the cells do.
        if 3 <= len(starts) <= 0.7 * len(moments) and len(starts) > 1.5 * before:
            found.append(_grouping(name, called, unit, moments, starts, zone))
    unit, called = own_unit(moments)
    return [*found, _grouping(name, called, unit, moments, np.arange(len(moments)), zone)]


def _keys(times: npt.NDArray[Any], moments: Integers) -> list[tuple[str, str, Integers]]:
    days = moments // MICROSECONDS["d"]
    calendar = [
        ("year", "year", times.astype("datetime64[Y]").astype(np.int64)),
        ("month", "month", times.astype("datetime64[M]").astype(np.int64)),
        ("week", "week", (days + FROM_MONDAY) // 7),
        ("day", "day", days),
    ]
    return calendar + [(called, unit, moments // length) for called, unit, length in FIXED]


def _grouping(name: str, called: str, unit: str, moments: Integers, starts: Integers, zone: str | None) -> Grouping:
    sizes = np.diff(starts, append=len(moments))
    usual = np.median(sizes)
    # Months differ in length by themselves; a cut one is clearly shorter.
    ends = {0, len(starts) - 1} if len(starts) < len(moments) else set()
    partial = tuple(sorted(point for point in ends if sizes[point] < 0.9 * usual))
    shown = moments[starts] / MILLISECOND
    scale: dict[str, Any] = {"name": name, "kind": "time", "unit": unit, "zone": zone}
    steps = np.diff(moments[starts])
    if len(steps) and (steps == steps[0]).all():
        scale |= {"first": _plain(shown[0]), "step": _plain(steps[0] / MILLISECOND), "length": len(starts)}
    else:
        scale["times"] = [_plain(moment) for moment in shown]
    return Grouping(called, starts, len(moments), scale, partial=partial)


def own_unit(moments: Integers) -> tuple[str, str]:
    """How a cell of the axis is written, and what it is called."""
    step = int(np.median(np.diff(moments[:1000]))) if len(moments) > 1 else MICROSECONDS["d"]
    day = MICROSECONDS["d"]
    if (moments % day).any():
        called = {length: name for name, _, length in FIXED}.get(step, "cell")
        finer = (moments % MICROSECONDS["min"]).any()
        return ("second" if finer else "time"), called
    if step >= 365 * day:
        return "year", "year" if step <= 366 * day else "cell"
    if 28 * day <= step <= 31 * day:
        return "month", "month"
    return "day", {day: "day", 7 * day: "week"}.get(step, "cell")


def _plain(number: float) -> int | float:
    """Whole numbers without a point: shorter in the page."""
    return int(number) if float(number).is_integer() else float(number)
