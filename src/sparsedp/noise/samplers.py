"""The samplers a mechanism can choose from, by name; all draw the same laws.

Every private draw of a mechanism goes through its sampler: noise, coins and choices. So whoever stands in for one sees
all there is to see (`sparsedp.audit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol, runtime_checkable

from sparsedp.arrays import Integers, Mask
from sparsedp.noise.bernoulli import Chances, toss
from sparsedp.noise.discrete_gaussian import add_discrete_gaussian
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.exponential import draw_index
from sparsedp.noise.gaussian_law import checked_variance
from sparsedp.noise.opendp_sampler import OpendpSampler
from sparsedp.noise.source import RandomSource
from sparsedp.validate import positive


@runtime_checkable
class NoiseSampler(Protocol):
    """Adds discrete Laplace or Gaussian noise to integers, never less of it than is asked for; tosses exact coins."""

    name: str

    def check(self, source: RandomSource) -> None:
        """Raise `InvalidInput` if this sampler cannot draw here and from this source; before anything is spent."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        """The exact scale of the noise that `add_noise` draws when asked for `scale`."""

    def add_noise(self, values: Integers, scale: Fraction, source: RandomSource) -> None:
        """Add independent discrete Laplace noise of the effective scale to every value, in place."""

    def effective_variance(self, variance: Fraction) -> Fraction:
        """The exact σ² of the noise that `add_gaussian` draws when asked for `variance`."""

    def add_gaussian(self, values: Integers, variance: Fraction, source: RandomSource) -> None:
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

    def add_noise(self, values: Integers, scale: Fraction, source: RandomSource) -> None:
        """Add noise modulo 2⁶⁴ in place; see `add_discrete_laplace`."""
        add_discrete_laplace(values, scale, source)

    def effective_variance(self, variance: Fraction) -> Fraction:
        """The variance itself."""
        return checked_variance(variance)

    def add_gaussian(self, values: Integers, variance: Fraction, source: RandomSource) -> None:
        """Add noise modulo 2⁶⁴ in place; see `add_discrete_gaussian`."""
        add_discrete_gaussian(values, variance, source)

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        """A coin of each exact chance."""
        return toss(chances, source)

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        """The exponential mechanism's draw; see `draw_index`."""
        return draw_index(exponents, source)


SAMPLERS: Mapping[str, NoiseSampler] = {"sparsedp": SparsedpSampler(), "opendp": OpendpSampler()}
"""Every sampler by name; `sparsedp` is the default everywhere."""
