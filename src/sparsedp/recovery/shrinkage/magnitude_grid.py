"""Magnitudes, in standard deviations of the noise, on a grid that is found from a float's bits.

The bits of a float, read as an integer, grow like its logarithm and linearly in between: 1 + |z| needs no logarithm
to find its place among `STEPS` equal steps to each doubling.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

STEP_BITS = 5
STEPS = 1 << STEP_BITS

MOST = 2.0**15
"""A coefficient that reaches this many standard deviations is signal: nothing is removed from it."""

LAST = 15 * STEPS


def _steps(first: int) -> Floats:
    """The floats that are reached by `first` … `LAST` steps from 1."""
    steps = np.arange(first, LAST + 1)
    return np.asarray(np.ldexp(1.0 + steps % STEPS / STEPS, steps // STEPS))


GRID: Floats = _steps(0) - 1.0
ODDS: Floats = _steps(-LAST)
"""Odds are counted from 1 : `MOST` to `MOST` : 1; what lies beyond is as certain as it gets."""

_ONE = np.float64(1.0).view(np.int64)
_SHIFT = np.int64(52 - STEP_BITS)
_BELOW = (np.int64(1) << _SHIFT) - np.int64(1)
_PART = 1.0 / float(1 << (52 - STEP_BITS))


@kernel
def _step_below(value: float) -> tuple[int, float]:
    """The number of whole steps from 1 to the value, and the part of the next one that is left, in [0, 1)."""
    bits = np.float64(value).view(np.int64) - _ONE
    return int(bits >> _SHIFT), float((bits & _BELOW) * _PART)


@kernel
def place_of(value: float) -> tuple[int, float]:
    """The point of `GRID` at or below |value|, and how far the value is from there to the next, in [0, 1).

    From `MOST` − 1 on, and for what is not a number, the grid's last point.
    """
    magnitude = abs(value)
    return _step_below(1.0 + magnitude if magnitude < MOST - 1.0 else MOST)


@kernel
def count(value: float, counts: Floats, row: int) -> None:
    """Share one count, in a row of `counts`, out between the two points of `GRID` that |value| lies between.

    So a sum over the counts of any function at the points is that of its linear interpolation at the values. There is
    a place more than points, which stays 0.
    """
    place, part = place_of(value)
    counts[row, place] += 1.0 - part
    counts[row, place + 1] += part


@kernel
def count_odds_of(odds: float, counts: Floats, row: int) -> None:
    """The same for odds and `ODDS`."""
    place, part = _step_below(min(max(odds, 1.0 / MOST), MOST))
    counts[row, LAST + place] += 1.0 - part
    counts[row, LAST + place + 1] += part
