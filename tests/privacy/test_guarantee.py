"""The promise that travels: its sum, its words, and the way to a file and back."""

from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours

EXPENSES = Expense("choose the sparsity", Budget(epsilon="0.1")), Expense("measure", Budget(epsilon="0.9"))


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


def test_replace_one_is_twice_as_far() -> None:
    assert Neighbours(3).distance == 3
    assert Neighbours(3, "replace_one").distance == 6
