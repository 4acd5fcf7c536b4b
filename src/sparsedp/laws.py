"""The laws of the noise that was drawn: what recovery and error estimates need to know of it, and nothing that draws.

Public throughout. First the two laws of a single value, discrete Laplace and discrete Gaussian; then the laws of what
is made of several such noises; at the end each law's way back from its description. How noise is drawn is private, in a
folder of its own (`noise/`), which nothing on the public side may import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, erfc, exp, expm1, fsum, inf, isqrt, log, log1p, nextafter, pi, sqrt, tanh
from typing import Any, ClassVar, TypeVar

import numpy as np

from sparsedp.errors import InvalidInput
from sparsedp.validate import one_of, positive, shown, whole


@dataclass(frozen=True)
class DiscreteLaplaceLaw:
    """P(X = x) ∝ exp(−|x|/s) on all integers, for the exact rational scale s.

    Not the continuous law rounded: its variance is 0.92 of 2s² at s = 1 and 0.72 at s = ½.
    The figures are floats, accurate to a few units in the last place for tiny and for huge scales alike.
    """

    scale: Fraction

    name: ClassVar[str] = "discrete_laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def variance(self) -> float:
        """2q/(1−q)² with q = exp(−1/s); computed without subtracting nearly equal numbers."""
        q, one_minus_q = self._ratio()
        return _quotient(2 * q, one_minus_q, 2)

    @property
    def fourth_moment(self) -> float:
        """E X⁴ = 2q(1 + 10q + q²)/(1−q)⁴."""
        q, one_minus_q = self._ratio()
        return _quotient(2 * q * (1 + 10 * q + q * q), one_minus_q, 4)

    def pmf(self, x: int) -> float:
        """P(X = x) = tanh(1/2s)·exp(−|x|/s)."""
        return tanh(self._over_scale(1) / 2) * exp(-self._over_scale(abs(x)))

    def cdf(self, x: int) -> float:
        """P(X ≤ x)."""
        if x >= 0:
            return 1 - self.cdf(-x - 1)
        return exp(-self._over_scale(-x)) / (1 + exp(-self._over_scale(1)))

    def quantile(self, level: float) -> int:
        """The least x with P(X ≤ x) ≥ level, up to the rounding of a float."""
        if not 0 < level < 1:
            raise InvalidInput("level", f"{level!r}", "give a number between 0 and 1, both excluded")
        if level > 0.5:
            # By symmetry; the least x with P(X > x) ≤ 1 − level.
            x = ceil(self._times_scale(-log(1 - level) - log1p(exp(-self._over_scale(1))))) - 1
            return max(x, 0)
        x = -int(self._times_scale(-log(level) - log1p(exp(-self._over_scale(1)))) // 1)
        return min(x, 0)

    def describe(self) -> dict[str, Any]:
        """A small JSON-able description; `noise_law_from` turns it back into an equal law."""
        return {"name": self.name, "scale": str(self.scale)}

    def _ratio(self) -> tuple[float, float]:
        exponent = -self._over_scale(1)
        return exp(exponent), -expm1(exponent)

    def _over_scale(self, x: int) -> float:
        # Dividing Python integers rounds once; a plain float(scale) could overflow although x/s does not.
        try:
            return (x * self.scale.denominator) / self.scale.numerator
        except OverflowError:
            return inf

    def _times_scale(self, x: float) -> Fraction:
        return Fraction(x) * self.scale


def _quotient(numerator: float, base: float, power: int) -> float:
    """numerator / base**power, infinite where it exceeds every float."""
    for _ in range(power):
        try:
            numerator = numerator / base
        except ZeroDivisionError:
            return inf
    return numerator


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


MOST_LEVELS = 62
"""Of a counter: its ticks are numbered by 64-bit integers."""


@dataclass(frozen=True)
class ContinualCounterLaw:
    """The noise of a continual counter at any tick: 1 + `levels` independent discrete Laplace terms of one scale.

    At two ticks the noises share the terms of the segments that contain both, so they are not independent.
    """

    scale: Fraction
    levels: int

    name: ClassVar[str] = "continual_counter"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "levels", whole("levels", self.levels, least=0, most=MOST_LEVELS))

    @property
    def term(self) -> DiscreteLaplaceLaw:
        """The law of each term."""
        return DiscreteLaplaceLaw(self.scale)

    @property
    def variance(self) -> float:
        """(1 + L) times a term's."""
        return (1 + self.levels) * self.term.variance

    @property
    def fourth_moment(self) -> float:
        """Of m independent terms: m·E X⁴ + 3·m·(m − 1)·(E X²)²."""
        terms, variance = 1 + self.levels, self.term.variance
        return terms * self.term.fourth_moment + 3 * terms * (terms - 1) * variance * variance

    def describe(self) -> dict[str, Any]:
        """A small JSON-able description; `noise_law_from` turns it back into an equal law."""
        return {"name": self.name, "scale": str(self.scale), "levels": self.levels}


