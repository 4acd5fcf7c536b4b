"""Totals that are public: read, and compared with each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.constraints.margin import Margin
from sparsedp.errors import InvalidInput

MOST = 2**53
"""The largest total: up to here floats hold every whole number."""


def whole_totals(axes: object, sums: npt.ArrayLike) -> Integers:
    """Totals over `axes` as read-only whole numbers."""
    where = f"of {axes!r}"
    try:
        given = np.array(sums)
    except ValueError:
        raise InvalidInput("totals", f"{where} not an array", "give one whole number for each place") from None
    if given.dtype.kind == "f" and np.isfinite(given).all() and (given == np.trunc(given)).all():
        given = np.clip(given, -1.0, 2.0 * MOST).astype(np.int64)
    if given.dtype.kind not in "iu" or given.ndim == 0:
        raise InvalidInput("totals", f"{where} not whole numbers", "give one whole number for each place")
    if given.size and (given.min() < 0 or sum(given.ravel().tolist()) > MOST):
        raise InvalidInput("totals", f"{where} negative somewhere or beyond 2**53 in all", "give totals of counts")
    whole = given.astype(np.int64)
    whole.flags.writeable = False
    return whole


def reconciled(margins: Sequence[Margin]) -> list[Margin]:
    """The margins that say everything: those contained in another one are left out.

    Refused if two of them cannot be of one table: they differ over the axes they share (none: in their sums).
    """
    for one, other in combinations(margins, 2):
        ours, theirs = one.shared_with(other)
        if (ours != theirs).any():
            place = int(np.flatnonzero(ours.ravel() != theirs.ravel())[0])
            given = f"contradictory: {_named(one)} and {_named(other)} add up to {ours.ravel()[place]} and "
            given += f"{theirs.ravel()[place]}{' at the same place' if ours.ndim else ''}"
            raise InvalidInput("totals", given, "give totals of one table")
    kept: list[Margin] = []
    for margin in sorted(margins, key=lambda margin: -len(margin.axes)):
        if not any(set(margin.axes) <= set(other.axes) for other in kept):
            kept.append(margin)
    return kept


def _named(margin: Margin) -> str:
    if not margin.axes:
        return "the grand total"
    return f"those of axis {' by '.join(str(axis) for axis in margin.axes)}"
