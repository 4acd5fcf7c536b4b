"""The noise of a Haar coefficient: a sum of Laplace variables as a Gaussian whose variance is itself random."""

from __future__ import annotations

from math import inf, isfinite, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel
from sparsedp.laws import IndependentLaw

NODES = 8
"""Of the quadrature over the random variance; exact for its first 16 moments."""

GAUSSIAN_FROM = 64.0
"""From this Gamma shape on, the variance hardly varies and the noise is taken for Gaussian."""

LEAST_SHAPE = 0.5
"""At scales well below 1 the discrete law is nearly always 0, which no Gamma variance resembles: stop here."""


def variance_shape(law: IndependentLaw) -> float:
    """The Gamma shape, for one cell, that matches the law's fourth moment: 1 for the continuous Laplace law.

    A Laplace variable is a Gaussian of exponential variance; that of an orthonormal coefficient of w cells is the
    mean of w such: Gamma of w times that shape. The discrete law's kurtosis, 5 + cosh(1/s), is a little higher than 6.
    The discrete Gaussian law's is 3 but for σ below about 1, so its shape is beyond all measure.
    """
    excess = law.fourth_moment / law.variance / law.variance - 3.0
    if not isfinite(excess):
        return 1.0
    return 3.0 / excess if excess > 1e-9 else inf


def noise_nodes(shape: float) -> tuple[Floats, Floats]:
    """Variances and weights: the noise, in standard deviations, is Gaussian of each variance with each probability.

    Gauss–Laguerre quadrature of the Gamma law of mean 1 (Golub and Welsch: the nodes are eigenvalues).
    """
    if shape >= GAUSSIAN_FROM:
        return np.ones(1), np.ones(1)
    shape = max(shape, LEAST_SHAPE)
    order = np.arange(1, NODES)
    beside = np.sqrt(order * (order + shape - 1))
    jacobi = np.diag(2.0 * np.arange(NODES) + shape) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    return nodes / shape, vectors[0] ** 2


@kernel
def gap_deviations(level: int, variances: Floats, out: Floats) -> None:
    """The noise of the orthonormal detail of 2^level cells around each gap, as a standard deviation.

    `variances[i − 1]` is that of an *aligned* detail of 2^i cells, one of the decimated transform that begins with the
    first cell; aligned details are taken for uncorrelated. Any other shift mixes in finer ones: the three edges of the
    detail cut an aligned interval of 2^i cells at a distance m from its nearer end, and pick up 6m²/2^(i+level) of its
    variance. Coarser ones would be picked up too: they count with the level's own variance.
    """
    own = variances[level - 1]
    for gap in range(len(out)):
        variance = own
        for finer in range(1, level):
            beyond = variances[finer - 1] - own
            if beyond != 0.0:
                width = 1 << finer
                past = gap & (width - 1)
                cut = float(min(past, width - past))
                variance += beyond * 6.0 * cut * cut / (float(width) * (1 << level))
        out[gap] = sqrt(variance)
