"""What ρ-zCDP means as (ε, δ), and back: exact rationals, rounded so that no more is promised than holds.

Canonne, Kamath and Steinke ("The Discrete Gaussian for Differential Privacy", 2020): a ρ-zCDP mechanism is (ε, δ)-DP
for the infimum δ over a > 0 (their α is 1 + a) of

    f(a) = exp(a·((1 + a)·ρ − ε)) · aᵃ/(1 + a)¹⁺ᵃ.

Every single a gives a true statement. So a is sought in floats, which may be off, and f is then bounded from above at
that very a in interval arithmetic: the floats decide how tight an answer is, never whether it is true. Answers have
about nine significant digits. (A mechanism's own curve may give a smaller δ than this, which holds for them all.)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, log, log1p
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput

LEAST_DELTA = Fraction(1, 10**100)
"""The smallest δ that is told from smaller ones: whatever is below is rounded up to it."""

_DIGITS = 9
# What an answer is moved by when the exact check does not pass; twice as much each time, so that it ends.
_STEP = Fraction(1, 10**_DIGITS)
_HALF = Fraction(1, 2)
_PRECISION = 192
# Where a, ρ and ε are sought: logarithms, wide enough for every budget of a hundred digits.
_ORDERS = (-690.0, 690.0)
_RHOS = (-580.0, 350.0)
_EPSILONS = (-230.0, 350.0)
_HALVINGS = 64


@lru_cache(maxsize=256)
def delta_of(rho: object, epsilon: object) -> Fraction:
    """A δ, rounded up, such that every ρ-zCDP mechanism is (ε, δ)-DP."""
    curve, allowed = validate.positive("rho", rho), validate.positive("epsilon", epsilon)
    return _delta_at(curve, allowed, Fraction(_best_order(_nearest(curve), _nearest(allowed))))


@lru_cache(maxsize=256)
def rho_for(epsilon: object, delta: object) -> Fraction:
    """The greatest ρ, rounded down, such that every ρ-zCDP mechanism is (ε, δ)-DP."""
    allowed, small = validate.budget("epsilon", epsilon), _checked_delta(delta)
    found = _bisection(lambda rho: _log_delta(rho, _nearest(allowed)) > _log(small), _RHOS)
    rho, step = _short(Fraction(found), up=False), _STEP
    while delta_of(rho, allowed) > small:
        rho, step = _short(rho * (1 - min(step, _HALF)), up=False), 2 * step
    return rho


def epsilon_of(rho: object, delta: object) -> Fraction:
    """The least ε, rounded up, such that every ρ-zCDP mechanism is (ε, δ)-DP; 10⁻¹⁰⁰ if any would do."""
    curve, small = validate.budget("rho", rho), _checked_delta(delta)
    found = _bisection(lambda epsilon: _log_delta(_nearest(curve), epsilon) <= _log(small), _EPSILONS)
    amount, step = _short(Fraction(found), up=True), _STEP
    while delta_of(curve, amount) > small:
        amount, step = _short(amount * (1 + step), up=True), 2 * step
    return amount


def _delta_at(rho: Fraction, epsilon: Fraction, order: Fraction) -> Fraction:
    """f(order), rounded up; 1 is always true."""
    exponent = order * ((1 + order) * rho - epsilon)
    # The other factor of f is at most 1, and no exponent above 1 belongs to the best order.
    if exponent < log(LEAST_DELTA) - 1:
        return LEAST_DELTA
    if exponent > 1:
        return Fraction(1)
    from mpmath.ctx_iv import MPIntervalContext

    # A context of its own: mpmath keeps the precision there, and another thread may be using the shared one.
    iv = MPIntervalContext()
    iv.prec = _PRECISION + int(order).bit_length()  # 1 + 1/a loses as many bits as a has
    a = _interval(iv, order)
    value = iv.exp(_interval(iv, exponent) - a * iv.log(1 + 1 / a) - iv.log(1 + a))
    _, mantissa, power, _ = value._mpi_[1]
    upper = Fraction(int(mantissa)) * Fraction(2) ** int(power)
    return min(Fraction(1), max(LEAST_DELTA, _short(upper, up=True)))


def _interval(iv: Any, number: Fraction) -> Any:
    return iv.mpf(number.numerator) / iv.mpf(number.denominator)


def _best_order(rho: float, epsilon: float) -> float:
    """The a where log f is least, nearly: its slope (2a + 1)·ρ − ε − log(1 + 1/a) grows with a."""
    return _bisection(lambda order: (2 * order + 1) * rho - epsilon - log1p(1 / order) > 0, _ORDERS)


def _log_delta(rho: float, epsilon: float) -> float:
    order = _best_order(rho, epsilon)
    return order * ((1 + order) * rho - epsilon) - order * log1p(1 / order) - log1p(order)


def _bisection(beyond: Callable[[float], bool], logarithms: tuple[float, float]) -> float:
    """Just below where `beyond`, which is false below some point and true above it, turns true."""
    low, high = logarithms
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(exp(middle)) else (middle, high)
    return exp(low)


def _short(number: Fraction, *, up: bool) -> Fraction:
    """The number rounded up or down to nine or ten significant digits, so that it stays readable."""
    size = len(str(number.numerator)) - len(str(number.denominator))
    unit = Fraction(10) ** (size - _DIGITS)
    return (-(-number // unit) if up else number // unit) * unit


def _nearest(number: Fraction) -> float:
    """As a float, within what floats hold."""
    return float(min(max(number, Fraction(1, 10**300)), Fraction(10**300)))


def _log(number: Fraction) -> float:
    return log(_nearest(number))


def _checked_delta(value: object) -> Fraction:
    delta = validate.share("delta", value)
    if delta < LEAST_DELTA:
        raise InvalidInput("delta", "below 10⁻¹⁰⁰", "give a larger one: 1e-9, for instance")
    return delta
