"""The samplers a mechanism can choose from, by name: ours, and OpenDP's; all draw the same laws.

Every private draw of a mechanism goes through its sampler: noise, coins and choices. So whoever stands in for one sees
all there is to see (`sparsedp.audit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, isqrt, nextafter
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sparsedp.arrays import Ints, Mask
from sparsedp.errors import InvalidInput
from sparsedp.laws import checked_variance
from sparsedp.noise.coins import Chances, toss
from sparsedp.noise.discrete_gaussian import add_discrete_gaussian
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.exponential import draw_index
from sparsedp.noise.source import RandomSource, protects
from sparsedp.validate import positive


@runtime_checkable
class NoiseSampler(Protocol):
    """Adds discrete Laplace or Gaussian noise to integers, never less of it than is asked for; tosses exact coins."""

    name: str

    def check(self, source: RandomSource) -> None:
        """Raise `InvalidInput` if this sampler cannot draw here and from this source; before anything is spent."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        """The exact scale of the noise that `add_noise` draws when asked for `scale`."""

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        """Add independent discrete Laplace noise of the effective scale to every value, in place."""

    def effective_variance(self, variance: Fraction) -> Fraction:
        """The exact σ² of the noise that `add_gaussian` draws when asked for `variance`."""

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        """Add independent discrete Gaussian noise of the effective σ² to every value, in place."""

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        """A coin of each exact chance."""

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """The index i with probability exactly exp(−eᵢ) / Σⱼ exp(−eⱼ)."""


class SparsedpSampler:
    """This library's own sampler: any rational scale or variance exactly."""

    name = "sparsedp"

    def check(self, source: RandomSource) -> None:
        """It draws from every source."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        """The scale itself."""
        return positive("scale", scale)

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        """Add noise modulo 2⁶⁴ in place; see `add_discrete_laplace`."""
        add_discrete_laplace(values, scale, source)

    def effective_variance(self, variance: Fraction) -> Fraction:
        """The variance itself."""
        return checked_variance(variance)

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        """Add noise modulo 2⁶⁴ in place; see `add_discrete_gaussian`."""
        add_discrete_gaussian(values, variance, source)

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        """A coin of each exact chance."""
        return toss(chances, source)

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """The exponential mechanism's draw; see `draw_index`."""
        return draw_index(exponents, source)


class OpendpSampler:
    """Discrete Laplace and Gaussian noise by `opendp`; needs the extra `sparsedp[opendp]`.

    OpenDP takes its scale, or σ, as a float, so it is rounded up to one. It draws from its own operating-system source.
    It clamps what it gives to 64 bits, where our sums wrap: two neighbours' sums on either side of 2⁶³ would be told
    apart for good. So it is given zeros, and its noise is added as ours is.
    """

    name = "opendp"

    def check(self, source: RandomSource) -> None:
        """OpenDP must be installed, and the source the system's: OpenDP brings its own and cannot be seeded."""
        if not protects(source):
            raise InvalidInput(
                "source", "a seeded source", 'use the "sparsedp" sampler for repeatable noise; OpenDP cannot be seeded'
            )
        _opendp()

    def effective_scale(self, scale: Fraction) -> Fraction:
        """The least float that is not below the scale: the scale of the noise that is really drawn."""
        return Fraction(_float_above(positive("scale", scale)))

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        """Add noise of the effective scale to every value in place, modulo 2⁶⁴."""
        dp = self._ready(source)
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        _apply(dp.m.make_laplace(*space, scale=float(self.effective_scale(scale))), values)

    def effective_variance(self, variance: Fraction) -> Fraction:
        """The square of the least float that is not below √variance: that of the noise that is really drawn."""
        return Fraction(_deviation_above(checked_variance(variance))) ** 2

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        """Add noise of the effective variance to every value in place, modulo 2⁶⁴."""
        dp = self._ready(source)
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
        _apply(dp.m.make_gaussian(*space, scale=_deviation_above(checked_variance(variance))), values)

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        """Ours: OpenDP has none of an exact chance."""
        return toss(chances, source)

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """Ours: OpenDP's takes floats."""
        return draw_index(exponents, source)

    def _ready(self, source: RandomSource) -> Any:
        self.check(source)
        dp = _opendp()
        dp.enable_features("contrib")
        return dp


def _apply(measurement: Any, values: Ints) -> None:
    noise = np.array(measurement(np.zeros(values.size, np.int64)), dtype=np.int64)
    values += noise.reshape(values.shape)
    noise.fill(0)


def _float_above(wanted: Fraction) -> float:
    """The least float that is not below a number."""
    try:
        rounded = float(wanted)
    except OverflowError:
        rounded = inf
    if rounded == inf:
        raise InvalidInput("scale", "above every float", 'use the "sparsedp" sampler, which takes any rational')
    return rounded if Fraction(rounded) >= wanted else nextafter(rounded, inf)


def _deviation_above(variance: Fraction) -> float:
    """The least float whose square is not below a variance; the square of the answer is exact again."""
    shift = max(0, 160 - variance.numerator.bit_length() + variance.denominator.bit_length())
    rounded = _float_above(Fraction(isqrt((variance.numerator << 2 * shift) // variance.denominator), 1 << shift))
    return rounded if Fraction(rounded) ** 2 >= variance else nextafter(rounded, inf)


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InvalidInput(
            "sampler", '"opendp", which is not installed', 'install it with `pip install "sparsedp[opendp]"`'
        ) from None
    return dp


SAMPLERS: Mapping[str, NoiseSampler] = {"sparsedp": SparsedpSampler(), "opendp": OpendpSampler()}
"""Every sampler by name; `sparsedp` is the default everywhere."""
