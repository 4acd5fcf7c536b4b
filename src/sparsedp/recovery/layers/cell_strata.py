"""Cells of a kind: alike in their estimate and in how certain their surroundings are. What errors do they have?

A made-up truth tells (`resampling.py`). Kinds are told apart by what the *estimate* shows, so that a cell of the
release is compared with made-up cells that look like it, not with those in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.laws import IndependentLaw
from sparsedp.recovery.shrinkage.spread_sample import spread_sample

CUTS: Floats = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995])
"""Quantiles of the estimates at which kinds are cut; each is cut into three more by the surroundings."""

LEAST_CELLS, LEAST_TAIL = 40, 1.0
"""A kind of fewer made-up cells is joined with the two beside it; with fewer beyond an end, the end is computed."""

SAMPLE = 2**16
"""As many cells decide where kinds are cut."""


@dataclass(frozen=True)
class CellStrata:
    """`kinds`: of the release's cells. `made_up`: of the made-up ones; `distances`: their truth − estimate."""

    kinds: Integers
    made_up: Integers
    distances: Floats
    law: IndependentLaw
    total: int

    @classmethod
    def of(
        cls,
        estimate: Floats,
        around: Floats,
        alone: npt.NDArray[np.bool_],
        made_up: tuple[Floats, Floats, Floats],
        law: IndependentLaw,
    ) -> CellStrata:
        """`around`: the variance of the surroundings. `alone`: which cells were measured by themselves.

        `made_up`: the estimates of such cells, the same of theirs, and their errors.
        """
        estimates, surroundings, errors = (values.reshape(-1) for values in made_up)
        sample = spread_sample(len(estimates), SAMPLE)
        seen, beside = estimates[sample], surroundings[sample]
        own = estimate[alone]
        own = own[spread_sample(len(own), SAMPLE)]
        edges = np.unique(np.quantile(np.concatenate([own, seen]), CUTS))
        place = np.searchsorted(edges, seen, side="right")
        thirds = np.full((len(edges) + 1, 2), np.inf)
        for at in range(len(edges) + 1):
            here = beside[place == at]
            if len(here) >= 3 * LEAST_CELLS:
                thirds[at] = np.quantile(here, [1 / 3, 2 / 3])

        def kind(values: Floats, variances: Floats) -> Integers:
            at = np.searchsorted(edges, values, side="right")
            return np.asarray(3 * at + (variances > thirds[at, 0]) + (variances > thirds[at, 1]), np.int64)

        return cls(kind(estimate, around), kind(estimates, surroundings), -errors, law, 3 * len(thirds))

    @cached_property
    def mean_squares(self) -> Floats:
        """Of the errors of each kind."""
        return self.mean_squares_of(self.distances)

    def mean_squares_of(self, values: Floats) -> Floats:
        """For each kind, of one value for every made-up cell."""
        counts = np.bincount(self.made_up, minlength=self.total).astype(np.float64)
        sums = np.bincount(self.made_up, values**2, self.total)
        three = np.repeat(counts.reshape(-1, 3).sum(axis=1), 3)
        together = np.repeat(sums.reshape(-1, 3).sum(axis=1), 3) / np.maximum(three, 1)
        few = three < LEAST_CELLS
        every = float(sums.sum() / counts.sum()) if counts.any() else self.law.variance
        together[few] = np.maximum(together[few], every)
        return np.where(counts >= LEAST_CELLS, sums / np.maximum(counts, 1), together)

    @cached_property
    def _sorted(self) -> tuple[Floats, Integers]:
        order = np.lexsort((self.distances, self.made_up))
        bounds = np.searchsorted(self.made_up[order], np.arange(self.total + 1))
        return self.distances[order], bounds

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """For each kind, how far below and above the estimate the interval reaches."""
        tail = (1 - level) / 2
        distances, bounds = self._sorted
        below, above = np.empty(self.total), np.empty(self.total)
        # Beyond what was seen, errors have the tails of the noise, scaled.
        wide = max(self.law.quantile(1 - tail), 0.5) / sqrt(max(self.law.variance, 1e-12))
        for kind in range(len(below)):
            first, last = int(bounds[kind]), int(bounds[kind + 1])
            if last - first < LEAST_CELLS:
                first, last = int(bounds[kind // 3 * 3]), int(bounds[kind // 3 * 3 + 3])
            here = distances[first:last]
            computed = wide * sqrt(self.mean_squares[kind])
            if len(here) < LEAST_CELLS:
                below[kind] = above[kind] = computed
                continue
            seen = max(tail, LEAST_TAIL / len(here))
            low, high = np.quantile(here, [seen, 1 - seen])
            # What is computed reaches no less far than what was seen at a lower level.
            least = computed if seen > tail else 0.0
            below[kind], above[kind] = max(-low, least), max(high, least)
        return below, above
