"""The law of discrete Gaussian noise: its figures, and nothing that draws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import erfc, exp, fsum, inf, isqrt, nextafter, pi, sqrt
from typing import Any, ClassVar

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.validate import positive, shown

MOST_VARIANCE = 2**110
"""σ up to 2⁵⁵: the sampler's integers, and its proof, leave room for eight times σ in 64 bits."""

_DUAL = Fraction(1, 6)
# Up to here a tail is summed term by term, ten thousand at most; above it three corrections to the integral do.
_SUMMED = 2**20
# A tail that begins at this exponent is below every float.
_VANISHING = 760.0
# Terms this many times e smaller than the first are left out of a sum.
_NEGLIGIBLE = 40


def checked_variance(value: object) -> Fraction:
    """σ² as an exact number that can be drawn with."""
    number = positive("variance", value)
    if number > MOST_VARIANCE:
        raise InvalidInput("variance", shown(number), "give at most 2**110")
    return number


@dataclass(frozen=True)
class DiscreteGaussianLaw:
    """P(X = x) ∝ exp(−x²/2σ²) on all integers, for the exact rational σ².

    Its variance is less than σ²: by one part in five million at σ = 1, by 14 % at σ = ½, by 80 % at σ = ⅓. The figures
    are floats, accurate to about 13 digits, in the tails too.
    """

    variance_parameter: Fraction

    name: ClassVar[str] = "discrete_gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance_parameter", checked_variance(self.variance_parameter))

    @property
    def variance(self) -> float:
        """E X²; the noise that is drawn has this variance, not σ²."""
        return _theta_sums(self.variance_parameter)[1]

    @property
    def fourth_moment(self) -> float:
        """E X⁴."""
        return _theta_sums(self.variance_parameter)[2]

    def pmf(self, x: int) -> float:
        """P(X = x)."""
        return exp(-self._exponent(2 * x)) / _theta_sums(self.variance_parameter)[0]

    def cdf(self, x: int) -> float:
        """P(X ≤ x)."""
        return self._tail(-x) if x < 0 else 1 - self._tail(x + 1)

    def quantile(self, level: float) -> int:
        """The least x with P(X ≤ x) ≥ level, up to the rounding of a float."""
        if not 0 < level < 1:
            raise InvalidInput("level", f"{level!r}", "give a number between 0 and 1, both excluded")
        # By symmetry, P(X ≤ −m) and P(X > m − 1) are both the tail from m upwards.
        if level > 0.5:
            return self._tail_within(1 - level) - 1
        return 1 - self._tail_within(nextafter(level, 0))

    def describe(self) -> dict[str, Any]:
        """A small JSON-able description; `noise_law_from` turns it back into an equal law."""
        return {"name": self.name, "variance_parameter": str(self.variance_parameter)}

    def _tail(self, start: int) -> float:
        """P(X ≥ start) for start ≥ 1, accurate however small it is."""
        total, _, _ = _theta_sums(self.variance_parameter)
        if self._exponent(2 * start) > _VANISHING:
            return 0.0
        if self.variance_parameter > _SUMMED:
            return self._euler_maclaurin(start) / total
        length = isqrt(start * start + int(2 * _NEGLIGIBLE * self.variance_parameter)) + 2 - start
        beyond = np.arange(length, dtype=np.float64)
        shares = np.exp(-beyond * (beyond + 2 * start) / float(2 * self.variance_parameter))
        return exp(-self._exponent(2 * start)) * float(shares.sum()) / total

    def _euler_maclaurin(self, start: int) -> float:
        """Σ exp(−x²/2σ²) from `start` upwards: the integral from half a step below, and its first corrections."""
        deviation = sqrt(self.variance_parameter)
        exponent = self._exponent(2 * start - 1)
        t = sqrt(2 * exponent)
        hermite = (t, t**3 - 3 * t, t**5 - 10 * t**3 + 15 * t)
        corrections = (
            -hermite[0] / 24 + (7 * hermite[1] / 5760 - 31 * hermite[2] / 967680 / deviation**2) / deviation**2
        )
        return deviation * sqrt(pi / 2) * erfc(sqrt(exponent)) + exp(-exponent) * corrections / deviation

    def _tail_within(self, level: float) -> int:
        """The least m ≥ 1 with P(X ≥ m) ≤ level."""
        low, high = 0, 1
        while self._tail(high) > level:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._tail(middle) > level else (low, middle)
        return high

    def _exponent(self, twice: int) -> float:
        """(twice/2)²/2σ², rounded once."""
        return _ratio(twice * twice, 8 * self.variance_parameter)


@lru_cache(maxsize=64)
def _theta_sums(variance: Fraction) -> tuple[float, float, float]:
    """Σ exp(−x²/2σ²) over all integers, E X² and E X⁴, by the sum that converges at once.

    Poisson's summation turns the sum over integers x into one over frequencies 2πk; neither cancels where it is used.
    """
    if variance < _DUAL:
        weights = [(x * x, 2 * exp(-_ratio(x * x, 2 * variance))) for x in range(1, 20)]
        total = 1 + fsum(weight for _, weight in weights)
        moments = [fsum(square**power * weight for square, weight in weights) / total for power in (1, 2)]
        return total, moments[0], moments[1]
    square = float(variance)
    waves = [(square * (2 * pi * k) ** 2, 2 * exp(-square * (2 * pi * k) ** 2 / 2)) for k in range(1, 8)]
    total = 1 + fsum(weight for _, weight in waves)
    second = 1 + fsum((1 - z) * weight for z, weight in waves)
    fourth = 3 + fsum((3 - 6 * z + z * z) * weight for z, weight in waves)
    return sqrt(2 * pi * square) * total, square * second / total, square**2 * fourth / total


def _ratio(number: int, divisor: Fraction) -> float:
    try:
        return (number * divisor.denominator) / divisor.numerator
    except OverflowError:
        return inf
