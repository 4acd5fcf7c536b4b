"""Bounds on exp(−x) in plain rationals: an oracle that shares nothing with mpmath or the library."""

from __future__ import annotations

from fractions import Fraction


def exp_minus(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals around exp(−x), x > 0, less than 2^−bits apart: alternating series at x/2ᵏ, then k squarings."""
    halvings = (int(x) + 1).bit_length()
    small = x / 2**halvings
    working = bits + 2 * halvings + 8
    # The terms decrease, so consecutive partial sums enclose the limit.
    high = term = Fraction(1)
    low, order = 1 - small, 1
    while high - low > Fraction(1, 2**working):
        term *= small * small / (order * (order + 1))
        order += 2
        high = low + term
        low = high - term * small / order
    for _ in range(halvings):
        low, high = low * low, high * high
        low = Fraction(int(low * 2**working), 2**working)
        high = Fraction(int(high * 2**working) + 1, 2**working)
    return low, high


def floor_between(low: Fraction, high: Fraction, bits: int) -> int:
    """⌊2ᵇ·p⌋ of any p between the two; an assertion if they disagree."""
    below, above = int(low * 2**bits), int(high * 2**bits)
    assert below == above
    return below
