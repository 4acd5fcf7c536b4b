"""What all spends come to: never less than the truth where that is known, never more than plain addition."""

import sys
from fractions import Fraction
from math import comb, exp, log

import pytest

from sparsedp.errors import InvalidInput
from sparsedp.privacy.accounting import composed
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import epsilon_of
from sparsedp.privacy.ledger import Ledger, Spend

DELTA = "1e-6"


def spends(count: int, *, behind: Fraction | None = None, **budget: str) -> list[Spend]:
    amount = Budget(**budget)
    return [Spend(number, amount, amount, "test", "", rho=behind) for number in range(1, count + 1)]


def epsilon(entries: list[Spend], delta: str = DELTA) -> float:
    found = composed(entries, delta)
    assert found is not None
    assert found.delta == Fraction(delta)
    assert found.epsilon is not None
    return float(found.epsilon)


def exact_delta(count: int, each: float, together: float) -> float:
    """The least δ of `count` ε-private mechanisms (Kairouz, Oh and Viswanath 2015): summed over randomised response."""
    gains = (
        comb(count, flips) * (exp((count - flips) * each) - exp(together + flips * each)) for flips in range(count + 1)
    )
    return sum(gain for gain in gains if gain > 0) / (1 + exp(each)) ** count


@pytest.mark.parametrize(
    ("count", "each"), [(2, "0.5"), (10, "0.1"), (40, "0.1"), (100, "0.05"), (30, "0.5"), (5, "3")]
)
def test_pure_spends_against_the_exact_answer(count: int, each: str) -> None:
    found = epsilon(spends(count, epsilon=each))
    assert found <= count * float(each)
    assert exact_delta(count, float(each), found) <= 1e-6, "no more is promised than holds"
    if count >= 30:
        assert found < 0.97 * count * float(each), "many small spends come to less than their sum"
        assert exact_delta(count, float(each), 0.8 * found) > 1e-6, "and the figure is not far from the truth"


def test_tiny_spends_are_not_lost_in_rounding() -> None:
    assert exact_delta(400, 1e-4, epsilon(spends(400, epsilon="0.0001"), "1e-5")) <= 1e-5
    assert 0 < epsilon(spends(3, epsilon="1e-9")) <= 3.001e-9


@pytest.mark.parametrize("count", [1, 7])
def test_concentrated_spends_add_up_in_rho(count: int) -> None:
    found = epsilon(spends(count, rho="0.01"))
    exact = float(epsilon_of(Fraction(count, 100), DELTA))
    assert exact * 0.97 < found <= exact * (1 + 1e-6)


def test_kinds_may_be_mixed() -> None:
    pure, concentrated = spends(30, epsilon="0.1"), spends(5, rho="0.01")
    together = epsilon([*pure, *concentrated])
    assert max(epsilon(pure), epsilon(concentrated)) < together
    assert together <= 3.0 + float(epsilon_of(Fraction(5, 100), DELTA))
    in_rho = float(epsilon_of(Fraction(5, 100) + 30 * Fraction(1, 200), DELTA))
    assert together <= in_rho * (1 + 1e-6)


def test_stated_in_epsilon_and_delta() -> None:
    """By the ρ behind it if that is known; else as ε, and the δ that is left serves the rest."""
    behind = spends(30, epsilon="0.2", delta="1e-8", behind=Fraction(1, 1000))
    assert epsilon(behind) == epsilon(spends(30, rho="0.001"))
    bare = spends(30, epsilon="0.2", delta="1e-8")
    assert epsilon(bare) >= epsilon(spends(30, epsilon="0.2"), "0.0000007")
    assert epsilon(bare) <= 6
    assert composed(spends(4, epsilon="0.2", delta="1e-7"), "4e-7") == Budget(epsilon="0.8", delta="4e-7")
    with pytest.raises(InvalidInput, match=r"delta is 0\.000001, and the spends' own come to 0\.000002; give more"):
        composed(spends(2, epsilon="0.2", delta="1e-6"), DELTA)


def test_huge_amounts_are_added_plainly() -> None:
    assert epsilon(spends(2, epsilon="1000")) == 2000
    assert epsilon([*spends(1, epsilon="1"), *spends(1, rho="1e9")]) > 1e9


def test_nothing_spent_is_no_figure() -> None:
    assert composed([], DELTA) is None
    with pytest.raises(InvalidInput, match="delta is 0; give a number between 0 and 1"):
        composed(spends(1, epsilon="1"), 0)


def test_a_ledgers_entries_are_what_it_takes() -> None:
    ledger = Ledger(epsilon=20, delta="1e-5", composition="zcdp")
    for _ in range(20):
        ledger.debit(Budget(epsilon="0.1"), "test")
    assert composed(ledger.entries, DELTA) == composed(spends(20, epsilon="0.1"), DELTA)


def test_the_packages_convention_for_randomised_response() -> None:
    """p is how often the answer is drawn at random, so the odds are (2 − p)/p; against the divergence by hand."""
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    amount, orders = 0.7, (1.5, 2.0, 8.0, 64.0)
    accountant = RdpAccountant(orders, dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_accounting.RandomizedResponseDpEvent(2 / (1 + exp(amount)), 2))
    likely, unlikely = exp(amount) / (1 + exp(amount)), 1 / (1 + exp(amount))
    for order, found in zip(orders, accountant.rdp, strict=True):
        moment = likely**order * unlikely ** (1 - order) + unlikely**order * likely ** (1 - order)
        assert found == pytest.approx(log(moment) / (order - 1), rel=1e-9)
        assert found <= min(amount, order * amount**2 / 2)


def test_without_the_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(InvalidInput, match=r"dp-accounting, which is missing; .* `pip install 'sparsedp\[acc"):
        composed(spends(2, epsilon="0.5"), DELTA)
