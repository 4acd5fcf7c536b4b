"""The error of a release of layers of sums, estimated from the synopsis alone when first asked for (errors.md)."""

from __future__ import annotations

from functools import cached_property
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.arrays import Floats, usual_warnings
from sparsedp.estimation.errors.bootstrap import Refit, Resampled, resample
from sparsedp.estimation.errors.cells import model_of_cells
from sparsedp.estimation.errors.groups import in_dense_blocks, model_of_dense_blocks, model_of_groups, runs_of_groups
from sparsedp.estimation.errors.haar_details import ErrorModel, details, noise_of_details, normal_quantile
from sparsedp.laws import IndependentLaw
from sparsedp.progress import part, stage

if TYPE_CHECKING:
    from sparsedp.estimation.estimator import Fit

LEAST_SHRUNK = 16
"""Fewer cells are published as they were measured, and have the noise's own errors."""

RESAMPLED = 0.3
"""About how much of the time that estimating errors takes is over by then."""

CERTAIN = 3.0
"""In deviations of the noise that shrinking removed: a sum that it moved further was biased by it."""

LEAST_REMOVED = 0.25
"""Of the variance of the noise, what it may remove in any case: errors are rather said to be too large."""


class LayerErrors:
    """The mean squared errors of cells and of linear queries, and intervals; weights have the table's shape.

    An estimate, not a bound: it takes counts to be those of independent records, at least. It costs about one more
    recovery, once; of short rows some more.
    """

    def __init__(self, fit: Fit, refit: Refit) -> None:
        """`refit` recovers other values of the same sums in the same way."""
        self._fit, self._refit = fit, refit

    @cached_property
    @usual_warnings()
    def _model(self) -> ErrorModel:
        fit = self._fit
        if not all(isfinite(law.variance) for law in fit.law.layers):
            unknown = np.full(fit.sensing.n, inf)
            return ErrorModel(unknown, np.zeros(0), unknown, lambda level: (unknown, unknown))
        if fit.sensing.n < LEAST_SHRUNK:
            return _plain_noise(fit.sensing.n, fit.law.finest)
        with stage(f"estimating the errors of {fit.sensing.n:,} cells"):
            return self._learned()

    @cached_property
    def _noise(self) -> Floats:
        """The variance of the noise in every Haar detail of the fused row."""
        return noise_of_details(self._fit)

    def _learned(self) -> ErrorModel:
        fit, noise = self._fit, self._noise
        if len(fit.layers[0].starts) == fit.sensing.n:
            with part(RESAMPLED):
                made = resample(fit, self._refit)
            return model_of_cells(fit, noise, made)

        def samples() -> Resampled:
            with part(RESAMPLED):
                return resample(fit, self._refit, runs_of_groups(fit.sensing.n))

        return model_of_dense_blocks(fit, noise, samples()) if self._has_cells else model_of_groups(fit, noise, samples)

    @cached_property
    def _has_cells(self) -> bool:
        """Whether cells were measured, all of them or those of some blocks."""
        return len(self._fit.layers[0].starts) == self._fit.sensing.n or in_dense_blocks(self._fit)

    @usual_warnings()
    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""
        row = self._in_a_row(weights)
        asked = np.flatnonzero(row)
        if len(asked) == 1:
            return float(row[asked[0]] ** 2 * self._model.cells[asked[0]])
        if not len(asked):
            return 0.0
        if not isfinite(self._model.cells[0]):
            return inf
        variance = self._model.variance(row)
        return variance + self._bias(row, variance)

    def _bias(self, row: Floats, variance: float) -> float:
        """The square of how far shrinking moved a sum of that `variance` beyond what the noise explains.

        The fused cells are unbiased, with noise that is known; and an estimate that is worth its variance has moved
        by the noise that it got rid of. Where shrinking changed a sum by more than three times the deviation of that,
        the change is error: of sums that pick what shrinking smoothed away, such as all Saturdays, or of a busy half
        that gave way to cells without negative counts in the other.
        """
        fit = self._fit
        if not self._has_cells:
            return 0.0
        # What shrinking took from groups: that the cells of one slope is no bias.
        sizes = np.diff(fit.layers[0].starts, append=fit.sensing.n)
        taken = np.add.reduceat(fit.fused - fit.estimate, fit.layers[0].starts)
        moved = float(np.add.reduceat(row, fit.layers[0].starts) @ (taken / sizes)) ** 2
        noise = fit.measured.noise_of_sum(fit.sensing, row, self._noise)
        removed = max(noise - variance, LEAST_REMOVED * noise)
        return moved - removed if moved > CERTAIN**2 * removed else 0.0

    @usual_warnings()
    def _ends(self, level: float) -> tuple[Floats, Floats]:
        """How far below and above intervals of cells reach: a standard error at least."""
        below, above = self._model.ends(level)
        least = np.sqrt(self._model.cells)
        return np.maximum(below, least), np.maximum(above, least)

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
        below, above = self._ends(level)
        weight, cell = float(row[asked[0]]), asked[0]
        low, high = (below, above) if weight > 0 else (above, below)
        return estimate - abs(weight) * float(low[cell]), estimate + abs(weight) * float(high[cell])

    def cell_intervals(self, level: float) -> tuple[Floats, Floats]:
        """The intervals of all cells at once: their low and their high ends, not cut at zero."""
        below, above = self._ends(level)
        estimate = self._fit.estimate
        return self._out_of_row(estimate - below), self._out_of_row(estimate + above)

    def _in_a_row(self, weights: Floats) -> Floats:
        given = np.ascontiguousarray(weights, dtype=np.float64).reshape(-1)
        return np.asarray(self._fit.sensing.in_a_row(given))

    def _out_of_row(self, row: Floats) -> Floats:
        return self._fit.sensing.out_of_row(row).reshape(self._fit.sensing.shape)


def _plain_noise(n: int, law: IndependentLaw) -> ErrorModel:
    """A handful of cells, published as they were measured: the noise itself."""
    variances = np.full(n, law.variance)

    def ends(level: float) -> tuple[Floats, Floats]:
        reach = np.full(n, float(law.quantile((1 + level) / 2)))
        return reach, reach

    return ErrorModel(variances, np.full(len(details(variances)), law.variance), np.zeros(n), ends)
