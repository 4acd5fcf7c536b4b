"""How the cells of every kind of axis may be taken together in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes import Axis, Bins, Calendar, Categories, Integers
from sparsedp.reports.grouping import Grouping, in_runs
from sparsedp.reports.time_groups import time_groupings

OTHERS = "all others"


def groupings_of(axis: Axis, steps: Sequence[int] = (1,)) -> list[Grouping]:
    """Coarsest first; the last one is the cells themselves. Numbers go in `steps` of any power of ten."""
    if isinstance(axis, Calendar):
        (times,) = axis.columns().values()
        return time_groupings(axis.name, times, zone_of(axis))
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
    others = f"{OTHERS} ({axis.length - most + 1:,})"
    scale = {"name": axis.name, "kind": "category", "labels": [*labels, others]}
    return Grouping("label", np.arange(most), axis.length, scale, order=order)


def _numbers(axis: Axis, size: int) -> Grouping:
    if isinstance(axis, Bins):
        starts = np.arange(0, axis.length, size)
        edges = [axis.edges[place] for place in [*starts.tolist(), axis.length]]
        finite = [edge if isfinite(edge) else None for edge in edges]
        called = "bin" if size == 1 else f"{size:,} bins"
        return Grouping(called, starts, axis.length, {"name": axis.name, "kind": "bins", "edges": finite})
    first = axis.first if isinstance(axis, Integers) else 0
    starts = in_runs(np.arange(first, first + axis.length) // size)
    bounds = [first + start for start in [*starts.tolist(), axis.length]]
    scale: dict[str, Any] = {"name": axis.name, "kind": "number", "bounds": bounds}
    if size == 1:
        scale = {"name": axis.name, "kind": "number", "first": first, "length": axis.length}
    sizes = np.diff(starts, append=axis.length)
    partial = tuple(sorted(point for point in {0, len(starts) - 1} if sizes[point] < size))
    return Grouping(f"steps of {size:,}", starts, axis.length, scale, partial=partial)
