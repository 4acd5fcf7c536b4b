"""What all spends together come to, at a δ of the reader's choice: a figure for reports, not the rule that is enforced.

A ledger enforces its total by adding exact rationals, which holds however the spends are chosen (`ledger.md`). The sum
is often larger than need be. `composed` looks at the list of spends that there are and gives the least ε it can prove
for them, through Google's dp-accounting.

Theorems. Every ε-private mechanism is a function of randomised response with two outcomes and odds e^ε (Kairouz, Oh and
Viswanath 2015), so at every order its Rényi divergence is at most that one's; a ρ-zCDP mechanism's is at most ρ·order;
divergences of one order add up under composition (Mironov 2017), and give (ε, δ) by Canonne, Kamath and Steinke 2020. A
mechanism that is only (ε, δ)-private is randomised response but for an event of probability δ (the same theorem of
Kairouz and others), so it counts as ε, and its δ is taken off the δ that is asked for.

Limits. It is proven for spends whose amounts do not depend on what was released before. If you look at a release before
deciding how much to spend next, the ledger's own sum still holds and this figure is only a guide. The arithmetic is
in floats; the answer is rounded up by more than they can be off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import exp, inf, nextafter
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import LEAST_DELTA, epsilon_of
from sparsedp.privacy.ledger import Spend

_SLACK = Fraction(1, 10**9)
# Below it randomised response is counted as ε²/2-zCDP: hardly more, and without the difference of nearly equal floats.
_SMALL = Fraction(1, 1000)
# Above it e^−ε leaves the floats, and no such ε is worth the search: plain addition stands.
_LARGE = 30
_MOST_RHO = 10**6
_DIGITS = 6


def composed(entries: Iterable[Spend], delta: object) -> Budget | None:
    """The (ε, δ) that all these spends together guarantee, ε rounded up; None of no spends.

    Pure ε, (ε, δ) and ρ may be mixed. It is never worse than adding up what can be added. All spends must be for the
    same neighbours, as those of one ledger are.
    """
    small = validate.share("delta", delta)
    spends = list(entries)
    if not spends:
        return None
    pure = [epsilon for epsilon, _ in _pure(spends)]
    failing = sum((delta for _, delta in _pure(spends)), Fraction(0))
    rhos = [rho for spend in spends if (rho := _rho(spend)) is not None]
    left = small - failing
    if left < 0 or (rhos and left < LEAST_DELTA):
        given = f"{validate.shown(small)}, and the spends' own come to {validate.shown(failing)}"
        raise InvalidInput("delta", given, "give more than that")
    least = min(_bounds(pure, sum(rhos, Fraction(0)), left))
    return Budget(epsilon=_rounded_up(least), delta=small)


def _bounds(pure: list[Fraction], rho: Fraction, delta: Fraction) -> Iterator[Fraction]:
    """Several ε that are all true at this δ."""
    added = sum(pure, Fraction(0))
    yield added + (epsilon_of(rho, delta) if rho else 0)
    if delta >= LEAST_DELTA:
        yield epsilon_of(rho + sum((epsilon**2 for epsilon in pure), Fraction(0)) / 2, delta)
        if max(pure, default=0) <= _LARGE and rho <= _MOST_RHO:
            yield _by_renyi_divergences(pure, rho, delta)


def _by_renyi_divergences(pure: list[Fraction], rho: Fraction, delta: Fraction) -> Fraction:
    dp_accounting, accountant = _accountant()
    concentrated = rho + sum((epsilon**2 for epsilon in pure if epsilon < _SMALL), Fraction(0)) / 2
    if concentrated:
        accountant.compose(dp_accounting.ZCDpEvent(_above(concentrated)))
    for epsilon, count in Counter(epsilon for epsilon in pure if epsilon >= _SMALL).items():
        # With probability p one of the two outcomes at random, else the truth: the odds are (2 − p)/p = e^ε.
        noise = nextafter(2 / (1 + exp(_above(epsilon))), 0)
        accountant.compose(dp_accounting.RandomizedResponseDpEvent(noise, 2), count)
    found = accountant.get_epsilon(nextafter(float(delta), 0))
    return Fraction(found) * (1 + _SLACK) + _SLACK * (1 + len(pure))


def _accountant() -> tuple[Any, Any]:
    try:
        import dp_accounting
        from dp_accounting.rdp import RdpAccountant
    except ImportError:
        remedy = "install it with `pip install 'sparsedp[accounting]'`"
        raise InvalidInput("composition", "computed by the package dp-accounting, which is missing", remedy) from None
    # Randomised response is known there for one answer replaced by another, which is what its odds are about.
    return dp_accounting, RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)


def _pure(spends: list[Spend]) -> Iterator[tuple[Fraction, Fraction]]:
    """(ε, δ) of the spends that are counted by it."""
    for spend in spends:
        if _rho(spend) is None and spend.budget.epsilon is not None:
            yield spend.budget.epsilon, spend.budget.delta


def _rho(spend: Spend) -> Fraction | None:
    """The ρ of a spend: its own, or the one behind an (ε, δ)."""
    return spend.budget.rho if spend.budget.rho is not None else spend.rho


def _above(number: Fraction) -> float:
    return nextafter(float(number), inf)


def _rounded_up(number: Fraction) -> Fraction:
    """To six or seven significant digits: that is all that a report needs."""
    size = len(str(number.numerator)) - len(str(number.denominator))
    unit = Fraction(10) ** (size - _DIGITS)
    return -(-number // unit) * unit
