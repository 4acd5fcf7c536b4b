"""Groups of cells along an axis, as a page or a picture shows them: cells, labels, hours, days, weeks and months."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.axes.coarsening import Coarsening

# Cells of an axis taken together for a picture: which ones each point adds up, and what is written beside it.


@dataclass(frozen=True, eq=False)
class Grouping:
    """The cells `order[starts[i]]`, …, `order[starts[i + 1] − 1]` make point i; without an order, cells in a row.

    `name` says how much a point holds, such as "day" or "10 cells"; `scale` is what a chart needs to write labels:
    JSON-able, with the axis' name and kind. `partial` are the points at the ends that hold less than the others.
    """

    name: str
    starts: Ints
    cells: int
    scale: dict[str, Any]
    order: Ints | None = None
    partial: tuple[int, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def finest(self) -> bool:
        """Whether every point is one cell."""
        return len(self.starts) == self.cells

    @property
    def group_of(self) -> Ints:
        """The number of its point for each cell."""
        numbers = np.repeat(np.arange(len(self)), np.diff(self.starts, append=self.cells))
        if self.order is None:
            return numbers
        found = np.empty_like(numbers)
        found[self.order] = numbers
        return found

    def members(self, point: int) -> slice | Ints:
        """The cells of one point."""
        stop = int(self.starts[point + 1]) if point + 1 < len(self.starts) else self.cells
        run = slice(int(self.starts[point]), stop)
        return run if self.order is None else self.order[run]

    def sums(self, values: Floats, axis: int) -> Floats:
        """The points' sums along an axis of a table."""
        ordered = values if self.order is None else values.take(self.order, axis=axis)
        return ordered if self.finest else np.add.reduceat(ordered, self.starts, axis=axis)


def _in_runs(keys: Ints) -> Ints:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))


# How the cells of every kind of axis may be taken together in a picture.

_OTHERS = "all others"


def groupings_of(axis: Axis, steps: Sequence[int] = (1,)) -> list[Grouping]:
    """Coarsest first; the last one is the cells themselves. Numbers go in `steps` of any power of ten."""
    if isinstance(axis, Calendar):
        (times,) = axis.columns().values()
        return _time_groupings(axis.name, times, zone_of(axis))
    if isinstance(axis, Categories):
        scale = {"name": axis.name, "kind": "category", "labels": [str(label) for label in axis.labels]}
        return [Grouping("label", np.arange(axis.length), axis.length, scale)]
    sizes = sorted((step * 10**power for power in range(9) for step in steps), reverse=True)
    return [_numbers(axis, size) for size in sizes if size == 1 or 3 * size <= axis.length]


def zone_of(axis: Calendar) -> str | None:
    """The timezone of its times, where it names one."""
    zone = axis.zone
    return str(zone) if zone else "UTC" if axis.utc else None


def largest_groups(axis: Categories, totals: Floats, most: int) -> Grouping:
    """The `most` − 1 largest labels by what was published of them, and all others together."""
    order = np.argsort(-totals, kind="stable")
    labels = [str(axis.labels[place]) for place in order[: most - 1].tolist()]
    others = f"{_OTHERS} ({axis.length - most + 1:,})"
    scale = {"name": axis.name, "kind": "category", "labels": [*labels, others]}
    return Grouping("label", np.arange(most), axis.length, scale, order=order)


def named_groups(coarsening: Coarsening) -> Grouping:
    """A point for each group of a coarsening that is no calendar: weekdays, states, bands."""
    order = np.argsort(coarsening.group_of, kind="stable")
    words = next(iter(coarsening.axis.columns().values())).tolist()
    scale = {"name": coarsening.axis.name, "kind": "category", "labels": [str(word) for word in words]}
    return Grouping("group", _in_runs(coarsening.group_of[order]), len(order), scale, order=order)


