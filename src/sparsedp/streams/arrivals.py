"""Which of the ticks that arrive are new, which were there before, and how many were left out between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput

LONGEST_GAP = 1_000_000
"""A longer gap is taken for a mistake in the time: filling it could not be undone."""


@dataclass(frozen=True)
class Arrivals:
    """`known` ticks from `first` on were there before; then come the `new` values, of which `gap` zeros fill a gap."""

    first: int
    known: int
    gap: int
    new: Integers


def arrivals(values: Integers, first: int | None, ticks: int, *, redelivers: bool) -> Arrivals:
    """Sort out values for ticks first, first + 1, … of a stream that has `ticks` ticks; without `first`, the next."""
    if first is None or first == ticks:
        return Arrivals(ticks, 0, 0, values)
    if first < ticks:
        if not redelivers:
            given = f"tick {first}, which is in the past"
            raise InvalidInput("at", given, f"the next tick is {ticks}; what was published cannot be changed")
        known = min(len(values), ticks - first)
        return Arrivals(first, known, 0, values[known:])
    gap = first - ticks
    if gap > LONGEST_GAP:
        given = f"tick {first}, {gap} ticks after the next one"
        raise InvalidInput("at", given, f"check it; a gap of more than {LONGEST_GAP} ticks is not filled by itself")
    return Arrivals(first, 0, gap, np.concatenate((np.zeros((gap, *values.shape[1:]), np.int64), values)))