@dataclass(frozen=True)
class TicksAndTotalsLaw:
    """Noisy ticks with independent noise, and behind them noisy running totals from a continual counter."""

    ticks: DiscreteLaplaceLaw
    totals: ContinualCounterLaw

    name: ClassVar[str] = "ticks_and_totals"

    @property
    def scale(self) -> Fraction:
        """Of the noise on the ticks."""
        return self.ticks.scale

    def describe(self) -> dict[str, Any]:
        """A small JSON-able description; `noise_law_from` turns it back into an equal law."""
        return {"name": self.name, "ticks": self.ticks.describe(), "totals": self.totals.describe()}


IndependentLaw = DiscreteLaplaceLaw | DiscreteGaussianLaw
"""Noise that is drawn afresh for every value: the law of one of them is the law of all."""


@dataclass(frozen=True)
class LayersLaw:
    """Layers of values, each with independent noise of its own law (`sensing/group_sums.py`), finest first."""

    layers: tuple[IndependentLaw, ...]

    name: ClassVar[str] = "layers"

    @property
    def finest(self) -> IndependentLaw:
        """The law of the finest layer."""
        return self.layers[0]

    def describe(self) -> dict[str, Any]:
        """A small JSON-able description; `noise_law_from` turns it back into an equal law."""
        return {"name": self.name, "layers": [law.describe() for law in self.layers]}


StreamLaw = DiscreteLaplaceLaw | ContinualCounterLaw | TicksAndTotalsLaw
"""What streams add: discrete Laplace noise, alone or several terms of it."""

NoiseLaw = StreamLaw | DiscreteGaussianLaw | LayersLaw


Law = TypeVar("Law", bound=NoiseLaw)

LEAST_STORED, MOST_STORED = Fraction(1, 10**120), Fraction(2**64)
"""Scales beyond are of no budget that a mechanism takes; figures of them would leave floating point."""


def _stored(scale: object) -> Fraction:
    """A scale that a description may have."""
    number = positive("scale", scale)
    if not LEAST_STORED <= number <= MOST_STORED:
        raise InvalidInput("scale", "of no mechanism's noise", "give from 10**-120 to 2**64")
    return number


def _of_one_kind(description: object, kinds: Mapping[str, Callable[[Mapping[str, Any]], Law]]) -> Law:
    if not isinstance(description, Mapping):
        shown = f"described by something of type {type(description).__name__}"
        raise InvalidInput("noise law", shown, "give what `describe()` returned")
    return one_of("noise law", description.get("name"), kinds)(description)


def _layers(given: Mapping[str, Any]) -> LayersLaw:
    if not isinstance(given["layers"], list) or not given["layers"]:
        raise InvalidInput("noise law", "without layers", "give what `describe()` returned")
    return LayersLaw(tuple(_of_one_kind(law, _FROM_INDEPENDENT) for law in given["layers"]))


def _ticks_and_totals(given: Mapping[str, Any]) -> TicksAndTotalsLaw:
    ticks, totals = (_of_one_kind(given[part], _FROM_SIMPLE) for part in ("ticks", "totals"))
    if not isinstance(ticks, DiscreteLaplaceLaw) or not isinstance(totals, ContinualCounterLaw):
        raise InvalidInput("noise law", "of other parts than ticks and totals", "give what `describe()` returned")
    return TicksAndTotalsLaw(ticks, totals)


_FROM_INDEPENDENT: dict[str, Callable[[Mapping[str, Any]], IndependentLaw]] = {
    DiscreteLaplaceLaw.name: lambda given: DiscreteLaplaceLaw(_stored(given["scale"])),
    DiscreteGaussianLaw.name: lambda given: DiscreteGaussianLaw(given["variance_parameter"]),
}

_FROM_SIMPLE: dict[str, Callable[[Mapping[str, Any]], IndependentLaw | ContinualCounterLaw]] = {
    **_FROM_INDEPENDENT,
    ContinualCounterLaw.name: lambda given: ContinualCounterLaw(_stored(given["scale"]), given["levels"]),
}

_FROM: dict[str, Callable[[Mapping[str, Any]], NoiseLaw]] = {
    **_FROM_SIMPLE,
    TicksAndTotalsLaw.name: _ticks_and_totals,
    LayersLaw.name: _layers,
}


def noise_law_from(description: Mapping[str, Any]) -> NoiseLaw:
    """The law that `describe()` described."""
    return _of_one_kind(description, _FROM)
