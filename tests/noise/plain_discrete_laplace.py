"""Discrete Laplace noise as Python integers of any length, one at a time: the plain version to check others by."""

from __future__ import annotations

from fractions import Fraction

from sparsedp.noise.discrete_laplace import ExactGeometric
from sparsedp.noise.source import RandomSource


def plain_discrete_laplace(scale: Fraction, size: int, source: RandomSource) -> list[int]:
    """Differences of two independent geometric variables: the definition."""
    geometric = ExactGeometric(scale)
    with source.draw() as stream:
        return [geometric.draw(stream) - geometric.draw(stream) for _ in range(size)]
