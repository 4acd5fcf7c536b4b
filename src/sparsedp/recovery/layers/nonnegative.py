"""Sums without a negative one: the projection onto a simplex."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats


def keeping_total(sums: Floats) -> Floats:
    """The nearest sums without a negative one and with the same total (if that is negative, all zero)."""
    total = float(sums.sum())
    if total <= 0.0:
        return np.zeros_like(sums)
    if float(sums.min()) >= 0.0:
        return sums.copy()
    falling = np.sort(sums)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(sums) + 1)
    threshold = float(excess[np.flatnonzero(falling >= excess)[-1]])
    return np.maximum(sums - threshold, 0.0)
