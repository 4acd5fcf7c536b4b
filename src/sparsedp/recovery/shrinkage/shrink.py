"""Empirical-Bayes shrinkage in the translation-invariant Haar frame: the recovery of noisy counts (shrinkage.md)."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.laws import IndependentLaw
from sparsedp.recovery.shrinkage.chunks import chunks_of
from sparsedp.recovery.shrinkage.coefficient_noise import variance_shape
from sparsedp.recovery.shrinkage.pyramid import Pyramid
from sparsedp.recovery.solution import Solution, Status


def shrink(observed: Floats, law: IndependentLaw, level_variance: Floats | None = None) -> Solution:
    """The counts' posterior mean, given each count plus independent noise of `law`; the total is kept.

    The cells are in order: a time series, or a histogram of an ordered quantity. `level_variance[j − 1]`, for every
    j up to ⌈log₂ n⌉, is the variance of the noise in an orthonormal Haar detail of 2^j cells, if it is not the law's;
    where it is less, the noise is taken for Gaussian.
    O(n) time beyond 2¹⁵ cells, on two threads; memory for about ten vectors of n. No constraint is imposed: cells may
    come out negative.
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
    with chunks_of(n + 1) as chunks:
        # Whole numbers stay whole, and their sums exact, if what is taken off is whole.
        pyramid = Pyramid(observed, float(round(float(observed.mean()))), variances, chunks)
        priors, coarsest = pyramid.learn(variance_shape(law), variances < law.variance)
        removed = pyramid.remove(priors, coarsest)
    removed -= removed.mean()  # the coarsest windows overlap, and each was shrunk on its own
    stats = {
        "levels": levels,
        "removed": float(np.linalg.norm(removed)) / sqrt(n * law.variance),
        "signal_share": [prior.signal_share() for prior in priors],
    }
    return Solution(observed - removed, Status.DIRECT, stats)


def _level_variances(n: int, levels: int, law: IndependentLaw, given: Floats | None) -> Floats:
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
