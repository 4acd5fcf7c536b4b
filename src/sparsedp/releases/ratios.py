"""The interval of a ratio of two linear queries, such as a mean or a share."""

from __future__ import annotations

from math import inf, isfinite, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.releases.uncertainty import Uncertainty, interval_of, normal_quantile

SURE = 0.05
"""A denominator whose interval reaches less far to either side, as a share of it, is taken as known (delta method)."""


class Ratios:
    """Intervals of (Σ w·D) / (Σ D) for several weights w; the sum of all cells is the denominator of all of them."""

    def __init__(self, errors: Uncertainty, total: float, shape: tuple[int, ...], level: float) -> None:
        """`total`: the estimated sum of all cells, above zero."""
        self._errors, self._total, self._level = errors, total, level
        self._normal = normal_quantile(level)
        self._ones = np.ones(shape)
        self._total_variance = errors.variance(self._ones)

    @property
    def bounded(self) -> bool:
        """Whether the denominator can be told from zero: otherwise a ratio can be anything."""
        return self._normal**2 * self._total_variance < self._total**2

    def reach(self, weights: Floats) -> tuple[float, float]:
        """How far below and above the estimated ratio the interval reaches; `weights` are w minus that ratio.

        Their sum is then estimated at zero, and has an interval of its own, [−a, b]. For a denominator that is known
        the ratio's is that over the denominator; otherwise Fieller's: all d with 0 in the interval of Σ (w − d)·D.
        """
        found = interval_of(self._errors, weights, 0.0, self._level)
        if self._normal**2 * self._total_variance <= (SURE * self._total) ** 2:
            return -found.low / self._total, found.high / self._total
        variance = self._errors.variance(weights)
        if not isfinite(variance) or not isfinite(self._total_variance):
            return inf, inf
        if variance == 0.0:
            return 0.0, 0.0
        covariance = self._covariance(weights, variance)
        below, above = -found.low / sqrt(variance), found.high / sqrt(variance)
        return self._fieller(below, variance, -covariance), self._fieller(above, variance, covariance)

    def _covariance(self, weights: Floats, variance: float) -> float:
        """With the denominator: from the variance of the two together, weighed alike."""
        alike = sqrt(variance / self._total_variance) if self._total_variance else 1.0
        together = self._errors.variance(weights + alike * self._ones)
        return (together - variance - alike**2 * self._total_variance) / (2 * alike)

    def _fieller(self, deviations: float, variance: float, covariance: float) -> float:
        """The largest d ≥ 0 with d·total ≤ deviations·√(variance − 2d·covariance + d²·total_variance)."""
        squared = deviations**2
        known = self._total**2 - squared * self._total_variance
        if known <= 0:
            return inf
        middle = -squared * covariance
        return (middle + sqrt(max(middle**2 + known * squared * variance, 0.0))) / known