def _numbers(axis: Axis, size: int) -> Grouping:
    if isinstance(axis, Bins):
        starts = np.arange(0, axis.length, size)
        edges = [axis.edges[place] for place in [*starts.tolist(), axis.length]]
        finite = [edge if isfinite(edge) else None for edge in edges]
        called = "bin" if size == 1 else f"{size:,} bins"
        return Grouping(called, starts, axis.length, {"name": axis.name, "kind": "bins", "edges": finite})
    first = axis.first if isinstance(axis, Integers) else 0
    starts = _in_runs(np.arange(first, first + axis.length) // size)
    bounds = [first + start for start in [*starts.tolist(), axis.length]]
    scale: dict[str, Any] = {"name": axis.name, "kind": "number", "bounds": bounds}
    if size == 1:
        scale = {"name": axis.name, "kind": "number", "first": first, "length": axis.length}
    sizes = np.diff(starts, append=axis.length)
    partial = tuple(sorted(point for point in {0, len(starts) - 1} if sizes[point] < size))
    return Grouping(f"steps of {size:,}", starts, axis.length, scale, partial=partial)


# Times taken together as people do: quarters of an hour, days, weeks from Monday, months, years.

MICROSECONDS = {"s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_FIXED = [
    ("6 hours", "time", 6 * MICROSECONDS["h"]),
    ("hour", "time", MICROSECONDS["h"]),
    ("15 minutes", "time", 15 * MICROSECONDS["min"]),
    ("5 minutes", "time", 5 * MICROSECONDS["min"]),
    ("minute", "time", MICROSECONDS["min"]),
    ("10 seconds", "second", 10 * MICROSECONDS["s"]),
    ("second", "second", MICROSECONDS["s"]),
]
_FROM_MONDAY = 3
"""1970 began on a Thursday, three days after a Monday."""
_MILLISECOND = 1000


def _time_groupings(name: str, times: npt.NDArray[Any], zone: str | None) -> list[Grouping]:
    """From years down to the cells themselves, coarsest first; `times` are where cells begin, in microseconds."""
    moments = times.astype(np.int64)
    found: list[Grouping] = []
    for called, unit, keys in _keys(times, moments):
        starts = _in_runs(keys)
        before = len(found[-1]) if found else 1
        # A grouping is worth offering where it shows clearly more than the one before and less than the cells do.
        if 3 <= len(starts) <= 0.7 * len(moments) and len(starts) > 1.5 * before:
            found.append(_grouping(name, called, unit, moments, starts, zone))
    unit, called = own_unit(moments)
    return [*found, _grouping(name, called, unit, moments, np.arange(len(moments)), zone)]


def _keys(times: npt.NDArray[Any], moments: Ints) -> list[tuple[str, str, Ints]]:
    days = moments // MICROSECONDS["d"]
    calendar = [
        ("year", "year", times.astype("datetime64[Y]").astype(np.int64)),
        ("month", "month", times.astype("datetime64[M]").astype(np.int64)),
        ("week", "week", (days + _FROM_MONDAY) // 7),
        ("day", "day", days),
    ]
    return calendar + [(called, unit, moments // length) for called, unit, length in _FIXED]


def _grouping(name: str, called: str, unit: str, moments: Ints, starts: Ints, zone: str | None) -> Grouping:
    sizes = np.diff(starts, append=len(moments))
    usual = np.median(sizes)
    # Months differ in length by themselves; a cut one is clearly shorter.
    ends = {0, len(starts) - 1} if len(starts) < len(moments) else set()
    partial = tuple(sorted(point for point in ends if sizes[point] < 0.9 * usual))
    shown = moments[starts] / _MILLISECOND
    scale: dict[str, Any] = {"name": name, "kind": "time", "unit": unit, "zone": zone}
    steps = np.diff(moments[starts])
    if len(steps) and (steps == steps[0]).all():
        scale |= {"first": _plain(shown[0]), "step": _plain(steps[0] / _MILLISECOND), "length": len(starts)}
    else:
        scale["times"] = [_plain(moment) for moment in shown]
    return Grouping(called, starts, len(moments), scale, partial=partial)


def own_unit(moments: Ints) -> tuple[str, str]:
    """How a cell of the axis is written, and what it is called."""
    step = int(np.median(np.diff(moments[:1000]))) if len(moments) > 1 else MICROSECONDS["d"]
    day = MICROSECONDS["d"]
    if (moments % day).any():
        called = {length: name for name, _, length in _FIXED}.get(step, "cell")
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
