"""Between ρ and (ε, δ): never more than is true, hardly ever less, against a plain minimisation at 50 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.privacy.conversion import LEAST_DELTA, delta_of, epsilon_of, rho_for

BUDGETS = [
    ("1/8", "1"),
    ("1/8", "2"),
    ("1/2", "4"),
    ("0.01", "0.5"),
    ("1e-6", "1e-3"),
    ("1e-6", "0.02"),
    ("10", "40"),
    ("3", "1"),
    ("1", "1e-9"),
    ("1e-90", "1e-50"),
]


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def at(alpha: mpmath.mpf, rho: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The bound at one α, as its authors write it."""
    exponent = (alpha - 1) * (alpha * number(rho) - number(epsilon))
    return mpmath.exp(exponent) / (alpha - 1) * (1 - 1 / alpha) ** alpha


def least(rho: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """The least over all α: a dense grid in log(α − 1), then ever finer ones around its best point."""
    with mpmath.workdps(150):
        low, high = mpmath.mpf(-300), mpmath.mpf(300)
        for _ in range(14):
            grid = [low + (high - low) * i / 60 for i in range(61)]
            values = [at(1 + mpmath.exp(a), rho, epsilon) for a in grid]
            best = values.index(min(values))
            low, high = grid[max(0, best - 1)], grid[min(60, best + 1)]
        return min(values)


@pytest.mark.parametrize(("rho", "epsilon"), BUDGETS)
def test_delta_is_the_infimum_rounded_up(rho: str, epsilon: str) -> None:
    found, true = delta_of(rho, epsilon), least(Fraction(rho), Fraction(epsilon))
    with mpmath.workdps(50):
        assert true <= number(found) <= true * (1 + mpmath.mpf(10) ** -8)


def test_known_values() -> None:
    # By the grid of `least`, once and for all.
    assert float(delta_of("1/8", 1)) == pytest.approx(0.01798544823, rel=1e-8)
    assert float(delta_of("1/8", 2)) == pytest.approx(3.948508557e-05, rel=1e-8)
    assert float(rho_for(1, "1e-6")) == pytest.approx(0.02435597, rel=1e-6)
    # The older, simpler conversion ε = ρ + 2·√(ρ·log(1/δ)) promises less.
    simple = 1 / 8 + 2 * float(mpmath.sqrt(mpmath.log(10**6) / 8))
    assert 0.85 * simple < float(epsilon_of("1/8", "1e-6")) < simple


@given(
    rho=st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6),
    epsilon=st.fractions(Fraction(1, 10**4), 50, max_denominator=10**4),
    alpha=st.fractions(Fraction(1001, 1000), 1000),
)
def test_no_order_does_better(rho: Fraction, epsilon: Fraction, alpha: Fraction) -> None:
    with mpmath.workdps(50):
        assert number(delta_of(rho, epsilon)) <= max(at(number(alpha), rho, epsilon), 1e-100) * (
            1 + mpmath.mpf(10) ** -8
        )


@given(
    rho=st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6),
    epsilon=st.fractions(Fraction(1, 10**4), 50, max_denominator=10**4),
    factor=st.fractions(Fraction(1001, 1000), 3),
)
def test_more_rho_is_more_delta_and_more_epsilon_is_less(rho: Fraction, epsilon: Fraction, factor: Fraction) -> None:
    delta = delta_of(rho, epsilon)
    assert LEAST_DELTA <= delta <= 1
    assert delta_of(rho * factor, epsilon) >= delta >= delta_of(rho, epsilon * factor)


@given(
    epsilon=st.fractions(Fraction(1, 1000), 30, max_denominator=1000),
    digits=st.integers(1, 40),
    leading=st.integers(1, 9),
)
def test_there_and_back_never_promises_more(epsilon: Fraction, digits: int, leading: int) -> None:
    delta = Fraction(leading, 10**digits)
    rho = rho_for(epsilon, delta)
    assert delta_of(rho, epsilon) <= delta
    assert epsilon_of(rho, delta) <= epsilon * (1 + Fraction(1, 10**8))
    slightly_more = Fraction(10**7 + 1, 10**7)
    assert delta_of(rho * slightly_more, epsilon) > delta
    assert delta_of(rho, epsilon_of(rho, delta)) <= delta
    assert rho_for(epsilon_of(rho, delta), delta) >= rho / slightly_more


@pytest.mark.parametrize(("epsilon", "delta"), [("1e-60", "1e-9"), ("1e-100", "1e-99"), ("1e99", "1e-99"), (1, "0.5")])
def test_far_budgets_are_answered_and_still_true(epsilon: str, delta: str) -> None:
    rho = rho_for(epsilon, delta)
    assert rho > 0
    assert delta_of(rho, epsilon) <= Fraction(delta)
    assert delta_of(rho * 2, epsilon) > Fraction(delta)


def test_a_delta_next_to_one_ends_too() -> None:
    delta = 1 - Fraction(1, 10**12)
    assert delta_of(rho_for(1, delta), 1) <= delta
    assert delta_of(1000, epsilon_of(1000, delta)) <= delta


def test_what_is_hopeless_is_one_and_what_is_negligible_is_the_least() -> None:
    assert delta_of("1e300", 1) == 1
    assert delta_of("1e-90", "1e90") == LEAST_DELTA
    assert epsilon_of("1e-50", "0.5") < Fraction(1, 10**90)


def test_answers_stay_short() -> None:
    for answer in (delta_of("1/3", "1/7"), rho_for("1/3", "1e-7"), epsilon_of("1/3", "1e-7")):
        assert len(str(answer.numerator)) <= 11


@pytest.mark.parametrize("value", [0, -1, None, "inf"])
def test_bad_arguments_are_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidInput, match="rho"):
        delta_of(value, 1)
    with pytest.raises(InvalidInput, match="epsilon"):
        delta_of(1, value)
    with pytest.raises(InvalidInput, match="delta"):
        rho_for(1, value)


@pytest.mark.parametrize("delta", ["1e-101", 1, 2])
def test_a_delta_that_cannot_be_met_is_refused(delta: object) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        rho_for(1, delta)
    with pytest.raises(InvalidInput, match="delta"):
        epsilon_of(1, delta)
