"""The ledger: never over the total, never copied, nothing taken when it refuses."""

import copy
import os
import pickle
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


def test_kinds_are_kept_apart() -> None:
    with pytest.raises(InvalidInput, match="kept in rho"):
        Ledger(rho=1).debit(Budget(epsilon="0.1"), "wrong kind")
