"""Exact coins: right frequencies, and right decisions when the uniform number hugs the probability."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scripted_source import ScriptedStream

from sparsedp.noise.bernoulli import LazyUniform, bernoulli
from sparsedp.noise.probability import Probability, Rational, exponential
from sparsedp.noise.source import SeededSource


def scripted(words: list[int]) -> ScriptedStream:
    return ScriptedStream(lambda _: None, [], words)


def words_of(probability: Probability, count: int) -> list[int]:
    bits = probability.floor(64 * count)
    return [bits >> 64 * (count - 1 - i) & (2**64 - 1) for i in range(count)]


@pytest.mark.parametrize("exponent", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(7, 2)])
def test_frequencies(exponent: Fraction) -> None:
    with SeededSource(11).draw() as stream:
        successes = sum(bernoulli(exponential(exponent), stream) for _ in range(8000))
    assert stats.binomtest(successes, 8000, float(np.exp(-float(exponent)))).pvalue > 1e-4
    assert stats.binomtest(successes, 8000, float(np.exp(-float(exponent)) * 0.7)).pvalue < 1e-4


def test_certain_and_impossible() -> None:
    with SeededSource(1).draw() as stream:
        assert all(bernoulli(exponential(Fraction(0)), stream) for _ in range(50))
        assert not any(bernoulli(Rational(Fraction(0)), stream) for _ in range(50))


@pytest.mark.parametrize("equal_words", [1, 2, 5])
@pytest.mark.parametrize(("step", "expected"), [(-2, True), (2, False)])
def test_a_tie_goes_on_to_the_next_words(equal_words: int, step: int, expected: bool) -> None:
    probability = exponential(Fraction(3, 7))
    words = words_of(probability, equal_words + 1)
    words[-1] += step
    stream = scripted(words)
    assert bernoulli(probability, stream) is expected
    assert stream.exhausted


def test_a_fraction_of_a_power_of_two_is_settled_too() -> None:
    half = Rational(Fraction(1, 2))
    assert bernoulli(half, scripted([2**63 - 1])) is True
    assert bernoulli(half, scripted([2**63])) is False


def test_one_uniform_is_compared_consistently() -> None:
    ladder = [exponential(Fraction(1, k)) for k in range(1, 30)]
    with SeededSource(5).draw() as stream:
        for _ in range(200):
            uniform = LazyUniform(stream)
            answers = [uniform.below(step) for step in ladder]
            assert answers == sorted(answers)
