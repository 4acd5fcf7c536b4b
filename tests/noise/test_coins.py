"""Exact coins: bounds on probabilities against exact rational arithmetic, frequencies, and forced ties."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from exact_exponential import exp_minus, floor_between
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scripted_source import ScriptedStream

from sparsedp.errors import InvalidInput
from sparsedp.noise.coins import (
    Formula,
    LazyUniform,
    Probability,
    Rational,
    bernoulli,
    binary_digit,
    exponential,
    nonzero,
    signed_digit,
)
from sparsedp.noise.source import SeededSource

positive_rationals = st.fractions(min_value=Fraction(1, 10**12), max_value=60, max_denominator=10**12)

# Each is increasing in q on (0, 1), so bounds on q give bounds on it.
FORMULAS: list[tuple[Callable[[Fraction], Probability], Callable[[Fraction], Fraction]]] = [
    (exponential, lambda q: q),
    (binary_digit, lambda q: q / (1 + q)),
    (signed_digit, lambda q: 2 * q / (1 + q) ** 2),
    (nonzero, lambda q: 2 * q / (1 + q)),
]


@given(x=positive_rationals, which=st.sampled_from(range(len(FORMULAS))), bits=st.integers(1, 300))
def test_floors_equal_exact_rational_arithmetic(x: Fraction, which: int, bits: int) -> None:
    probability, formula = FORMULAS[which]
    low, high = exp_minus(x, bits + 128)
    assert probability(x).floor(bits) == floor_between(formula(low), formula(high), bits)


@given(x=positive_rationals, which=st.sampled_from(range(len(FORMULAS))), bits=st.integers(1, 300))
def test_enclosures_contain_the_probability_and_are_tight(x: Fraction, which: int, bits: int) -> None:
    probability, formula = FORMULAS[which]
    low, high = probability(x).enclose(bits)
    below, above = exp_minus(x, bits + 128)
    assert low <= formula(above) * 2**bits
    assert formula(below) * 2**bits <= high
    assert 0 <= high - low <= 2


def test_a_probability_next_to_one_half_is_certified_far_past_its_run_of_ones() -> None:
    # 1/2 − p is about x²/8 = 10⁻²⁴¹/…: eight hundred equal bits before the first that differs.
    x = Fraction(1, 10**120)
    bits = signed_digit(x).floor(900)
    gap = Fraction(1, 2) - Fraction(bits, 2**900)
    assert abs(gap / (x * x / 8) - 1) < Fraction(1, 10**20)


class JustAboveOneHalf(Probability):
    """A little more than one half, with bounds of one unit either way: nothing is certain before 400 places."""

    value = Fraction(1, 2) + Fraction(1, 3 * 2**400)

    def enclose(self, bits: int) -> tuple[int, int]:
        nearest = int(self.value * 2**bits)
        return nearest - 1, nearest + 1


@pytest.mark.parametrize("bits", [1, 64, 399, 420])
def test_a_floor_is_not_believed_before_both_bounds_agree(bits: int) -> None:
    assert JustAboveOneHalf().floor(bits) == int(JustAboveOneHalf.value * 2**bits)


def test_one_half_by_a_formula_is_an_error_not_an_endless_loop() -> None:
    with pytest.raises(ArithmeticError, match="power of two"):
        Formula(lambda iv: iv.mpf(1) / 3 + iv.mpf(1) / 6).floor(10)


def test_an_astronomical_exponent_is_answered_without_evaluating_it() -> None:
    assert exponential(Fraction(10**400)).floor(5000) == 0
    assert nonzero(Fraction(10**400)).enclose(64) == (0, 1)


@given(value=st.fractions(min_value=0, max_value=1), bits=st.integers(0, 200))
def test_rationals_are_exact(value: Fraction, bits: int) -> None:
    low, high = Rational(value).enclose(bits)
    assert low == Rational(value).floor(bits) == int(value * 2**bits)
    assert high - low == (value * 2**bits != low)


def test_a_formula_of_ones_own() -> None:
    third = Formula(lambda iv: iv.mpf(1) / 3)
    assert third.floor(200) == 2**200 // 3


def test_bad_probabilities_are_refused() -> None:
    with pytest.raises(InvalidInput):
        Rational(Fraction(3, 2))
    with pytest.raises(InvalidInput):
        exponential(Fraction(-1))
    with pytest.raises(ArithmeticError):
        Formula(lambda iv: 1 / iv.mpf([-1, 1])).enclose(10)


def test_threads_do_not_disturb_each_others_precision() -> None:
    jobs = [(Fraction(1, n), bits) for n in range(1, 40) for bits in (20, 500)]
    alone = [exponential(x).floor(bits) for x, bits in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda job: exponential(job[0]).floor(job[1]), jobs)) == alone


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
