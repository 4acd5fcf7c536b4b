"""Cells within groups whose sums alone are known: a slope where the groups on both sides agree on one, else flat.

The geometric mean of the two slopes that the means of the groups before and after foretell, none if their signs
differ: limited slopes, as van Leer's (1979), by the mean that is nearly right where counts fall off by the same
factor from one group to the next. A slope is also less than what the look that made the groups would have seen, or it
would have halved them: stairs that rise by more stay stairs. So do a step, a peak and a trough, and a ramp becomes a
ramp. The sum of every group is kept, and no cell passes the means of the groups beside it: none becomes negative if no
group is.
"""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers


def sloped_cells(sums: Floats, sizes: Integers, unseen: Floats) -> Floats:
    """Every cell of groups in a row. `unseen`: the difference of halves that each may hide (`unseen.py`)."""
    means = sums / sizes
    # The halves of m cells that rise by s from one to the next differ by s·m²/4.
    steepest = 4.0 * unseen / sizes.astype(np.float64) ** 2
    slopes = np.clip(_slopes(means, sizes), -steepest, steepest)
    first = np.cumsum(sizes) - sizes
    middles = np.repeat(first + 0.5 * (sizes - 1), sizes)
    return np.asarray(np.repeat(means, sizes) + np.repeat(slopes, sizes) * (np.arange(len(middles)) - middles))


def _slopes(means: Floats, sizes: Integers) -> Floats:
    """By which the cells of each group rise. The first and the last have no group beyond: they go on as the next."""
    if len(means) < 3:
        return np.zeros(len(means))
    apart = np.abs(np.diff(means))
    between = np.diff(means) / (0.5 * (sizes[1:] + sizes[:-1]))
    before, after = np.append(between[1], between), np.append(between, between[-2])
    nearer = np.minimum(np.append(np.inf, apart), np.append(apart, np.inf))
    slopes = np.minimum(np.sqrt(np.abs(before)) * np.sqrt(np.abs(after)), nearer / (0.5 * np.maximum(sizes - 1, 1)))
    # Nothing holds the outer cells of the first and of the last group but that they should not pass zero.
    ends = [0, -1]
    slopes[ends] = np.minimum(slopes[ends], np.abs(means[ends]) / (0.5 * sizes[ends]))
    return np.asarray(np.where(np.sign(before) == np.sign(after), np.sign(before) * slopes, 0.0))
