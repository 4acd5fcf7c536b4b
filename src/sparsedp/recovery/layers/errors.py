"""The error of a release of layers of sums, estimated from the synopsis alone when first asked for (errors.md)."""

from __future__ import annotations

from functools import cached_property
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.recovery.layers.error_model import ErrorModel, normal_quantile
from sparsedp.recovery.layers.flat_group_errors import model_of_groups
from sparsedp.recovery.layers.measured_cell_errors import model_of_cells
from sparsedp.recovery.layers.resampling import Refit

if TYPE_CHECKING:
    from sparsedp.recovery.layers.recover import Fit


class LayerErrors:
    """The mean squared errors of cells and of linear queries, and intervals; weights have the table's shape.

    An estimate, not a bound: it takes counts to be those of independent records, at least. It costs about one more
    recovery, once.
    """

    def __init__(self, fit: Fit, refit: Refit) -> None:
        """`refit` recovers other values of the same sums in the same way."""
        self._fit, self._refit = fit, refit

    @cached_property
    def _model(self) -> ErrorModel:
        fit = self._fit
        if not all(isfinite(law.variance) for law in fit.law.layers):
            unknown = np.full(fit.sensing.n, inf)
            return ErrorModel(unknown, np.zeros(0), unknown, lambda level: (unknown, unknown))
        of_fit = model_of_cells if len(fit.layers[0].starts) == fit.sensing.n else model_of_groups
        return of_fit(fit, self._refit)

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""
        row = self._in_a_row(weights)
        asked = np.flatnonzero(row)
        if len(asked) == 1:
            return float(row[asked[0]] ** 2 * self._model.cells[asked[0]])
        if not len(asked):
            return 0.0
        return self._model.variance(row) if isfinite(self._model.cells[0]) else inf

    def stderr(self) -> Floats:
        """The root mean squared error of every cell."""
        return self._out_of_row(np.sqrt(self._model.cells))

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """Of one cell by the errors of cells like it, which need not be symmetric; of others, normal."""
        row = self._in_a_row(weights)
        asked = np.flatnonzero(row)
        if len(asked) != 1:
            half = normal_quantile(level) * sqrt(self.variance(weights))
            return estimate - half, estimate + half
        below, above = self._model.ends(level)
        weight, cell = float(row[asked[0]]), asked[0]
        low, high = (below, above) if weight > 0 else (above, below)
        return estimate - abs(weight) * float(low[cell]), estimate + abs(weight) * float(high[cell])

    def cell_intervals(self, level: float) -> tuple[Floats, Floats]:
        """The intervals of all cells at once: their low and their high ends, not cut at zero."""
        below, above = self._model.ends(level)
        estimate = self._fit.estimate
        return self._out_of_row(estimate - below), self._out_of_row(estimate + above)

    def _in_a_row(self, weights: Floats) -> Floats:
        given = np.ascontiguousarray(weights, dtype=np.float64).reshape(-1)
        return np.asarray(self._fit.sensing.in_a_row(given))

    def _out_of_row(self, row: Floats) -> Floats:
        return self._fit.sensing.out_of_row(row).reshape(self._fit.sensing.shape)
