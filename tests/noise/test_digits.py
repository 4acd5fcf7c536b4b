"""The digits of discrete Laplace noise: their kernel, the table of their probabilities, the high ones by themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from exact_exponential import exp_minus, floor_between
from hypothesis import given
from hypothesis import strategies as st
from plain_discrete_laplace import plain_discrete_laplace
from scipy import stats
from scripted_source import ScriptedStream

from goodness_of_fit import SCALES, fit_p_value
from sparsedp.arrays import Ints
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import (
    FIRST_BITS,
    LATER_BITS,
    STORED_LATER_WORDS,
    VARIABLES_A_BLOCK,
    DigitTable,
    ExactGeometric,
    add_digit_words,
    digit_table,
    low_digits,
)
from sparsedp.noise.source import SeededSource

Words = npt.NDArray[np.uint16]


def run(words: Words, first: Words, values: Ints) -> Ints:
    """Run the kernel on a copy-free set of values; the positions of the ties."""
    ties = np.zeros(words.size, dtype=np.int64)
    sums, tied = np.zeros(VARIABLES_A_BLOCK, dtype=np.int16), np.zeros(VARIABLES_A_BLOCK, dtype=np.uint8)
    return ties[: add_digit_words(words, first, values, sums, tied, ties)]


def plain(words: Words, first: Words, values: Ints) -> tuple[list[int], list[int]]:
    """What the kernel should do, word by word, in Python's integers."""
    results, ties = [int(value) for value in values], []
    blocks, rows, _ = words.shape
    for block in range(blocks):
        for row in range(rows):
            for place in range(min(VARIABLES_A_BLOCK, values.size - block * VARIABLES_A_BLOCK)):
                sign, magnitude = divmod(int(words[block, row, place]), 2**15)
                if magnitude < first[row]:
                    results[block * VARIABLES_A_BLOCK + place] += -(1 << row) if sign else 1 << row
                if magnitude == first[row]:
                    ties.append((block * rows + row) * VARIABLES_A_BLOCK + place)
    return [(value + 2**63) % 2**64 - 2**63 for value in results], ties


@pytest.mark.parametrize("threshold", [0, 1, 5000, 16383])
def test_all_words_of_a_digit(threshold: int) -> None:
    words = np.arange(2**16, dtype=np.uint16).reshape(-1, 1, VARIABLES_A_BLOCK)
    digits = np.zeros(2**16, dtype=np.int64)
    ties = run(words, np.array([threshold], dtype=np.uint16), digits)
    assert np.count_nonzero(digits == 1) == np.count_nonzero(digits == -1) == threshold
    assert np.count_nonzero(digits == 0) == 2**16 - 2 * threshold
    assert ties.tolist() == [threshold, 2**15 + threshold]


@given(rows=st.integers(1, 64), size=st.integers(1, 2 * VARIABLES_A_BLOCK), seed=st.integers(0, 2**32))
def test_equals_the_plain_version(rows: int, size: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    blocks = -(-size // VARIABLES_A_BLOCK)
    first = generator.integers(0, 2**14, rows, dtype=np.uint16)
    # Words close to the thresholds, so that ties and both outcomes are all common.
    near = first[None, :, None] + generator.integers(-1, 2, (blocks, rows, VARIABLES_A_BLOCK))
    words = (np.abs(near) + 2**15 * generator.integers(0, 2, near.shape)).astype(np.uint16)
    values = generator.integers(-(2**63), 2**63, size, dtype=np.int64)
    expected, expected_ties = plain(words, first, values)
    ties = run(words, first, values)
    assert values.tolist() == expected
    assert sorted(ties.tolist()) == sorted(expected_ties)


def test_digits_have_their_frequencies_and_are_pairwise_independent() -> None:
    table = digit_table(Fraction(100))
    blocks, rows = 100, table.digits
    words = np.zeros((blocks, rows, VARIABLES_A_BLOCK), dtype=np.uint16)
    with SeededSource(17).draw() as stream:
        stream.fill(words)
    digits = np.zeros((rows, blocks * VARIABLES_A_BLOCK), dtype=np.int64)
    for row in range(rows):
        run(np.ascontiguousarray(words[:, row : row + 1]), table.first[row : row + 1], digits[row])
    together = np.zeros(blocks * VARIABLES_A_BLOCK, dtype=np.int64)
    run(words, table.first[:rows], together)
    assert (together == (digits << np.arange(rows)[:, None]).sum(axis=0)).all()

    for row in range(rows):
        either = table.probabilities[row].floor(60) / 2**60
        expected = np.array([either / 2, 1 - either, either / 2]) * digits.shape[1]
        likely = expected > 5
        seen = np.bincount(digits[row] + 1, minlength=3)
        if likely.all():
            assert stats.chisquare(seen, expected).pvalue > 1e-4
        else:
            assert seen[~likely].sum() <= 30
    # The last of the eleven digits is ±1 a handful of times only: too rarely for a test of its pairs.
    common = [row for row in range(rows) if min(np.bincount(digits[row] + 1, minlength=3)) > 100]
    assert common == list(range(rows - 1))
    pairs = list(combinations(common, 2))
    assert len(pairs) == 45
    for one, other in pairs:
        seen = np.bincount(3 * digits[one] + digits[other] + 4, minlength=9).reshape(3, 3)
        assert stats.chi2_contingency(seen).pvalue > 1e-5


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


ALWAYS, NEVER = 0, 2**64 - 1


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**30))
def test_the_number_of_low_digits_is_the_least_that_suffices(scale: Fraction) -> None:
    digits = low_digits(scale)
    assert 2**digits >= 17 * scale
    assert digits == 0 or 2 ** (digits - 1) < 17 * scale


@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(1, 3), Fraction(7, 2)])
def test_differences_follow_the_discrete_laplace_law(scale: Fraction) -> None:
    sample = np.array(plain_discrete_laplace(scale, 3000, SeededSource(2)))
    if scale < Fraction(1, 40):
        assert not sample.any()
    else:
        assert fit_p_value(sample, scale) > 1e-4
        assert fit_p_value(sample, scale * Fraction(5, 4)) < 1e-4


def test_digits_of_a_geometric_have_their_frequencies_and_are_independent() -> None:
    scale, count = Fraction(5), 4000
    geometric = ExactGeometric(scale)
    with SeededSource(3).draw() as stream:
        sample = np.array([geometric.draw(stream) for _ in range(count)])
    digits = [sample >> i & 1 for i in range(5)]
    for i, digit in enumerate(digits):
        q = np.exp(-(2**i) / float(scale))
        assert stats.binomtest(int(digit.sum()), count, q / (1 + q)).pvalue > 1e-4
    for one, other in combinations(digits, 2):
        table = np.bincount(2 * one + other, minlength=4).reshape(2, 2)
        assert stats.chi2_contingency(table).pvalue > 1e-4


def test_support_has_no_end() -> None:
    scale = Fraction(3)
    digits = low_digits(scale)
    successes = 12345
    stream = ScriptedStream(lambda _: None, [], [NEVER] * digits + [ALWAYS] * successes + [NEVER])
    assert ExactGeometric(scale).draw(stream) == successes << digits
    assert stream.exhausted


def test_a_scale_of_hundreds_of_digits_gives_integers_of_that_size() -> None:
    sample = plain_discrete_laplace(Fraction(10**100), 20, SeededSource(4))
    assert any(value > 0 for value in sample)
    assert any(value < 0 for value in sample)
    assert 10**98 < sum(map(abs, sample)) / 20 < 10**102
