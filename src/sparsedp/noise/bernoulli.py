"""Exact coins of any real probability, from a uniform number drawn only as far as is needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Integers, Mask
from sparsedp.noise.probability import Probability, Rational
from sparsedp.noise.source import BitStream, RandomSource

_WORD_BITS = 64

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

    whole: Integers
    rest: Integers
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
