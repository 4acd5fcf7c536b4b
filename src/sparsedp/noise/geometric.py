"""Exact geometric variables as Python integers: no width, no truncation, one at a time.

The slow path of the vectorised sampler, taken for its rare high digits.
"""

from __future__ import annotations

from fractions import Fraction

from sparsedp.noise.bernoulli import bernoulli
from sparsedp.noise.probability import binary_digit, exponential
from sparsedp.noise.source import BitStream

CERTAIN = 17
"""M digits are drawn one by one, where 2ᴹ ≥ 17·s: a higher one is set with probability below 2⁻²⁴."""


def low_digits(scale: Fraction) -> int:
    """M: the least M ≥ 0 with 2ᴹ ≥ 17·scale. A function of the scale alone, which is public."""
    return (-(-CERTAIN * scale.numerator // scale.denominator) - 1).bit_length()


class ExactGeometric:
    """G on 0, 1, 2, … with P(G = g) ∝ exp(−g/s), drawn digit by digit."""

    def __init__(self, scale: Fraction) -> None:
        digits = low_digits(scale)
        self._digits = [binary_digit(2**i / scale) for i in range(digits)]
        self._carry_on = exponential(2**digits / scale)

    def draw(self, stream: BitStream) -> int:
        """One variable: M independent digits, and above them a geometric count of successes."""
        low = sum(1 << i for i, digit in enumerate(self._digits) if bernoulli(digit, stream))
        high = 0
        while bernoulli(self._carry_on, stream):
            high += 1
        return low + (high << len(self._digits))
