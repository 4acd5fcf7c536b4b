"""One frame of cells (or of sums of blocks of cells): its levels' priors, and the noise in them."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.recovery.shrinkage.chunks import Chunks
from sparsedp.recovery.shrinkage.coefficient_noise import gap_deviations
from sparsedp.recovery.shrinkage.gap_contrasts import SURROUNDINGS, UNKNOWN, windows
from sparsedp.recovery.shrinkage.level_coefficients import BLOCK
from sparsedp.recovery.shrinkage.level_counts import BENDS, CONTRASTS, count_magnitudes, count_odds, count_windows
from sparsedp.recovery.shrinkage.level_prior import LevelPrior, Population, smooth_chances, worth_of
from sparsedp.recovery.shrinkage.level_removal import remove_from_level
from sparsedp.recovery.shrinkage.noise_removal import cells_from_gaps, narrow_windows, remove_from_windows
from sparsedp.recovery.shrinkage.scale_mixture import Evidence

Weights: TypeAlias = tuple[Floats, Floats]


class Frame:
    """`sums` are the `mirrored_sums` of n cells less the `centre` of each, `variances[j − 1]` is that of an aligned
    detail of 2^j of them.
    """

    def __init__(self, sums: Floats, n: int, centre: float, variances: Floats, chunks: Chunks) -> None:
        self.sums, self.n, self.centre, self.variances, self._chunks = sums, n, centre, variances, chunks

    def deviations(self, level: int) -> Floats:
        """Of the noise in the level's details at each gap: one period, or more than one if it is short."""
        found = np.empty(max(1 << (level - 1), BLOCK))
        gap_deviations(level, self.variances, found)
        return found

    def learn(self, level: int, evidence: Evidence, finer: Weights, doubt: float) -> LevelPrior:
        """Fit a level; `finer`: the weights on the level below, of contrasts and of bends."""
        worth = worth_of(2.0**level)
        given = self.sums, self.n, self.centre, level, self.deviations(level)
        counts = worth * np.sum(self._chunks.run(partial(count_magnitudes, *given), self.n + 1), axis=0)
        own = Population.learn(counts[CONTRASTS], evidence, finer[CONTRASTS], doubt)
        if not counts[BENDS].any():
            return LevelPrior(own, Population(finer[BENDS], own.tables), np.zeros(SURROUNDINGS))
        bent = Population.learn(counts[BENDS], evidence, finer[BENDS], doubt)
        odds = self._chunks.run(partial(count_odds, *given, own.tables, bent.tables), self.n + 1)
        return LevelPrior(own, bent, smooth_chances(worth * np.sum(odds, axis=0)))

    def learn_windows(self, level: int, evidence: Evidence, finer: Floats, doubt: float) -> Population:
        """Fit the coarsest windows, whose surroundings are unknown and which follow no trend."""
        counts = worth_of(2.0**level) * count_windows(self._windows(level))
        return Population.learn(counts, evidence, finer[UNKNOWN:1], doubt)

    def remove_from_windows(self, level: int, prior: Population) -> Floats:
        """The noise in the means of the coarsest windows around each gap."""
        out = np.empty(self.n + 1)
        remove_from_windows(self._windows(level), level, self.deviations(level), prior.tables[0], out)
        return out

    def _windows(self, level: int) -> Floats:
        values = np.empty(self.n + 1)
        windows(self.sums, level, self.deviations(level), values)
        return values

    def remove(self, level: int, prior: LevelPrior, means: Floats) -> Floats:
        """The noise in the level's contrasts; `means`: that in the windows around each gap."""
        out = np.empty(self.n + 1)
        work = partial(
            remove_from_level, self.sums, self.n, self.centre, level, self.deviations(level),
            prior.contrasts.tables, prior.bends.tables, prior.smooth, means, out,
        )  # fmt: skip
        self._chunks.run(work, self.n + 1)
        return out

    def narrow(self, level: int, means: Floats, differences: Floats) -> Floats:
        """The noise in windows half as wide."""
        out = np.empty(self.n + 1)
        self._chunks.run(partial(narrow_windows, means, differences, level, out), self.n + 1)
        return out

    def cells(self, means: Floats, differences: Floats) -> Floats:
        """The noise in every cell, from that in level 1."""
        out = np.empty(self.n)
        self._chunks.run(partial(cells_from_gaps, means, differences, out), self.n)
        return out
