"""The rules by which spends are counted: one rule a ledger, chosen when it is declared, and proven beside the code."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.errors import BudgetExceeded, InvalidInput
from sparsedp.privacy import ledger as ledger_module
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import delta_of
from sparsedp.privacy.ledger import COMPOSITIONS, Allowance, Ledger


def test_a_total_in_both_counted_in_rho_pays_for_every_kind() -> None:
    ledger = Ledger(epsilon=1, delta="1e-6", composition="zcdp")
    assert ledger.total == Budget(epsilon=1, delta="1e-6")
    assert ledger.limit.rho is not None
    assert delta_of(ledger.limit.rho, 1) <= Fraction(1, 10**6)
    assert delta_of(ledger.limit.rho * Fraction(1001, 1000), 1) > Fraction(1, 10**6), "and hardly more would do"
    ledger.debit(Budget(rho="0.01"), "ρ")
    ledger.debit(Budget(epsilon="0.1"), "ε")
    spend = ledger.debit(Budget(epsilon="0.1", delta="1e-9"), "(ε, δ)", rho=Fraction(1, 1000))
    assert [entry.spent.rho for entry in ledger.entries] == [Fraction(1, 100), Fraction(1, 200), Fraction(1, 1000)]
    assert spend.budget == Budget(epsilon="0.1", delta="1e-9")
    assert ledger.remaining == Budget(rho=ledger.limit.rho - Fraction(16, 1000))
    with pytest.raises(BudgetExceeded, match=r"ρ = 0\.01 was asked for and ρ = 0\.00835\d* is left"):
        ledger.debit(Budget(rho="0.01"), "too much")
    with pytest.raises(InvalidInput, match="say which rho was spent on it"):
        ledger.debit(Budget(epsilon="0.1", delta="1e-9"), "no ρ is known")
    assert "ε = 1, δ = 1e-6 (counted as ρ = " in repr(ledger)


@given(
    st.lists(
        st.one_of(
            st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50).map(
                lambda amount: Budget(epsilon=amount)
            ),
            st.fractions(min_value=Fraction(1, 500), max_value=1, max_denominator=500).map(
                lambda amount: Budget(rho=amount)
            ),
        ),
        max_size=12,
    )
)
def test_whatever_is_admitted_is_within_the_total(requests: list[Budget]) -> None:
    ledger = Ledger(epsilon=2, delta="1e-5", composition="zcdp")
    taken = Fraction(0)
    for request in requests:
        cost = request.rho if request.rho is not None else (request.epsilon or Fraction(0)) ** 2 / 2
        try:
            ledger.debit(request, "test")
            taken += cost
        except BudgetExceeded:
            assert delta_of(taken + cost + Fraction(1, 10**6), 2) > Fraction(1, 10**5), "refused without need"
        assert taken == 0 or delta_of(taken, 2) <= Fraction(1, 10**5)


def test_the_rule_is_one_of_two_and_needs_its_numbers() -> None:
    with pytest.raises(InvalidInput, match="composition is 'zcdp' for a total without delta; give delta= too"):
        Ledger(epsilon=1, composition="zcdp")
    with pytest.raises(InvalidInput, match="composition is 'zcpd', which is not known; did you mean 'zcdp'"):
        Ledger(epsilon=1, delta="1e-6", composition="zcpd")
    with pytest.raises(InvalidInput, match="epsilon is a Budget beside rho or delta"):
        Ledger(epsilon=Budget(epsilon=1), delta="1e-6")
    assert Ledger(epsilon=Budget(rho="1/8")).total == Budget(rho="1/8")
    assert (Ledger(rho=1).composition, Ledger(rho=1, composition="zcdp").composition) == ("zcdp", "zcdp")
    assert Ledger(epsilon=1).composition == "basic"
    with pytest.raises(InvalidInput, match="composition='zcdp', which takes ε, ρ and"):
        Ledger(epsilon=1, delta="1e-6").debit(Budget(rho=1), "the remedy is named")


@pytest.mark.parametrize("limit", [Budget(rho=1), Budget(epsilon=2), Budget(epsilon=1, delta="1e-3")])
def test_a_limit_that_does_not_give_the_total_is_refused(limit: Budget) -> None:
    total = Budget(epsilon=1, delta="1e-6")
    with pytest.raises(InvalidInput, match="does not follow"):
        Allowance.restored(total, "zcdp", limit)
    sound = Allowance.of(epsilon=total, composition="zcdp")
    assert Allowance.restored(total, "zcdp", sound.limit) == sound


def test_the_proof_is_beside_the_code_and_names_every_rule() -> None:
    document = Path(ledger_module.__file__).with_suffix(".md")
    assert "privacy/ledger.md" in (Ledger.__doc__ or "")
    text = document.read_text()
    claims = re.findall(r"\*\*Claim (\d)", text)
    assert claims == ["1", "2", "3", "4"]
    assert text.count("**Proof.**") == len(claims)
    for rule in COMPOSITIONS:
        assert f"| {rule} |" in text
