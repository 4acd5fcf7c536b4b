"""Exact coins of any real probability: a uniform number, drawn only as far as is needed, is held against it.

Probabilities are real numbers known to any precision: integer bounds on 2ᵇ·p, certified by interval arithmetic.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sparsedp.arrays import Ints, Mask
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import BitStream, RandomSource

_GUARD_BITS = 32
_MOST_GUARD_BITS = 2**22
_WORD_BITS = 64
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


# ---- coins

ONE_BITS = 62
ONE = 1 << ONE_BITS
"""Chances of many coins are counted in units of 1/ONE."""


class LazyUniform:
    """One uniform number U in [0, 1) whose binary digits are drawn when a comparison needs them.

    Comparisons with several probabilities are comparisons with the same U, so they are consistent.
    """

    def __init__(self, stream: BitStream) -> None:
        self._stream = stream
        self._count = _WORD_BITS
        self._value = stream.bits(_WORD_BITS)

    def below(self, probability: Probability) -> bool:
        """Whether U < p, exactly: True with probability p. Ends with probability 1, whatever p is."""
        while True:
            low, high = probability.enclose(self._count)
            if self._value + 1 <= low:
                return True
            if self._value >= high:
                return False
            self._value = self._value << _WORD_BITS | self._stream.bits(_WORD_BITS)
            self._count += _WORD_BITS


def bernoulli(probability: Probability, stream: BitStream) -> bool:
    """True with exactly the given probability."""
    return LazyUniform(stream).below(probability)


@dataclass(frozen=True, eq=False)
class Chances:
    """Of many coins: (whole + rest/denominator)/2⁶² each, exactly, with 0 ≤ rest < denominator. PRIVATE."""

    whole: Ints
    rest: Ints
    denominator: int

    def exact(self) -> list[Fraction]:
        """Each by itself."""
        pairs = zip(self.whole.tolist(), self.rest.tolist(), strict=True)
        return [(whole + Fraction(rest, self.denominator)) / ONE for whole, rest in pairs]


def toss(chances: Chances, source: RandomSource) -> Mask:
    """A coin of each exact chance."""
    words = np.zeros(len(chances.whole), np.uint64)
    try:
        with source.draw() as stream:
            stream.fill(words)
            words >>= np.uint64(_WORD_BITS - ONE_BITS)
            # The first bit is turned: from a source of ones, whose noise is zero, what is likelier than not comes true.
            words ^= np.uint64(ONE >> 1)
            drawn = words.view(np.int64)
            fell: Mask = drawn < chances.whole
            for tied in np.flatnonzero(drawn == chances.whole):
                # The coin goes on where its first digits are those of the chance.
                fell[tied] = bernoulli(Rational(Fraction(int(chances.rest[tied]), chances.denominator)), stream)
    finally:
        words.fill(0)
    return fell
