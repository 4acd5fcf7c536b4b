"""Which of the ticks that arrive are new, which were there before, and how many were left out between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.axes.time_axis import TimeAxis
from sparsedp.errors import InvalidInput

USUAL_GAP = 100
"""A longer gap is taken for a mistake in the time unless the caller says that it is none: it is filled for good."""


@dataclass(frozen=True)
class Arrivals:
    """`known` ticks from `first` on were there before; then come the `new` values, of which `gap` zeros fill a gap."""

    first: int
    known: int
    gap: int
    new: Integers


class Kept(Protocol):
    """What is known of the ticks that were kept."""

    @property
    def ticks(self) -> int:
        """How many there are."""

    @property
    def redelivers(self) -> bool:
        """Whether they may come again."""

    def filled(self, first: int, stop: int) -> bool:
        """Whether any of the ticks first … stop − 1 was left out when its time came, and filled with zero."""


def arrivals(values: Integers, first: int | None, kept: Kept, time: TimeAxis, *, fill: int) -> Arrivals:
    """Sort out values for ticks first, first + 1, …; without `first`, for the next. At most `fill` are left out."""
    ticks = kept.ticks
    if first is None or first == ticks:
        return Arrivals(ticks, 0, 0, values)
    if first < ticks:
        known = min(len(values), ticks - first)
        if not kept.redelivers:
            given = f"tick {time.shown(first)}, which is in the past"
            raise InvalidInput("at", given, f"the next is {time.shown(ticks)}; what was published cannot be changed")
        if kept.filled(first, first + known):
            given = f"tick {time.shown(first)}, which was missing when a later tick came and was published as zero"
            raise InvalidInput("at", given, "it is too late for its count; observe every tick in its turn")
        return Arrivals(first, known, 0, values[known:])
    gap = first - ticks
    if gap > fill:
        given = f"tick {time.shown(first)}, {gap} ticks after the next one"
        remedy = f"check it, or say fill={gap} if nothing happened in between: that is published as zeros, for good"
        raise InvalidInput("at", given, remedy)
    return Arrivals(first, 0, gap, np.concatenate((np.zeros((gap, *values.shape[1:]), np.int64), values)))


def first_of(values: Any, at: Any, time: TimeAxis) -> Any:
    """Where a batch begins: at `at`, or where the times in the index of a pandas Series say."""
    index = getattr(values, "index", None)
    if time.start is None or getattr(getattr(index, "dtype", None), "kind", "") != "M":
        return at
    ticks = time.ticks_of("values", np.asarray(index))
    if (np.diff(ticks) != 1).any():
        given = "a series whose times are not one tick after another"
        raise InvalidInput("values", given, "reindex it to every tick first, with 0 for those without events")
    if len(ticks) and at is not None and time.tick_of("at", at) != ticks[0]:
        given = f"not where the series begins, {time.shown(int(ticks[0]))}"
        raise InvalidInput("at", given, "leave it out: the series says when its counts are")
    return int(ticks[0]) if len(ticks) else at
