"""The law of a weighted sum of independent noise: computed, where few cells are far from a normal law."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.noise.gaussian_law import DiscreteGaussianLaw
from sparsedp.noise.law import DiscreteLaplaceLaw, IndependentLaw

GRID = 128
"""Weights that are no small multiples of one step are rounded up to a grid of this many steps below the greatest."""

LIGHT = 4
"""Weights of fewer steps of the grid are not rounded up to it."""

FINEST = 256
"""A wider Laplace law is computed at this scale, over the greatest multiple, and stretched: its steps stay fine."""

BEYOND = 1e-15
"""The probability of all sums that are left out, on either side."""


def weighted_sum_quantile(law: IndependentLaw, weights: Floats, level: float) -> float:
    """The least x with P(Σ weights·X ≤ x) ≥ level, for weights above zero and a level of at least ½.

    Exact for equal weights up to a scale of 256, and for small multiples of one step up to 256 over the greatest; for
    others a little too large.
    """
    step, margin, light = _common_step(weights), 0, 0.0
    if step is None:
        step, margin = float(weights.max()) / GRID, 1
        # So far below the greatest, weights are felt only where there are many of them: together they are normal.
        light = law.variance * float(((weights[weights < LIGHT * step] / step) ** 2).sum())
        weights = weights[weights >= LIGHT * step]
    multiples = np.ceil(weights / step - 1e-6).astype(np.int64)
    factors, counts = np.unique(multiples, return_counts=True)
    return step * (sum_quantile(law, factors, counts, level, light) + margin)


def _common_step(weights: Floats) -> float | None:
    """The step that all weights are multiples of, the greatest of at most GRID, if there is one."""
    for parts in range(1, 17):
        multiples = weights * (parts / float(weights.min()))
        if multiples.max() > GRID:
            return None
        if np.abs(multiples - np.rint(multiples)).max() < 1e-9:
            return float(weights.min()) / parts
    return None


def sum_quantile(
    law: IndependentLaw, factors: Integers, counts: Integers, level: float, normal_variance: float = 0.0
) -> float:
    """The same for whole factors, each as many times as `counts` says, and a normal variable beside them."""
    finest = max(4, FINEST // int(factors.max()))
    if isinstance(law, DiscreteLaplaceLaw) and law.scale > finest:
        narrow = DiscreteLaplaceLaw(Fraction(finest))
        stretch = sqrt(law.variance / narrow.variance)
        return stretch * sum_quantile(narrow, factors, counts, level, normal_variance / stretch**2)
    farthest = _farthest(law, factors, counts) + ceil(sqrt(-2 * log(BEYOND) * normal_variance))
    size = 1 << (2 * farthest).bit_length()
    # The characteristic function of the sum at the size-th roots of unity, inverted: the probabilities modulo `size`.
    one = _characteristic(law, size)
    places = np.arange(size // 2 + 1)
    whole = np.exp(-normal_variance / 2 * (2 * np.pi * places / size) ** 2)
    for factor, count in zip(factors.tolist(), counts.tolist(), strict=True):
        whole *= one[places * factor % size] ** count
    probabilities = np.fft.irfft(whole, size)
    # P(sum > x) for x = 0, 1, …: summed from the far end, so that small tails keep their digits.
    tails = np.cumsum(probabilities[1 : size // 2 + 1][::-1])[::-1]
    return float(np.count_nonzero(tails > 1 - level))


def _characteristic(law: IndependentLaw, size: int) -> Floats:
    """E exp(2πi·jX/size) for j = 0, …, size − 1: real, for the law is symmetric."""
    cosines = np.cos(2 * np.pi * np.arange(size) / size)
    if isinstance(law, DiscreteGaussianLaw):
        far = law.quantile(1 - BEYOND)
        cells = np.arange(size)
        return sum((2 * law.pmf(x) * cosines[cells * x % size] for x in range(1, far + 1)), np.full(size, law.pmf(0)))
    ratio = float(np.exp(-float(1 / law.scale)))
    return np.asarray((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 2 * ratio * (1 - cosines)))


def _farthest(law: IndependentLaw, factors: Integers, counts: Integers) -> int:
    """P(sum > farthest) ≤ BEYOND, by Chernoff's bound.

    A discrete Laplace variable has E exp(tX) ≤ 1/(1 − (ts)²), which is taken at t = 1/2s over the greatest factor; a
    discrete Gaussian one has E exp(tX) ≤ exp(t²σ²/2), and the bound is that of a normal sum.
    """
    if isinstance(law, DiscreteGaussianLaw):
        return 1 + ceil(sqrt(-2 * log(BEYOND) * float(law.variance_parameter) * float((counts * factors**2).sum())))
    greatest = float(factors.max())
    growth = -float((counts * np.log1p(-((factors / (2 * greatest)) ** 2))).sum())
    return 1 + ceil(2 * float(law.scale) * greatest * (growth - log(BEYOND)))
