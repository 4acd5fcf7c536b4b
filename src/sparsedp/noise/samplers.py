"""The samplers a mechanism can choose from, by name; all draw the same laws."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from sparsedp.arrays import Integers
from sparsedp.noise.discrete_gaussian import add_discrete_gaussian
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.gaussian_law import checked_variance
from sparsedp.noise.opendp_sampler import OpendpSampler
from sparsedp.noise.source import RandomSource
from sparsedp.validate import positive


class NoiseSampler(Protocol):
    """Adds discrete Laplace or Gaussian noise to integers, never less of it than is asked for."""

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


SAMPLERS: Mapping[str, NoiseSampler] = {"sparsedp": SparsedpSampler(), "opendp": OpendpSampler()}
"""Every sampler by name; `sparsedp` is the default everywhere."""
