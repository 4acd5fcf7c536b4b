"""The table of digit probabilities, verified bit by bit, and the theorem that the digits make up the law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact_exponential import exp_minus, floor_between

from goodness_of_fit import SCALES
from sparsedp.noise.digit_table import FIRST_BITS, LATER_BITS, STORED_LATER_WORDS, DigitTable, digit_table
from sparsedp.noise.law import DiscreteLaplaceLaw

VERIFIED = [Fraction(1, 100), *SCALES, Fraction(355, 113), Fraction(10**18)]


def stored_bits(table: DigitTable, row: int, words: int) -> int:
    bits = int(table.first[row])
    for depth in range(words):
        bits = bits << LATER_BITS | int(table.later(depth)[row])
    return bits


@pytest.mark.parametrize("scale", VERIFIED)
@pytest.mark.parametrize("words", [STORED_LATER_WORDS, STORED_LATER_WORDS + 2])
def test_every_stored_bit_is_right(scale: Fraction, words: int) -> None:
    table = DigitTable(scale)
    bits = FIRST_BITS + words * LATER_BITS
    assert bits >= 128
    for row in range(table.rows):
        low, high = exp_minus(2**row / scale, bits + 160)
        if row < table.digits:
            low, high = 2 * low / (1 + low) ** 2, 2 * high / (1 + high) ** 2
        else:
            low, high = 2 * low / (1 + low), 2 * high / (1 + high)
        assert stored_bits(table, row, words) == floor_between(low, high, bits)


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_digits_and_high_part_together_make_the_law(scale: Fraction) -> None:
    table = DigitTable(scale)
    reach = 40
    spread = 2**table.digits
    total = np.zeros(2 * reach * spread + 1)
    ratio = np.exp(-spread / float(scale))
    nonzero = float(Fraction(table.probabilities[-1].floor(2000), 2**2000))
    for high in range(-reach // 2, reach // 2 + 1):
        magnitude = abs(high)
        chance = nonzero / 2 * (1 - ratio) * ratio ** (magnitude - 1) if magnitude else 1 - nonzero
        total[reach * spread + high * spread] = chance
    for row, probability in enumerate(table.probabilities[: table.digits]):
        either = float(Fraction(probability.floor(2000), 2**2001))
        total = (1 - 2 * either) * total + either * np.roll(total, 2**row) + either * np.roll(total, -(2**row))
    law = DiscreteLaplaceLaw(scale)
    for x in range(-2 * spread, 2 * spread + 1):
        assert total[reach * spread + x] == pytest.approx(law.pmf(x), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("scale", [Fraction(1, 100), *SCALES, Fraction(2**58)])
def test_the_high_part_is_left_to_ties_alone(scale: Fraction) -> None:
    # The kernel adds nothing for the last row: its first word must be 0, so that only a tie can set it.
    table = DigitTable(scale)
    assert table.rows == table.digits + 1
    assert table.first[-1] == 0
    assert table.first.max() < 2 ** (FIRST_BITS - 1)


@pytest.mark.parametrize("scale", [Fraction(2**60), Fraction(10**30), Fraction(10**200)])
def test_beyond_64_bits_there_is_no_high_part(scale: Fraction) -> None:
    table = DigitTable(scale)
    assert table.digits == table.rows == 64


def test_a_table_is_made_once_a_scale() -> None:
    assert digit_table(Fraction(11, 3)) is digit_table(Fraction(22, 6))
