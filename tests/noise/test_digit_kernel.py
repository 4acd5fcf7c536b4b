"""The compiled comparison against every word there is, and against a plain version of itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparsedp.arrays import Integers
from sparsedp.noise.digit_kernel import BLOCK, add_digit_words
from sparsedp.noise.digit_table import digit_table
from sparsedp.noise.source import SeededSource

Words = npt.NDArray[np.uint16]


def run(words: Words, first: Words, values: Integers) -> Integers:
    """Run the kernel on a copy-free set of values; the positions of the ties."""
    ties = np.zeros(words.size, dtype=np.int64)
    sums, tied = np.zeros(BLOCK, dtype=np.int16), np.zeros(BLOCK, dtype=np.uint8)
    return ties[: add_digit_words(words, first, values, sums, tied, ties)]


def plain(words: Words, first: Words, values: Integers) -> tuple[list[int], list[int]]:
    """What the kernel should do, word by word, in Python's integers."""
    results, ties = [int(value) for value in values], []
    blocks, rows, _ = words.shape
    for block in range(blocks):
        for row in range(rows):
            for place in range(min(BLOCK, values.size - block * BLOCK)):
                sign, magnitude = divmod(int(words[block, row, place]), 2**15)
                if magnitude < first[row]:
                    results[block * BLOCK + place] += -(1 << row) if sign else 1 << row
                if magnitude == first[row]:
                    ties.append((block * rows + row) * BLOCK + place)
    return [(value + 2**63) % 2**64 - 2**63 for value in results], ties


@pytest.mark.parametrize("threshold", [0, 1, 5000, 16383])
def test_all_words_of_a_digit(threshold: int) -> None:
    words = np.arange(2**16, dtype=np.uint16).reshape(-1, 1, BLOCK)
    digits = np.zeros(2**16, dtype=np.int64)
    ties = run(words, np.array([threshold], dtype=np.uint16), digits)
    assert np.count_nonzero(digits == 1) == np.count_nonzero(digits == -1) == threshold
    assert np.count_nonzero(digits == 0) == 2**16 - 2 * threshold
    assert ties.tolist() == [threshold, 2**15 + threshold]


@given(rows=st.integers(1, 64), size=st.integers(1, 2 * BLOCK), seed=st.integers(0, 2**32))
def test_equals_the_plain_version(rows: int, size: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    blocks = -(-size // BLOCK)
    first = generator.integers(0, 2**14, rows, dtype=np.uint16)
    # Words close to the thresholds, so that ties and both outcomes are all common.
    near = first[None, :, None] + generator.integers(-1, 2, (blocks, rows, BLOCK))
    words = (np.abs(near) + 2**15 * generator.integers(0, 2, near.shape)).astype(np.uint16)
    values = generator.integers(-(2**63), 2**63, size, dtype=np.int64)
    expected, expected_ties = plain(words, first, values)
    ties = run(words, first, values)
    assert values.tolist() == expected
    assert sorted(ties.tolist()) == sorted(expected_ties)


def test_digits_have_their_frequencies_and_are_pairwise_independent() -> None:
    table = digit_table(Fraction(100))
    blocks, rows = 100, table.digits
    words = np.zeros((blocks, rows, BLOCK), dtype=np.uint16)
    with SeededSource(17).draw() as stream:
        stream.fill(words)
    digits = np.zeros((rows, blocks * BLOCK), dtype=np.int64)
    for row in range(rows):
        run(np.ascontiguousarray(words[:, row : row + 1]), table.first[row : row + 1], digits[row])
    together = np.zeros(blocks * BLOCK, dtype=np.int64)
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
