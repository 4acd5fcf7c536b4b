"""The certified binary expansions of the signed digits' probabilities, in words, for one scale."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sparsedp.noise.geometric import ExactGeometric, low_digits
from sparsedp.noise.probability import Probability, nonzero, signed_digit

FIRST_BITS = 15
"""Bits of an expansion that the kernel compares: a 16-bit word is one sign bit and these."""

LATER_BITS = 64
STORED_LATER_WORDS = 2
"""Words past the first that a table holds from the start: 15 + 2·64 = 143 certified bits a digit."""


class DigitTable:
    """What drawing a discrete Laplace variable modulo 2⁶⁴ needs to know about its scale; public throughout.

    Row i < `digits` is the digit of weight 2ⁱ: it is +1, 0 or −1. The last row, where there is one, is the
    event that the part from 2^digits upwards is not 0; with 64 digits that part vanishes modulo 2⁶⁴, and the
    row with it.
    """

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale
        self.digits = min(64, low_digits(scale))
        self.probabilities: list[Probability] = [signed_digit(2**i / scale) for i in range(self.digits)]
        if self.digits < 64:
            self.probabilities.append(nonzero(2**self.digits / scale))
        self._later: dict[int, npt.NDArray[np.uint64]] = {}
        longest = FIRST_BITS + STORED_LATER_WORDS * LATER_BITS
        expansions = [probability.floor(longest) for probability in self.probabilities]
        self.first = np.array([bits >> (longest - FIRST_BITS) for bits in expansions], dtype=np.uint16)
        for depth in range(STORED_LATER_WORDS):
            rest = (STORED_LATER_WORDS - 1 - depth) * LATER_BITS
            self._later[depth] = _last_words([bits >> rest for bits in expansions])

    @property
    def rows(self) -> int:
        """The number of random words that each variable takes."""
        return len(self.probabilities)

    def later(self, depth: int) -> npt.NDArray[np.uint64]:
        """Word `depth` after the first of every row's expansion; past the table, computed when asked for."""
        if depth not in self._later:
            bits = FIRST_BITS + (depth + 1) * LATER_BITS
            self._later[depth] = _last_words([probability.floor(bits) for probability in self.probabilities])
        return self._later[depth]

    def high_part(self) -> ExactGeometric:
        """The magnitude, less one, of the part from 2^digits upwards given that it is not 0 (memoryless)."""
        return ExactGeometric(self.scale / 2**self.digits)


def _last_words(expansions: list[int]) -> npt.NDArray[np.uint64]:
    return np.array([bits & (2**LATER_BITS - 1) for bits in expansions], dtype=np.uint64)


@lru_cache(maxsize=64)
def digit_table(scale: Fraction) -> DigitTable:
    """The table of a scale, kept for the next draw of the same scale."""
    return DigitTable(scale)
