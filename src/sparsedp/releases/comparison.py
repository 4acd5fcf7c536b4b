"""Comparing two releases of the same cells; with the truth, for its owner only: `sparsedp.truth`."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.releases.release import Release
from sparsedp.releases.side_by_side import Comparison, Difference
from sparsedp.releases.uncertainty import Interval, UnknownTogether, checked_level, normal_quantile
from sparsedp.validate import Number

__all__ = ["Comparison", "Difference", "compare"]


def compare(first: Release, second: Release, level: Number = 0.95) -> Comparison:
    """Two releases of the same domain, cell by cell; what they tell together was published already."""
    for argument, one in (("first", first), ("second", second)):
        if not isinstance(one, Release):
            raise InvalidInput(argument, f"of type {type(one).__name__}", "give a release")
    share = checked_level(level)
    if (first.domain, first.time, first.shape) != (second.domain, second.time, second.shape):
        given = f"of other cells ({_cells(second)}) than the first ({_cells(first)})"
        raise InvalidInput("second", given, "compare releases of one domain; a `marginal` of each may have one")
    if first.quantity.column != second.quantity.column or first.quantity.value != second.quantity.value:
        given = f"of another quantity ({second.quantity}) than the first ({first.quantity})"
        raise InvalidInput("second", given, "compare releases of one quantity")
    shared = _share_their_noise(first, second)
    stderr = None
    if first.stderr is not None and second.stderr is not None:
        stderr = first.stderr + second.stderr if shared else np.hypot(first.stderr, second.stderr)
    total = _total_difference(first, second, share, shared=shared)
    return Comparison(("first", "second"), first, first.values, second.values, stderr, total, share)


def _cells(release: Release) -> str:
    named = release.domain is not None or release.time is not None
    return release.span if named else f"{len(release):,} cells without names"


def _share_their_noise(first: Release, second: Release) -> bool:
    """Whether both were recovered from one synopsis, and so have errors that go together."""
    if first.synopsis is None or second.synopsis is None:
        return False
    return first.synopsis is second.synopsis or first.synopsis.digest == second.synopsis.digest


def _total_difference(first: Release, second: Release, level: float, *, shared: bool) -> Interval | None:
    if first.uncertainty is None or second.uncertainty is None:
        return None
    try:
        ones = np.ones(first.shape)
        deviations = [sqrt(errors.variance(ones)) for errors in (first.uncertainty, second.uncertainty)]
    except UnknownTogether:
        return None
    half = normal_quantile(level) * (sum(deviations) if shared else sqrt(sum(one**2 for one in deviations)))
    apart = float(second.values.sum() - first.values.sum())
    return Interval(apart - half, apart + half, apart, level)
