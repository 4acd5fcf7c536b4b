"""Square roots of exact numbers, rounded down."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

ROOT_BITS = 48


def root_below(number: Fraction) -> Fraction:
    """√number, rounded down to a multiple of 2^−48, or to 48 binary digits where the number is below 1."""
    smaller = max(0, number.denominator.bit_length() - number.numerator.bit_length()) if number else 0
    places = ROOT_BITS + -(-smaller // 2)
    scaled = (number.numerator << 2 * places) // number.denominator
    return Fraction(isqrt(scaled), 1 << places)
