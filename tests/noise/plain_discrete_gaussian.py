"""Discrete Gaussian noise as Python integers, one at a time, by another method: the plain version to check by."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from sparsedp.noise.coins import bernoulli, exponential
from sparsedp.noise.discrete_laplace import ExactGeometric
from sparsedp.noise.source import RandomSource


def plain_discrete_gaussian(variance: Fraction, size: int, source: RandomSource) -> list[int]:
    """Canonne, Kamath and Steinke's: a discrete Laplace variable, kept with probability exp(−(|y| − σ²/t)²/2σ²)."""
    t = isqrt(int(variance)) + 1
    geometric = ExactGeometric(Fraction(t))
    kept: list[int] = []
    with source.draw() as stream:
        while len(kept) < size:
            y = geometric.draw(stream) - geometric.draw(stream)
            if bernoulli(exponential((abs(y) - variance / t) ** 2 / (2 * variance)), stream):
                kept.append(y)
    return kept
