"""Terms: the noise and the choices that shares of a budget buy, and refusals before anything is spent."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from sparsedp.mechanisms.base import private_table
from sparsedp.mechanisms.terms import Terms, checked_pure_terms, checked_terms, root_below
from sparsedp.noise.source import RandomSource, SeededSource, SystemSource
from sparsedp.privacy.guarantee import Expense


def terms_for(budget: sdp.Budget, sampler: str = "sparsedp", source: RandomSource | None = None) -> Terms:
    return checked_terms(budget, None, None, 1, "add_remove", None, sampler, source)


BUDGETS = [sdp.Budget(epsilon="0.7"), sdp.Budget(rho="0.3"), sdp.Budget(epsilon="0.7", delta="1e-8")]
EVERY_KIND = pytest.mark.parametrize("budget", BUDGETS, ids=str)
shares = st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50)
sensitivities = st.integers(1, 10**6)


@given(sensitivities, sensitivities, shares)
def test_a_share_of_epsilon_buys_laplace_noise(first: int, second: int, share: Fraction) -> None:
    noise = terms_for(BUDGETS[0]).noise(first, second, share, "look")
    assert noise.law == DiscreteLaplaceLaw(first / (Fraction(7, 10) * share))
    assert noise.expense == Expense("look", sdp.Budget(epsilon=Fraction(7, 10) * share))


@given(sensitivities, sensitivities, shares)
def test_a_share_of_rho_buys_gaussian_noise(first: int, second: int, share: Fraction) -> None:
    for budget in BUDGETS[1:]:
        terms = terms_for(budget)
        rho = terms.budget.rho_spent
        assert rho is not None
        noise = terms.noise(first, second, share, "look")
        assert noise.law == DiscreteGaussianLaw(second / (2 * rho * share))
        assert noise.expense == Expense("look", sdp.Budget(rho=rho * share))


@EVERY_KIND
def test_phases_make_up_one_guarantee(budget: sdp.Budget) -> None:
    terms = terms_for(budget)
    phases = [terms.noise(3, 5, Fraction(part, 6), f"phase {part}").expense for part in (1, 2)]
    _, choice = terms.choice(Fraction(1, 2), "choose")
    guarantee = terms.guarantee([*phases, choice])
    assert guarantee.spent == budget
    assert guarantee.total == terms.budget.part(Fraction(1))
    assert [terms.share_of(expense) for expense in guarantee.expenses] == [
        Fraction(1, 6),
        Fraction(1, 3),
        Fraction(1, 2),
    ]
    assert guarantee.private
    with pytest.raises(InvalidInput, match="shares that add up to 1"):
        terms.guarantee([*phases, choice, terms.noise(1, 1, Fraction(1, 10**9)).expense])


def test_phases_are_paid_in_one_kind() -> None:
    with pytest.raises(InvalidInput, match="paid in one kind"):
        terms_for(BUDGETS[0]).share_of(Expense("look", sdp.Budget(rho=1)))


@pytest.mark.parametrize("sampler", ["sparsedp", "opendp"])
@EVERY_KIND
def test_what_is_added_has_the_law_that_is_stated(budget: sdp.Budget, sampler: str) -> None:
    noise = terms_for(budget, sampler).noise(20, 100, Fraction(1, 2))
    values = np.full(20_000, 7, dtype=np.int64)
    noise.add_to(values)
    squares = (values - 7.0) ** 2
    spread = np.sqrt((noise.law.fourth_moment - noise.law.variance**2) / values.size)
    assert abs(squares.mean() - noise.law.variance) < 5 * spread
    assert abs(squares.mean() - 1.25 * noise.law.variance) > 5 * spread


def test_each_adding_draws_afresh() -> None:
    noise = terms_for(BUDGETS[1], source=SystemSource()).noise(1000, 1000)
    first, second = np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64)
    noise.add_to(first)
    noise.add_to(second)
    assert (first != second).any()


def test_seeded_noise_protects_nobody() -> None:
    terms = terms_for(BUDGETS[1], source=SeededSource(1))
    assert not terms.guarantee([terms.noise(1, 1).expense]).private


@given(shares)
def test_a_choice_costs_an_eighth_of_its_square(share: Fraction) -> None:
    pure, in_rho = terms_for(BUDGETS[0]), terms_for(BUDGETS[1])
    assert pure.choice(share, "choose")[0] == Fraction(7, 10) * share
    epsilon, expense = in_rho.choice(share, "choose")
    assert expense.budget.rho == Fraction(3, 10) * share
    assert epsilon**2 / 8 <= expense.budget.rho < (epsilon * (1 + Fraction(1, 2**40))) ** 2 / 8


@given(shares)
def test_a_pure_step_costs_half_its_square(share: Fraction) -> None:
    pure, in_rho = terms_for(BUDGETS[0]), terms_for(BUDGETS[1])
    part = Fraction(7, 10) * share
    assert pure.pure(share, "look") == (part, Expense("look", sdp.Budget(epsilon=part)))
    epsilon, expense = in_rho.pure(share, "look")
    assert expense.purpose == "look"
    assert expense.budget.rho == Fraction(3, 10) * share
    assert epsilon**2 / 2 <= expense.budget.rho < (epsilon * (1 + Fraction(1, 2**40))) ** 2 / 2


@given(st.integers(-300, 60), st.fractions(min_value=1, max_value=10, max_denominator=1000))
def test_roots_keep_their_digits_however_small(power: int, factor: Fraction) -> None:
    number = factor * Fraction(10) ** power
    root = root_below(number)
    assert root**2 <= number < (root * (1 + Fraction(1, 2**45))) ** 2
    assert root**2 <= number < (root + Fraction(1, 2**47)) ** 2


def test_the_root_of_nothing() -> None:
    assert root_below(Fraction(0)) == 0


def test_streams_take_pure_epsilon_alone() -> None:
    for budget in BUDGETS[1:]:
        with pytest.raises(InvalidInput, match="epsilon is of type"):
            checked_pure_terms(budget, 1, "add_remove", None, "sparsedp", None)
        with pytest.raises(InvalidInput, match="give epsilon alone"):
            _ = terms_for(budget).epsilon


TOO_SMALL = [{"epsilon": "1e-30"}, {"rho": "1e-60"}, {"epsilon": "1e-60", "delta": "1e-70"}]


@pytest.mark.parametrize(
    "mechanism", [sdp.Laplace(), sdp.Privelet(), sdp.Compressive(seed=1)], ids=lambda each: each.name
)
@pytest.mark.parametrize("asked", TOO_SMALL, ids=str)
def test_noise_that_would_not_fit_is_refused_and_the_remedy_works(
    mechanism: sdp.Laplace, asked: dict[str, str]
) -> None:
    (named, *_) = asked
    with pytest.raises(InvalidInput, match=f"^{named} is .*so small that the noise would not fit") as caught:
        mechanism.release(np.arange(40), **asked)  # type: ignore[arg-type]
    remedy = re.search(r"give at least (\S+)\.$", str(caught.value))
    assert remedy is not None
    assert mechanism.release(np.arange(40), **{**asked, named: remedy.group(1)}).private  # type: ignore[arg-type]


def test_the_widest_noise_that_fits_is_drawn_by_both_samplers() -> None:
    for sampler in ("sparsedp", "opendp"):
        widest = Fraction(1, 2**111)
        assert sdp.Laplace().measure([0, 0], rho=widest, sampler=sampler).noise_variance == 2.0**110
    ledger = sdp.Ledger(rho=1)
    with pytest.raises(InvalidInput, match="would not fit"):
        sdp.Laplace().measure([0], rho=widest * (1 - Fraction(1, 10**30)), ledger=ledger)
    assert ledger.spent is None


def test_no_noise_is_drawn_that_the_ledger_has_not_paid_for() -> None:
    mechanism, table = sdp.Laplace(), private_table([1, 2], None, None, negative=False)
    terms = checked_terms(1, None, None, 1, "add_remove", sdp.Ledger(epsilon=1), "sparsedp", None)
    plan = mechanism.checked(2, terms, None)
    with pytest.raises(RuntimeError, match="has not paid for"):
        mechanism.drawn(table, plan, terms, None, None)
    assert mechanism.drawn(table, plan, terms, None, mechanism.debited(table, terms)).values.size == 2
