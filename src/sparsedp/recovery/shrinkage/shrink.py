"""Empirical-Bayes shrinkage in the translation-invariant Haar frame: the recovery of noisy counts (shrinkage.md)."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import DiscreteLaplaceLaw, NoiseLaw
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, gap_deviations, noise_nodes, variance_shape
from sparsedp.recovery.shrinkage.gap_contrasts import contrasts, mirrored_sums, surroundings, windows
from sparsedp.recovery.shrinkage.level_prior import (
    LevelPrior,
    Population,
    learn_level,
    learn_windows,
    vague_weights,
    worth_of,
)
from sparsedp.recovery.shrinkage.mixture_prior import Evidence
from sparsedp.recovery.shrinkage.noise_removal import (
    cells_from_gaps,
    narrow_windows,
    remove_from_level,
    remove_from_windows,
)
from sparsedp.recovery.shrinkage.trend_bends import bends
from sparsedp.recovery.solution import Solution, Status
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.direct import Direct


def shrinkage(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """Cells measured directly, each with its own noise, shrunk."""
    if not isinstance(sensing, Direct) or not isinstance(law, DiscreteLaplaceLaw):
        raise InvalidInput("recovery", "'shrinkage'", "it needs direct sensing")
    return shrink(values.astype(np.float64), law)


def shrink(observed: Floats, law: DiscreteLaplaceLaw, level_variance: Floats | None = None) -> Solution:
    """The counts' posterior mean, given each count plus independent noise of `law`; the total is kept.

    The cells are in order: a time series, or a histogram of an ordered quantity. `level_variance[j − 1]`, for every
    j up to ⌈log₂ n⌉, is the variance of the noise in an orthonormal Haar detail of 2^j cells, if it is not the law's;
    where it is less, the noise is taken for Gaussian.
    O(n log n) time, memory for about ten vectors of n. No constraint is imposed: cells may come out negative.
    """
    observed = float_vector("observed", observed, np.size(observed))
    n = len(observed)
    if n == 0 or not np.isfinite(observed).all():
        raise InvalidInput("observed", "empty or not finite", "give at least one noisy count")
    if n == 1 or law.variance == 0.0:
        return Solution(observed.copy(), Status.DIRECT, {"levels": 0, "removed": 0.0})
    levels = (2 * n).bit_length() - 1
    variances = _level_variances(n, levels, law, level_variance)
    if not isfinite(law.variance):
        return Solution(np.full(n, observed.mean()), Status.DIRECT, {"levels": 0, "removed": 1.0})
    # Whole numbers stay whole, and their sums exact, if what is taken off is whole.
    sums = mirrored_sums(observed - round(float(observed.mean())))
    frame = _Frame(sums, n, variances)
    priors, coarsest = frame.learn(variance_shape(law), variances < law.variance)
    removed = frame.remove(priors, coarsest)
    removed -= removed.mean()  # the coarsest windows overlap, and each was shrunk on its own
    stats = {
        "levels": levels,
        "removed": float(np.linalg.norm(removed)) / sqrt(n * law.variance),
        "signal_share": [prior.signal_share() for prior in priors],
    }
    return Solution(observed - removed, Status.DIRECT, stats)


class _Frame:
    """The observed cells' frame: level 1 … `levels`, and above them the coarsest windows against the mean of all."""

    def __init__(self, sums: Floats, n: int, variances: Floats) -> None:
        self.sums, self.n, self.variances = sums, n, variances
        self.levels = len(variances)
        self.contrasts, self.bends, self.deviations = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
        self.classes = np.zeros(n + 1, np.uint8)

    def load(self, level: int) -> None:
        """Compute a level's coefficients, normalised."""
        gap_deviations(level, self.variances, self.deviations)
        contrasts(self.sums, level, self.deviations, self.contrasts)
        bends(self.sums, level, self.deviations, self.bends)
        surroundings(self.sums, level, self.deviations, self.classes)

    def load_windows(self) -> None:
        """The same for the coarsest windows."""
        gap_deviations(self.levels, self.variances, self.deviations)
        windows(self.sums, self.levels, self.deviations, self.contrasts)

    def learn(self, cell_shape: float, fused: npt.NDArray[np.bool_]) -> tuple[list[LevelPrior], Population]:
        """Priors of all levels, from fine to coarse: the fine ones have many coefficients and teach the coarse ones."""
        priors: list[LevelPrior] = []
        finer = vague_weights(), vague_weights()
        for level in range(1, self.levels + 1):
            self.load(level)
            width = 2.0**level
            evidence = Evidence.of(*noise_nodes(GAUSSIAN_FROM if fused[level - 1] else width * cell_shape))
            worth = worth_of(width)
            prior = learn_level(level, self.contrasts, self.bends, self.classes, worth, evidence, finer)
            finer = prior.contrasts.weights, prior.bends.weights
            priors.append(prior)
        self.load_windows()
        return priors, learn_windows(self.contrasts, worth, evidence, finer[0])

    def remove(self, priors: list[LevelPrior], coarsest: Population) -> Floats:
        """The noise in every cell, from coarse to fine."""
        means, narrower = np.empty(self.n + 1), np.empty(self.n + 1)
        self.load_windows()
        remove_from_windows(self.contrasts, self.levels, self.deviations, coarsest.removed[0], means)
        for level in range(self.levels, 0, -1):
            self.load(level)
            prior = priors[level - 1]
            own, bent = prior.contrasts, prior.bends
            remove_from_level(
                self.contrasts, self.bends, self.classes, level, self.deviations,
                own.removed, own.density, bent.removed, bent.density, prior.smooth, means,
            )  # fmt: skip
            if level > 1:
                narrow_windows(means, self.contrasts, level, narrower)
                means, narrower = narrower, means
        cells = np.empty(self.n)
        cells_from_gaps(means, self.contrasts, cells)
        return cells


def _level_variances(n: int, levels: int, law: DiscreteLaplaceLaw, given: Floats | None) -> Floats:
    """One for each of the frame's levels; those of windows wider than the cells take the coarsest that is given."""
    if given is None:
        return np.full(levels, law.variance)
    needed = (n - 1).bit_length()
    array = np.asarray(given, np.float64)
    if array.ndim != 1 or len(array) < needed:
        raise InvalidInput("level_variance", f"of shape {array.shape}", f"give {needed} variances, finest first")
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InvalidInput("level_variance", "not positive everywhere", "give the variance of the noise on each level")
    return array[np.minimum(np.arange(levels), needed - 1)] if needed else np.full(levels, law.variance)
