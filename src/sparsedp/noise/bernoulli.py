"""Exact coins of any real probability, from a uniform number drawn only as far as is needed."""

from __future__ import annotations

from sparsedp.noise.probability import Probability
from sparsedp.noise.source import BitStream

_WORD_BITS = 64


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
