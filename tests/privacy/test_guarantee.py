"""The promise that travels: its sum, its words, and the way to a file and back."""

from fractions import Fraction

import pytest

from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import delta_of, rho_for
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours

EXPENSES = Expense("choose the sparsity", Budget(epsilon="0.1")), Expense("measure", Budget(epsilon="0.9"))
RHO = rho_for(1, "1e-6")
IN_RHO = Expense("choose the sparsity", Budget(rho=RHO / 10)), Expense("measure", Budget(rho=RHO * 9 / 10))
STATED = Budget(epsilon=1, delta="1e-6")


def test_spent_is_the_exact_sum() -> None:
    assert Guarantee(EXPENSES, Neighbours(), private=True).spent == Budget(epsilon=1)


def test_the_words_say_who_is_protected() -> None:
    words = str(Guarantee(EXPENSES, Neighbours(3), private=True))
    assert "ε = 1" in words
    assert "adding or removing one person" in words
    assert "at most 3 in total (promised by the caller)" in words
    assert "replacing one person by another, each of whom adds at most 3" in str(
        Guarantee(EXPENSES, Neighbours(3, "replace_one"), private=True)
    )


def test_seeded_noise_is_called_not_private() -> None:
    assert str(Guarantee(EXPENSES, Neighbours(), private=False)).startswith("NOT PRIVATE")


def test_described_and_back() -> None:
    for private in (True, False):
        guarantee = Guarantee(EXPENSES, Neighbours(2, "replace_one"), private)
        assert Guarantee.from_description(guarantee.describe()) == guarantee


def test_parts_in_rho_and_the_whole_in_epsilon_and_delta() -> None:
    guarantee = Guarantee(IN_RHO, Neighbours(), private=True, stated=STATED)
    assert guarantee.spent == STATED
    assert guarantee.total == Budget(rho=RHO)
    assert guarantee.rho == RHO
    assert f"with ε = 1, δ = 1e-6, from {Budget(rho=RHO)} (zero-concentrated, zCDP), for" in str(guarantee)
    assert Guarantee.from_description(guarantee.describe()) == guarantee


def test_rho_alone() -> None:
    guarantee = Guarantee(IN_RHO, Neighbours(), private=True)
    assert guarantee.spent == Budget(rho=RHO)
    assert f"with {Budget(rho=RHO)} (zero-concentrated, zCDP), for" in str(guarantee)
    assert "ε" not in str(guarantee)
    assert Guarantee.from_description(guarantee.describe()) == guarantee
    assert Guarantee(EXPENSES, Neighbours(), private=True).rho is None


def test_what_does_not_follow_from_the_expenses_is_not_stated() -> None:
    too_little = delta_of(RHO, 1) * Fraction(999, 1000)
    for expenses, stated in (
        (IN_RHO, Budget(epsilon=1, delta=too_little)),
        (IN_RHO, Budget(epsilon="0.99", delta="1e-6")),
        (IN_RHO, Budget(epsilon=1)),
        ((*IN_RHO, Expense("once more", Budget(rho="1e-3"))), STATED),
        (EXPENSES, STATED),
    ):
        with pytest.raises(InvalidInput, match="does not give that much"):
            Guarantee(expenses, Neighbours(), private=True, stated=stated)


def test_replace_one_is_twice_as_far() -> None:
    assert Neighbours(3).distance == 3
    assert Neighbours(3, "replace_one").distance == 6


def test_a_promise_without_an_expense_is_none() -> None:
    described = Guarantee(EXPENSES, Neighbours(), private=True).describe()
    for expenses in ([], [{"purpose": {}, "epsilon": "1"}]):
        with pytest.raises(InvalidInput, match="without an expense that says what it bought; give at least one"):
            Guarantee.from_description({**described, "expenses": expenses})
