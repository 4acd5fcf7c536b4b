"""What the error of a release of layers is made of, whatever was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.recovery.layers.detail_variances import details
from sparsedp.recovery.layers.noise_of_sums import BetweenGroups

ALONE_WITHIN = 16
"""Errors of single cells are told apart from those of their surroundings within aligned blocks of so many."""


@dataclass(frozen=True)
class ErrorModel:
    """In the row's order. `cells`: the mean squared error of each. `ends`: by level, how far below and above intervals
    of cells reach.

    The error of a sum has two independent parts: one whose Haar details are uncorrelated, of variances `shared`, and
    one of each cell by itself, of variances `alone`, which is felt only where weights differ within a block of 16
    cells: a spike that was kept has its own noise on all levels at once, and its neighbours have none. `between`: where
    groups of unequal sizes were measured, what sums have of the details made of whole ones.
    """

    cells: Floats
    shared: Floats
    alone: Floats
    ends: Callable[[float], tuple[Floats, Floats]]
    between: BetweenGroups | None = None

    def variance(self, weights: Floats) -> float:
        """Of Σ weights·cells."""
        squares = details(weights) ** 2
        if self.between is None:
            variance = float(squares @ self.shared)
        else:
            within = ~self.between.whole
            variance = float(squares[within] @ self.shared[within])
            variance += self.between.variance(weights, squares, self.shared)
        starts = np.arange(0, len(weights), ALONE_WITHIN)
        lengths = np.diff(starts, append=len(weights))
        apart = weights - np.repeat(np.add.reduceat(weights, starts) / lengths, lengths)
        return variance + float(apart**2 @ self.alone)


def normal_quantile(level: float) -> float:
    """How many standard deviations on either side hold `level` of a normal variable."""
    return NormalDist().inv_cdf((1 + level) / 2)
