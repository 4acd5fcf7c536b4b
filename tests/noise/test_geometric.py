"""Geometric variables as big integers: the law, its digits, and its full support."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_discrete_laplace import plain_discrete_laplace
from scipy import stats
from scripted_source import ScriptedStream

from goodness_of_fit import fit_p_value
from sparsedp.noise.geometric import ExactGeometric, low_digits
from sparsedp.noise.source import SeededSource

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
