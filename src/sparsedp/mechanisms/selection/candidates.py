"""The sparsities S that may be chosen and the rows k(S) each would take: functions of public numbers alone.

k(S) = ⌈C·S·log₂(n/S)⌉. The logarithm is a rational computed in integers, so that every machine agrees on k.
"""

from __future__ import annotations

from fractions import Fraction

LOG_BITS = 40
GRID_DIVISOR = 32
SMALLEST_RATIO = 16


def log2_ratio(numerator: int, denominator: int) -> Fraction:
    """log₂(numerator/denominator) for numerator ≥ denominator ≥ 1: below it by less than 2⁻³⁹, exact for powers of two.

    Digit by digit: square the mantissa, and a result of 2 or more is a digit 1. Mantissas keep 128 bits, rounded down.
    """
    whole = (numerator // denominator).bit_length() - 1
    one = 1 << 128
    mantissa = (numerator << 128) // (denominator << whole)
    digits = 0
    for _ in range(LOG_BITS):
        mantissa = mantissa * mantissa >> 128
        digit = int(mantissa >= 2 * one)
        mantissa >>= digit
        digits = 2 * digits + digit
    return whole + Fraction(digits, 1 << LOG_BITS)


def spread(cells: int, sparsity: int) -> Fraction:
    """S·log₂(n/S): up to a constant, the rows that S coefficients among n need."""
    return sparsity * log2_ratio(cells, sparsity)


def rows_for(cells: int, sparsity: int, rows_constant: Fraction) -> int:
    """k(S) = ⌈C·S·log₂(n/S)⌉, but at least S and at most n (both needed only for S near n, or n tiny)."""
    product = rows_constant * spread(cells, sparsity)
    return min(cells, max(sparsity, -(-product.numerator // product.denominator)))


def sparsity_candidates(cells: int, rows_constant: Fraction) -> tuple[int, ...]:
    """Every S from 1 to 64, then steps of about 3 %, up to n/16, as long as k(S) grows and is at most n; never empty.

    S·log₂(n/S) falls again beyond n/e, where "sparser" would mean "noisier": n/16 is well before that. There are fewer
    than 400 candidates for n = 2²⁴ and 600 for n = 2³¹.
    """
    chosen = [1]
    rows = rows_for(cells, 1, rows_constant)
    sparsity = 2
    while sparsity <= cells // SMALLEST_RATIO:
        if rows_constant * spread(cells, sparsity) > cells:
            break
        more = rows_for(cells, sparsity, rows_constant)
        if more > rows:
            chosen.append(sparsity)
            rows = more
        sparsity += max(1, sparsity // GRID_DIVISOR)
    return tuple(chosen)
