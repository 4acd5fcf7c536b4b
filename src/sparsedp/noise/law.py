"""The law of the noise: what recovery and error estimates need to know about it, and nothing that draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, inf, log, log1p, tanh
from typing import Any, ClassVar, TypeVar

from sparsedp.errors import InvalidInput
from sparsedp.noise.gaussian_law import DiscreteGaussianLaw
from sparsedp.validate import one_of, positive, whole


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
