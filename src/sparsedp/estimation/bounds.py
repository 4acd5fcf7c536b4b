"""Bounds of the answer to a linear query: unbiased estimates of them, the law of their noise, and the interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol

from sparsedp.arrays import Floats
from sparsedp.estimation.noise_sums import NoiseSum


@dataclass(frozen=True)
class Bound:
    """A combination of noisy sums: its value, and the noise in it."""

    value: float
    noise: NoiseSum

    def moved(self, factor: float, known: float) -> Bound:
        """Times a factor above zero, and with what is known added."""
        return Bound(factor * self.value + known, self.noise.times(factor))


@dataclass(frozen=True)
class Bounds:
    """Unbiased estimates of numbers that the true answer is not below, and of some that it is not above.

    `exact`: of the answer itself, if all of the query was measured.
    """

    below: tuple[Bound, ...]
    above: tuple[Bound, ...]
    exact: Bound | None = None

    @classmethod
    def exactly(cls, bound: Bound) -> Bounds:
        """Of the answer itself."""
        return cls((bound,), (bound,), bound)

    def interval(self, level: float) -> tuple[float, float]:
        """Low and high end: the answer lies between with the chance `level` at least."""
        if self.exact is not None:
            reach = self.exact.noise.quantile((1 + level) / 2)
            return self.exact.value - reach, self.exact.value + reach
        low = max(
            (one.value - one.noise.quantile(self._of_each(self.below, level)) for one in self.below), default=-inf
        )
        high = min(
            (one.value + one.noise.quantile(self._of_each(self.above, level)) for one in self.above), default=inf
        )
        return min(low, high), max(low, high)

    @staticmethod
    def _of_each(bounds: Sequence[Bound], level: float) -> float:
        """Half of what may fail is for either side, in equal parts for all bounds there."""
        return 1 - (1 - level) / (2 * len(bounds))

    def moved(self, factor: float, known: float = 0.0) -> Bounds:
        """The same of the answer times a factor above zero, and with what is known added."""
        if self.exact is not None:
            return Bounds.exactly(self.exact.moved(factor, known))
        below, above = (tuple(one.moved(factor, known) for one in side) for side in (self.below, self.above))
        return Bounds(below, above)


class MeasuredSums(Protocol):
    """Noisy sums that can be combined."""

    def bounds(self, weights: Floats) -> Bounds:
        """Of Σ weights·cells; the weights are in the table's shape, or its cells row by row."""
