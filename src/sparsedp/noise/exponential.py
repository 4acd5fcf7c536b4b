"""The exponential mechanism's draw, exact: index i with probability exp(−eᵢ) / Σⱼ exp(−eⱼ), the eⱼ rational.

Guarantee: if every exponent moves by at most ε/2 between neighbours, the draw is ε-private (`exponential.md`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from sparsedp.errors import InvalidInput
from sparsedp.noise.source import RandomSource

FIRST_PRECISION = 128
"""Bits of the uniform and of the weights in the first round; the odds of needing a second are about m²·2⁻¹²⁵."""


def draw_index(exponents: Sequence[Fraction], source: RandomSource) -> int:
    """An index of `exponents`: i with probability exactly exp(−eᵢ) / Σⱼ exp(−eⱼ).

    Inverse of the cumulative distribution, at an infinitely long uniform number U of which only as many bits are
    drawn as the answer needs: certified bounds decide, and if they cannot, both U and the bounds get more bits.
    """
    if not exponents:
        raise InvalidInput("exponents", "empty", "give at least one")
    least = min(exponents)
    distances = [exponent - least for exponent in exponents]
    precision = FIRST_PRECISION
    with source.draw() as stream:
        uniform = stream.bits(precision)
        while True:
            index = decide(distances, uniform, precision)
            if index is not None:
                return index
            uniform = (uniform << precision) | stream.bits(precision)
            precision *= 2


def decide(distances: Sequence[Fraction], uniform: int, precision: int) -> int | None:
    """The index that every U in [uniform, uniform + 1)·2^−precision leads to; None if the bounds do not settle it.

    `distances` are the exponents less their smallest, so that one weight is 1 and none is more.
    """
    bounds = [exp_minus_bounds(distance, precision) for distance in distances]
    lower = list(accumulate(low for low, _ in bounds))
    upper = list(accumulate(high for _, high in bounds))
    # The first index whose cumulative weight surely exceeds U·total; the last one's does always, as U < 1.
    at_most = (uniform + 1) * upper[-1]
    index = min(bisect_left(lower, -(-at_most >> precision)), len(lower) - 1)
    if index == 0 or uniform * lower[-1] >= upper[index - 1] << precision:
        return index
    return None


def exp_minus_bounds(exponent: Fraction, precision: int) -> tuple[int, int]:
    """Integers with low ≤ exp(−exponent)·2^precision ≤ high and high − low ≤ 2, for exponent ≥ 0, precision ≥ 64.

    Fixed point with its error counted: halve the argument until it is below 1/256, sum the power series, square
    back. `exponential.md` proves the count.
    """
    if exponent >= precision:
        return 0, 1
    halvings = precision.bit_length() + 8
    working = precision + halvings + precision.bit_length() + 8
    one = 1 << working
    argument = (exponent.numerator << (working - halvings)) // exponent.denominator
    terms = working // 8 + 1
    value, term = one, one
    for order in range(1, terms):
        term = (term * argument >> working) // order
        value += -term if order % 2 else term
    for _ in range(halvings):
        value = value * value >> working
    error = (3 * terms + 8) << halvings
    drop = working - precision
    return max(0, (value - error) >> drop), min(1 << precision, -((-value - error) >> drop))
