"""The noise of a Haar coefficient: a sum of Laplace variables as a Gaussian whose variance is itself random."""

from __future__ import annotations

from math import isfinite

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.noise.law import DiscreteLaplaceLaw

NODES = 8
"""Of the quadrature over the random variance; exact for its first 16 moments."""

GAUSSIAN_FROM = 64.0
"""From this Gamma shape on, the variance hardly varies and the noise is taken for Gaussian."""

LEAST_SHAPE = 0.5
"""At scales well below 1 the discrete law is nearly always 0, which no Gamma variance resembles: stop here."""


def variance_shape(law: DiscreteLaplaceLaw) -> float:
    """The Gamma shape, for one cell, that matches the law's fourth moment: 1 for the continuous Laplace law.

    A Laplace variable is a Gaussian of exponential variance. In the mean of squares over w cells the variance is Gamma of
    w times that shape. The discrete law has a little more kurtosis than the continuous one: E X⁴ = (5 + cosh(1/s))·Var².
    """
    excess = law.fourth_moment / law.variance / law.variance - 3.0
    return 3.0 / excess if isfinite(excess) else 1.0


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
