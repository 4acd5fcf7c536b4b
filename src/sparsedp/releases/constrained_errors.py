"""The error of a release that obeys public knowledge: what is known exactly has none."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.constraints import CheckedConstraints
from sparsedp.releases.uncertainty import KnowsQuantiles, Uncertainty, normal_quantile

ROUNDS = 50
"""Several margins are taken off in turn, so often; what is left is then far below any error."""


class ConstrainedErrors:
    """The error of the unconstrained estimate, without what structural zeros and public totals say for certain.

    Imposing constraints moves an estimate towards the truth, so this is on the wide side.
    """

    def __init__(self, unconstrained: Uncertainty, known: CheckedConstraints) -> None:
        self._inner, self._known = unconstrained, known

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""
        unknown = self._unknown(weights)
        return self._inner.variance(unknown) if unknown.any() else 0.0

    def stderr(self) -> Floats:
        """The root mean squared error of every cell; zero where a cell can only be zero."""
        return np.where(self._known.free, self._inner.stderr(), 0.0)

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """Of one cell as without constraints; of others, normal; of what is known, the estimate itself."""
        unknown = self._unknown(weights)
        if not unknown.any():
            return estimate, estimate
        if np.count_nonzero(weights) == 1 and isinstance(self._inner, KnowsQuantiles):
            return self._inner.interval(weights, estimate, level)
        half = normal_quantile(level) * sqrt(self._inner.variance(unknown))
        return estimate - half, estimate + half

    def _unknown(self, weights: Floats) -> Floats:
        """The weights without the part that public totals and zeros answer."""
        free = self._known.free
        left = np.where(free, np.asarray(weights, np.float64).reshape(free.shape), 0.0)
        most = float(np.abs(left).max(initial=0.0))
        for _ in range(ROUNDS if len(self._known.margins) > 1 else 1):
            for margin in self._known.margins:
                cells = np.maximum(margin.of(free.astype(np.float64)), 1.0)
                left -= np.where(free, margin.over(left.ndim, margin.of(left) / cells), 0.0)
        left[np.abs(left) < 1e-9 * most] = 0.0
        return left
