"""Real probabilities known to any precision: integer bounds on 2ᵇ·p, certified by interval arithmetic."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sparsedp.errors import InvalidInput

_GUARD_BITS = 32
_MOST_GUARD_BITS = 2**22
_thread = threading.local()


class Probability(ABC):
    """A number p in [0, 1] that can be enclosed as tightly as one asks."""

    @abstractmethod
    def enclose(self, bits: int) -> tuple[int, int]:
        """Integers low ≤ 2ᵇ·p ≤ high for b = `bits`, where (high − low)/2ᵇ tends to 0 as b grows."""

    def floor(self, bits: int) -> int:
        """⌊2ᵇ·p⌋, certified: the precision is raised until both ends of the enclosure agree.

        Ends for every p that is not a fraction with a power of two below (a `Rational` answers at once); such a
        p, or one that agrees with it for millions of places, is an `ArithmeticError` rather than an endless loop.
        """
        guard = _GUARD_BITS
        while guard <= _MOST_GUARD_BITS:
            low, high = self.enclose(bits + guard)
            if low >> guard == high >> guard:
                return low >> guard
            guard *= 2
        raise ArithmeticError("The probability cannot be told from a fraction of a power of two; give it as one.")


class Rational(Probability):
    """A probability that is a fraction."""

    def __init__(self, value: Fraction) -> None:
        if not 0 <= value <= 1:
            raise InvalidInput("probability", "outside 0 to 1", "give a fraction between 0 and 1")
        self._value = value

    def enclose(self, bits: int) -> tuple[int, int]:
        """The two integers next to 2ᵇ·p; the same one twice when it is an integer."""
        floor, rest = divmod(self._value.numerator << bits, self._value.denominator)
        return floor, floor + (rest > 0)

    def floor(self, bits: int) -> int:
        """⌊2ᵇ·p⌋."""
        return self.enclose(bits)[0]


class Formula(Probability):
    """A probability given by a formula over mpmath's interval arithmetic.

    `formula(iv)` is called with an interval context whose precision is set, and returns an interval that
    contains p (`iv.mpf(integer)`, `iv.exp`, + − × ÷: all round outwards) and shrinks as the precision grows.
    """

    def __init__(self, formula: Callable[[Any], Any]) -> None:
        self._formula = formula
        self._latest: tuple[int, tuple[int, int]] | None = None

    def enclose(self, bits: int) -> tuple[int, int]:
        """Bounds from one evaluation with a few more bits than asked for; the latest answer is kept."""
        latest = self._latest
        if latest is not None and latest[0] == bits:
            return latest[1]
        low, high = _evaluate(self._formula, bits + _GUARD_BITS)
        enclosure = max(0, _scaled_floor(low, bits)), min(1 << bits, -_scaled_floor(_negated(high), bits))
        self._latest = bits, enclosure
        return enclosure


def exponential(exponent: Fraction) -> Probability:
    """The probability exp(−x) for a rational x ≥ 0."""
    if exponent < 0:
        raise InvalidInput("exponent", "negative", "give x ≥ 0 for the probability exp(−x)")
    if exponent == 0:
        return Rational(Fraction(1))
    return _Decaying(exponent, lambda iv, x: iv.exp(-x))


def binary_digit(exponent: Fraction) -> Probability:
    """q/(1+q) with q = exp(−x), x > 0: a geometric variable's binary digit is 1."""
    return _Decaying(exponent, lambda iv, x: 1 / (1 + iv.exp(x)))


def signed_digit(exponent: Fraction) -> Probability:
    """2q/(1+q)² with q = exp(−x), x > 0: the same digit of two independent geometric variables differs."""
    return _Decaying(exponent, lambda iv, x: 2 / (2 + iv.exp(x) + iv.exp(-x)))


def nonzero(exponent: Fraction) -> Probability:
    """2q/(1+q) with q = exp(−x), x > 0: a discrete Laplace variable of scale 1/x is not 0."""
    return _Decaying(exponent, lambda iv, x: 2 / (1 + iv.exp(x)))


class _Decaying(Formula):
    """A formula in x with 0 < p ≤ 2·exp(−x); below every bit asked for it is not evaluated at all."""

    def __init__(self, exponent: Fraction, formula: Callable[[Any, Any], Any]) -> None:
        super().__init__(lambda iv: formula(iv, iv.mpf(exponent.numerator) / iv.mpf(exponent.denominator)))
        self._leading_zeros = int(exponent) - 1

    def enclose(self, bits: int) -> tuple[int, int]:
        # 2·exp(−x) < 2^(1−⌊x⌋), since e > 2: this spares exponents of astronomical size.
        if bits <= self._leading_zeros:
            return 0, 1
        return super().enclose(bits)


def _evaluate(formula: Callable[[Any], Any], precision: int) -> tuple[Any, Any]:
    """Both ends of the formula's interval, as mpmath's raw numbers (sign, mantissa, exponent, size)."""
    context = getattr(_thread, "context", None)
    if context is None:
        from mpmath.ctx_iv import MPIntervalContext

        # One a thread: mpmath keeps the precision in the context, and making a context costs a millisecond.
        context = _thread.context = MPIntervalContext()
    before = context.prec
    context.prec = precision
    try:
        low, high = formula(context)._mpi_
    finally:
        context.prec = before
    return low, high


def _scaled_floor(raw: Any, bits: int) -> int:
    """⌊2ᵇ·v⌋ of a raw finite number v, exactly."""
    sign, mantissa, exponent, size = raw
    if not mantissa and exponent:
        raise ArithmeticError("The interval is not finite: the formula divides by an interval around zero.")
    value = -int(mantissa) if sign else int(mantissa)
    shift = int(exponent) + bits
    return value << shift if shift >= 0 else value >> min(-shift, size + 1)


def _negated(raw: Any) -> Any:
    sign, mantissa, exponent, size = raw
    return (1 - sign if mantissa else sign), mantissa, exponent, size
