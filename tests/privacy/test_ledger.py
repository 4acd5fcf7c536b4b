"""The ledger: never over the total, never copied, nothing taken when it refuses."""

import copy
import os
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import BudgetExceeded, InvalidInput, PrivateSide
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger


@given(st.lists(st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100), max_size=12))
def test_never_more_than_the_total_and_refusals_take_nothing(requests: list[Fraction]) -> None:
    ledger = Ledger(epsilon=2)
    taken = Fraction(0)
    for request in requests:
        if taken + request <= 2:
            ledger.debit(Budget(epsilon=request), "test")
            taken += request
        else:
            with pytest.raises(BudgetExceeded):
                ledger.debit(Budget(epsilon=request), "test")
        assert (ledger.spent.epsilon if ledger.spent else 0) == taken


def test_the_refusal_says_what_is_left() -> None:
    ledger = Ledger(epsilon=1)
    ledger.debit(Budget(epsilon="0.7"), "first")
    with pytest.raises(
        BudgetExceeded, match=r"ε = 0\.4 was asked for and ε = 0\.3 is left.*Nothing was spent"
    ) as caught:
        ledger.debit(Budget(epsilon="0.4"), "second")
    assert caught.value.remaining == Budget(epsilon="0.3")
    ledger.debit(Budget(epsilon="0.3"), "third")
    assert ledger.remaining is None
    with pytest.raises(BudgetExceeded, match="nothing is left"):
        ledger.debit(Budget(epsilon="0.001"), "fourth")
    assert [entry.purpose for entry in ledger.entries] == ["first", "third"]


def test_racing_threads_cannot_overspend() -> None:
    ledger = Ledger(epsilon=1)

    def take(_: int) -> bool:
        try:
            ledger.debit(Budget(epsilon="0.1"), "race")
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(100))) == 10
    assert ledger.spent == ledger.total


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_ledger_is_never_copied(duplicate: object) -> None:
    assert callable(duplicate)
    with pytest.raises(PrivateSide, match="second budget"):
        duplicate(Ledger(epsilon=1))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_cannot_spend() -> None:
    ledger = Ledger(epsilon=1)
    child = os.fork()
    if child == 0:
        try:
            ledger.debit(Budget(epsilon="0.1"), "child")
        except PrivateSide:
            os._exit(7)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    assert ledger.spent is None


def test_the_total_cannot_be_raised() -> None:
    with pytest.raises(AttributeError):
        Ledger(epsilon=1).total = Budget(epsilon=2)  # type: ignore[misc]


PURE, APPROXIMATE, CONCENTRATED = Budget(epsilon="0.1"), Budget(epsilon="0.1", delta="1e-9"), Budget(rho="0.1")


def test_each_ledger_is_charged_in_its_own_kind() -> None:
    in_rho, in_both, in_epsilon = Ledger(rho=1), Ledger(epsilon=1, delta="1e-6"), Ledger(epsilon=1)
    in_rho.debit(CONCENTRATED, "ρ")
    in_rho.debit(PURE, "ε-private is ε²/2-zCDP")
    in_rho.debit(APPROXIMATE, "the ρ behind it", rho=Fraction(1, 20))
    assert [entry.spent.rho for entry in in_rho.entries] == [Fraction(1, 10), Fraction(1, 200), Fraction(1, 20)]
    assert in_rho.remaining == Budget(rho=Fraction(169, 200))
    in_both.debit(PURE, "ε")
    in_both.debit(APPROXIMATE, "(ε, δ)", rho=Fraction(1, 20))
    assert in_both.spent == Budget(epsilon="0.2", delta="1e-9")
    assert in_both.remaining == Budget(epsilon="0.8", delta="9.99e-7")
    in_epsilon.debit(PURE, "ε")
    assert in_epsilon.spent == PURE


REFUSED: dict[str, tuple[Ledger, Budget, str]] = {
    "ρ on ε": (
        Ledger(epsilon=1),
        CONCENTRATED,
        "kept in epsilon; ask for epsilon, or keep the ledger in rho: a ρ has no",
    ),
    "ρ on (ε, δ)": (
        Ledger(epsilon=1, delta="1e-6"),
        CONCENTRATED,
        "kept in epsilon and delta; ask for epsilon and delta",
    ),
    "(ε, δ) on ε": (Ledger(epsilon=1), APPROXIMATE, "has no delta; ask for epsilon alone, or give the ledger a delta"),
    "(ε, δ) alone on ρ": (Ledger(rho=1), APPROXIMATE, "kept in rho; say which rho was spent on it"),
}


@pytest.mark.parametrize(("ledger", "budget", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_a_ledger_cannot_be_charged_with(ledger: Ledger, budget: Budget, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        ledger.debit(budget, "wrong kind")
    assert ledger.spent is None


@given(st.lists(st.fractions(min_value=Fraction(1, 100), max_value=2, max_denominator=100), max_size=12))
def test_pure_releases_never_exceed_a_total_in_rho(requests: list[Fraction]) -> None:
    ledger = Ledger(rho=1)
    taken = Fraction(0)
    for epsilon in requests:
        if taken + epsilon**2 / 2 <= 1:
            ledger.debit(Budget(epsilon=epsilon), "test")
            taken += epsilon**2 / 2
        else:
            with pytest.raises(BudgetExceeded, match="ρ = "):
                ledger.debit(Budget(epsilon=epsilon), "test")
        assert (ledger.spent.rho if ledger.spent else 0) == taken


def test_delta_runs_out_like_epsilon() -> None:
    ledger = Ledger(epsilon=1, delta="1e-6")
    ledger.debit(Budget(epsilon="0.1", delta="1e-6"), "all of δ")
    with pytest.raises(BudgetExceeded, match=r"δ = 1e-9 was asked for and ε = 0\.9 is left"):
        ledger.debit(APPROXIMATE, "more")
    ledger.debit(PURE, "needs none")
    assert ledger.remaining == Budget(epsilon="0.8")


def test_budgets_for_other_neighbours_do_not_add_up() -> None:
    """ε between data with and without a person is up to 2ε between one person and another: refused, nothing taken."""
    ledger = Ledger(epsilon=2)
    ledger.debit(Budget(epsilon=1), "first", relation="add_remove")
    with pytest.raises(InvalidInput, match="neighbours is 'replace_one' on a ledger whose spends are for 'add_remove'"):
        ledger.debit(Budget(epsilon=1), "second", relation="replace_one")
    assert ledger.spent == Budget(epsilon=1)
    ledger.debit(Budget(epsilon=1), "third", relation="add_remove")
    assert ledger.remaining is None
