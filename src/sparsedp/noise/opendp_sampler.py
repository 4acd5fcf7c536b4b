"""OpenDP's integer Laplace as a backend: the same law from an independent implementation, only slower."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import Any

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput
from sparsedp.noise.source import RandomSource, protects
from sparsedp.validate import positive


class OpendpSampler:
    """Discrete Laplace noise by `opendp`; needs the extra `sparsedp[opendp]`.

    Two differences, both harmless to privacy: OpenDP takes its scale as a float, so the scale is rounded up
    to one; and it clamps the sum to 64 bits where ours wraps. It draws from its own operating-system source.
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
        wanted = positive("scale", scale)
        try:
            rounded = float(wanted)
        except OverflowError:
            rounded = inf
        if rounded == inf:
            raise InvalidInput("scale", "above every float", 'use the "sparsedp" sampler, which takes any rational')
        if Fraction(rounded) < wanted:
            rounded = nextafter(rounded, inf)
        return Fraction(rounded)

    def add_noise(self, values: Integers, scale: Fraction, source: RandomSource) -> None:
        """Add noise of the effective scale to every value in place, clamping the sum to 64 bits."""
        self.check(source)
        dp = _opendp()
        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        laplace = dp.m.make_laplace(*space, scale=float(self.effective_scale(scale)))
        values[...] = np.array(laplace(values.reshape(-1)), dtype=np.int64).reshape(values.shape)


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise InvalidInput(
            "sampler", '"opendp", which is not installed', 'install it with `pip install "sparsedp[opendp]"`'
        ) from None
    return dp
