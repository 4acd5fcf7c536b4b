"""Make an estimate obey constraints: post-processing, which costs no privacy and never sees the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.constraints.checked import CheckedConstraints
from sparsedp.constraints.constraints import Constraints
from sparsedp.constraints.monotone import nearest_monotone
from sparsedp.constraints.nonnegative import spread_totals
from sparsedp.constraints.two_margins import rounded_with_two_margins
from sparsedp.constraints.whole_numbers import rounded, rounded_monotone
from sparsedp.errors import InvalidInput


def impose(
    estimate: npt.ArrayLike,
    constraints: Constraints | CheckedConstraints,
    variance: npt.ArrayLike | None = None,
    axis_names: Sequence[str] | None = None,
) -> Floats:
    """A table near `estimate` that obeys the constraints: totals to 10⁻⁹ of themselves, all else exactly.

    First negative cells are removed, their deficits being taken from nearby cells so that sums stay
    (`nonnegative.py`); then comes the nearest table in Σ (change)² / `variance`; whole numbers come last. A table that
    obeys is left as it is. `variance`, of each cell's error, says which cells to trust; without it all alike.
    """
    values = np.array(estimate, np.float64, order="C")
    if values.size == 0 or not np.isfinite(values).all():
        raise InvalidInput("estimate", "empty or not finite", "give a table of numbers")
    checked = constraints.checked(values.shape, axis_names) if isinstance(constraints, Constraints) else constraints
    if checked.shape != values.shape:
        raise InvalidInput("estimate", f"of shape {values.shape}", f"the constraints are on a table of {checked.shape}")
    table = _nearest(values, _weights(values.shape, variance), checked)
    return _whole(table, checked) if checked.integers else table


def _weights(shape: tuple[int, ...], variance: npt.ArrayLike | None) -> Floats:
    """Variances in units of the largest; none is so small that its cell could not move at all."""
    if variance is None:
        return np.ones(shape)
    given = np.asarray(variance, np.float64)
    if given.shape != shape or not np.isfinite(given).all() or (given < 0.0).any():
        raise InvalidInput("variance", "not one number of at least zero for each cell", f"give a table of {shape}")
    largest = float(given.max())
    return np.ascontiguousarray(np.maximum(given / largest, 1e-9)) if largest > 0.0 else np.ones(shape)


def _nearest(values: Floats, weights: Floats, checked: CheckedConstraints) -> Floats:
    finest = max(checked.margins, key=lambda margin: margin.totals.size, default=None)
    totals = None if finest is None else finest.totals.astype(np.float64)
    table = spread_totals(values, weights, checked.free, () if finest is None else finest.axes, totals)
    if len(checked.monotone) > 1:
        axes = tuple(axis for axis in range(table.ndim) if finest is None or axis not in finest.axes)
        sums = table.sum(axis=axes, keepdims=True)
        table = nearest_monotone(table, weights, checked.free, checked.monotone)
        # The weighted nearest has other sums. Scaling under each total keeps its lines monotone: they lie within it.
        found = table.sum(axis=axes, keepdims=True)
        table *= np.divide(sums, found, out=np.zeros(sums.shape), where=found > 0.0)
    elif checked.margins and (checked.monotone or len(checked.margins) > 1):
        from sparsedp.constraints.nearest_with_totals import nearest_with_totals  # loads solvers, seldom needed

        table = nearest_with_totals(table, weights, checked.free, checked.margins, checked.monotone)
    elif checked.monotone:
        table = nearest_monotone(table, weights, checked.free, checked.monotone)
    return table


def _whole(table: Floats, checked: CheckedConstraints) -> Floats:
    if float(table.sum()) >= 2.0**53:
        return np.rint(table)  # such numbers are whole as they are, and have no room for more digits
    margin = checked.margins[0] if checked.margins else None
    if len(checked.margins) == 2:
        return rounded_with_two_margins(table, *checked.margins).astype(np.float64)
    if checked.monotone:
        return rounded_monotone(table, margin, checked.monotone).astype(np.float64)
    return rounded(table, margin).astype(np.float64)
