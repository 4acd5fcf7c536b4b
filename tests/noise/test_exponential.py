"""The exponential mechanism's draw: exact probabilities, certified bounds, refinement on ambiguity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from time import perf_counter

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import chisquare

from sparsedp.errors import InvalidInput
from sparsedp.noise.exponential import FIRST_PRECISION, decide, draw_index, exp_minus_bounds
from sparsedp.noise.source import BitStream, RandomSource, SeededSource, SystemSource

EXPONENTS = [Fraction(7, 3), Fraction(0), Fraction(1, 10), Fraction(5, 2), Fraction(1), Fraction(1, 7), Fraction(-1, 2)]


class Script(BitStream):
    """Bits written down in advance; asking for more than were written fails."""

    def __init__(self, answers: Sequence[int]) -> None:
        self._answers = list(answers)
        self.asked: list[int] = []

    def bits(self, count: int) -> int:
        self.asked.append(count)
        return self._answers.pop(0)


class ScriptedSource(RandomSource):
    def __init__(self, *answers: int) -> None:
        self.script = Script(answers)

    def key(self) -> bytes:
        raise AssertionError("a scripted draw uses no key")

    @contextmanager
    def draw(self) -> Iterator[BitStream]:
        yield self.script


def probabilities(exponents: Sequence[Fraction]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = np.array([float(mpmath.exp(-mpmath.mpf(e.numerator) / e.denominator)) for e in exponents])
    total = float(weights.sum())
    return np.asarray(weights / total, dtype=np.float64)


def counts(exponents: Sequence[Fraction], draws: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    source = SeededSource(seed)
    return np.bincount([draw_index(exponents, source) for _ in range(draws)], minlength=len(exponents))


def test_frequencies_match_the_exact_probabilities_and_reject_perturbed_ones() -> None:
    draws = 20_000
    seen = counts(EXPONENTS, draws, seed=1)
    assert chisquare(seen, draws * probabilities(EXPONENTS)).pvalue > 1e-3
    for index in range(len(EXPONENTS)):
        perturbed = list(EXPONENTS)
        perturbed[index] += Fraction(1, 3)
        assert chisquare(seen, draws * probabilities(perturbed)).pvalue < 1e-6


@given(
    st.fractions(min_value=0, max_value=300, max_denominator=10**6),
    st.sampled_from([64, 128, 256, 1024]),
)
def test_weight_bounds_enclose_the_exponential(exponent: Fraction, precision: int) -> None:
    low, high = exp_minus_bounds(exponent, precision)
    with mpmath.workprec(3 * precision + 64):
        exact = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator) * mpmath.mpf(2) ** precision
        assert low <= exact <= high
    assert 0 <= high - low <= 2


def test_weight_bounds_at_the_ends() -> None:
    low, high = exp_minus_bounds(Fraction(0), 128)
    assert high == 2**128
    assert low >= 2**128 - 2
    assert exp_minus_bounds(Fraction(10**30), 128) == (0, 1)
    assert exp_minus_bounds(Fraction(128), 128) == (0, 1)


@given(
    st.lists(st.fractions(min_value=-50, max_value=50, max_denominator=1000), min_size=1, max_size=8),
    st.integers(0, 2**FIRST_PRECISION - 1),
)
def test_a_decision_is_the_inverse_of_the_distribution(exponents: list[Fraction], uniform: int) -> None:
    distances = [e - min(exponents) for e in exponents]
    decided = decide(distances, uniform, FIRST_PRECISION)
    with mpmath.workprec(400):
        weights = [mpmath.exp(-mpmath.mpf(d.numerator) / d.denominator) for d in distances]
        target = mpmath.mpf(uniform) / 2**FIRST_PRECISION * mpmath.fsum(weights)
        slow = next(i for i in range(len(weights)) if target < mpmath.fsum(weights[: i + 1]))
    assert decided is None or decided == slow


def test_ambiguity_extends_the_same_uniform_number() -> None:
    # Two equal weights: the boundary is 1/2 exactly, and bits 1000… leave the first round undecided.
    half = 1 << (FIRST_PRECISION - 1)
    equal = [Fraction(3), Fraction(3)]
    assert decide([Fraction(0), Fraction(0)], half, FIRST_PRECISION) is None
    above = ScriptedSource(half, 1 << (FIRST_PRECISION - 5))
    assert draw_index(equal, above) == 1
    assert above.script.asked == [FIRST_PRECISION, FIRST_PRECISION]
    below = ScriptedSource(half - 1, (1 << FIRST_PRECISION) - 1 - (1 << (FIRST_PRECISION - 5)))
    assert draw_index(equal, below) == 0
    longer = ScriptedSource(half, 0, 1 << (2 * FIRST_PRECISION - 5))
    assert draw_index(equal, longer) == 1
    assert longer.script.asked == [FIRST_PRECISION, FIRST_PRECISION, 2 * FIRST_PRECISION]


def test_an_irrational_boundary_is_refined_too() -> None:
    exponents = [Fraction(0), Fraction(1)]
    with mpmath.workprec(2000):
        boundary = 1 / (1 + mpmath.exp(-1))
        first = int(mpmath.floor(boundary * 2**FIRST_PRECISION))
        rest = int(mpmath.floor(boundary * 2 ** (2 * FIRST_PRECISION))) - (first << FIRST_PRECISION)
    assert draw_index(exponents, ScriptedSource(first, rest - 100)) == 0
    assert draw_index(exponents, ScriptedSource(first, rest + 100)) == 1


def test_huge_differences_leave_one_candidate() -> None:
    source = SystemSource()
    exponents = [Fraction(10**40), Fraction(-(10**40)), Fraction(0)]
    assert {draw_index(exponents, source) for _ in range(20)} == {1}
    assert draw_index(exponents, ScriptedSource(2**FIRST_PRECISION - 1, 0)) == 1


def test_one_candidate_and_the_extreme_bits() -> None:
    assert draw_index([Fraction(5)], ScriptedSource(0)) == 0
    assert draw_index([Fraction(5)], ScriptedSource(2**FIRST_PRECISION - 1)) == 0
    assert draw_index(EXPONENTS, ScriptedSource(0)) == 0
    assert draw_index(EXPONENTS, ScriptedSource(2**FIRST_PRECISION - 1)) == len(EXPONENTS) - 1


def test_no_candidate_is_refused() -> None:
    with pytest.raises(InvalidInput, match="exponents"):
        draw_index([], SystemSource())


def test_thousands_of_candidates_are_quick() -> None:
    rng = np.random.default_rng(3)
    exponents = [Fraction(int(v), 10**9 + 7) for v in rng.integers(0, 10**11, 3000)]
    draw_index(exponents, SystemSource())
    started = perf_counter()
    draw_index(exponents, SystemSource())
    assert perf_counter() - started < 1.0


def rho_between(first: Sequence[float], second: Sequence[float]) -> float:
    """The least ρ with D_α ≤ αρ between the draws of two lists of exponents, over a grid of orders α."""
    p, q = (-np.array(exponents) - logsumexp(-np.array(exponents)) for exponents in (first, second))
    orders = np.concatenate([1 + np.geomspace(1e-3, 1, 20), np.geomspace(2, 200, 20)])
    rhos: list[float] = [logsumexp(order * p + (1 - order) * q) / (order - 1) / order for order in orders]
    return max(rhos)


@given(
    st.lists(st.tuples(st.floats(0, 6), st.floats(-0.5, 0.5)), min_size=2, max_size=12),
    st.floats(0.05, 3),
)
def test_the_draw_is_an_eighth_of_epsilon_squared_concentrated(
    moves: list[tuple[float, float]], epsilon: float
) -> None:
    here = [exponent for exponent, _ in moves]
    there = [exponent + epsilon * move for exponent, move in moves]
    assert rho_between(here, there) <= epsilon**2 / 8 * (1 + 1e-6) + 1e-9


def test_the_eighth_is_nearly_reached() -> None:
    """Two even answers, one exponent up and one down: no smaller fraction would do."""
    epsilon = 0.05
    assert rho_between([0, 0], [epsilon / 2, -epsilon / 2]) > epsilon**2 / 8 * 0.99
