"""Budgets are exact, add up within a kind, and refuse nonsense."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget

positive = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000)


@given(positive, positive)
def test_epsilons_add_exactly(first: Fraction, second: Fraction) -> None:
    assert (Budget(epsilon=first) + Budget(epsilon=second)).epsilon == first + second


def test_a_tenth_ten_times_is_one() -> None:
    total = Budget(epsilon=0.1)
    for _ in range(9):
        total = total + Budget(epsilon="0.1")
    assert total == Budget(epsilon=1)


def test_deltas_and_rhos_add() -> None:
    assert Budget(epsilon=1, delta="1e-6") + Budget(epsilon=2) == Budget(epsilon=3, delta="1e-6")
    assert Budget(rho="1/8") + Budget(rho="1/8") == Budget(rho="1/4")


def test_kinds_do_not_mix() -> None:
    with pytest.raises(InvalidInput, match="of another kind"):
        Budget(epsilon=1) + Budget(rho=1)
    assert not Budget(epsilon=1).covers(Budget(rho="0.1"))


@pytest.mark.parametrize(
    "fields",
    [
        {}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"epsilon": -1}, {"epsilon": "x"}, {"rho": 0},
        {"epsilon": 1, "delta": 1}, {"epsilon": 1, "delta": -1}, {"rho": 1, "delta": "0.1"},
    ],
)  # fmt: skip
def test_nonsense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Budget(**fields)


def test_a_number_is_not_a_budget() -> None:
    with pytest.raises(TypeError):
        Budget(epsilon=1) + 1  # type: ignore[operator]


def test_covers() -> None:
    total = Budget(epsilon=1, delta="1e-6")
    assert total.covers(Budget(epsilon=1))
    assert not total.covers(Budget(epsilon="1.0000001"))
    assert not total.covers(Budget(epsilon="0.5", delta="1e-5"))


@given(positive)
def test_described_and_back(epsilon: Fraction) -> None:
    for budget in (Budget(epsilon=epsilon), Budget(epsilon=epsilon, delta="1e-9"), Budget(rho=epsilon)):
        assert Budget(**budget.describe()) == budget
        assert eval(repr(budget)) == budget  # noqa: S307  # the repr is meant to be pasted


def test_printed_for_people() -> None:
    assert str(Budget(epsilon=0.5)) == "ε = 0.5"
    assert str(Budget(epsilon="1/3", delta="0.01")) == "ε = 1/3, δ = 0.01"
    assert str(Budget(rho=2)) == "ρ = 2"
