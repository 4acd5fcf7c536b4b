"""Sums beside the counts of the same records: made consistent, and divided (`means.md`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.estimation.estimator import ESTIMATES

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


def with_counts(sums: Release, counts: Release) -> Release:
    """The sums with the counts beside them; estimates that smooth are made consistent, unbiased ones are left alone.

    No cell's total is then more, or less, than its count of records can have between the bounds of the clamp.
    """
    if sums.quantity.clamp is None or counts.shape != sums.shape:
        raise InvalidInput("counts", "not of the records that were summed", "give those measured beside the sums")
    values = sums.values
    if all(each.recovery["name"] in ESTIMATES for each in (sums, counts)):
        low, high = (float(bound) * counts.values for bound in sums.quantity.clamp)
        values = within(values, low, high)
    return replace(sums, values=values, counts=counts)


# Totals that fit their counts.


def within(totals: Floats, low: Floats, high: Floats) -> Floats:
    """Totals between `low` and `high` cell by cell, whose sums over blocks stay what they are wherever they can.

    Bounds of cells add up to bounds of blocks. From the sum of all downwards, the two halves of a block share what the
    block may keep: each gives way by half, unless a bound stops it. Halves are taken along the first axis before the
    second, so that sums over whole axes come before the cells.
    """
    levels, axes = [[totals, np.minimum(low, high), np.maximum(low, high)]], []
    for axis in reversed(range(totals.ndim)):
        while levels[-1][0].shape[axis] > 1:
            levels.append([_even(part, axis) + _odd(part, axis) for part in levels[-1]])
            axes.append(axis)
    kept = np.clip(*levels[-1])
    for level, axis in zip(reversed(levels[:-1]), reversed(axes), strict=True):
        length = level[0].shape[axis]
        first, below, above = (_even(part, axis) for part in level)
        second, floor, ceiling = (_odd(part, axis) for part in level)
        half = first + (kept - (first + second)) / 2
        left = np.clip(half, np.maximum(below, kept - ceiling), np.minimum(above, kept - floor))
        kept = np.stack([left, kept - left], axis=axis + 1).reshape(
            *left.shape[:axis], 2 * left.shape[axis], *left.shape[axis + 1 :]
        )
        kept = kept.take(np.arange(length), axis=axis)
    return np.asarray(np.clip(kept, *levels[0][1:]))


def _even(table: Floats, axis: int) -> Floats:
    return table[(slice(None),) * axis + (slice(0, None, 2),)]


def _odd(table: Floats, axis: int) -> Floats:
    """The second of each pair; zeros where the last has none."""
    found = table[(slice(None),) * axis + (slice(1, None, 2),)]
    if table.shape[axis] % 2 == 0:
        return found
    return np.concatenate([found, np.zeros_like(table.take([0], axis=axis))], axis=axis)
