"""Noise of one phase of a mechanism: its law, what it costs, and the adding of it."""

from __future__ import annotations

from dataclasses import dataclass

from sparsedp.arrays import Integers
from sparsedp.laws import DiscreteGaussianLaw, IndependentLaw
from sparsedp.noise.samplers import NoiseSampler
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.guarantee import Expense


@dataclass(frozen=True)
class CalibratedNoise:
    """Independent noise of `law` for every value, just as much as `expense` pays for; made by `Terms.noise`.

    Adding it once to integers of the sensitivity it was made for costs `expense`; adding it twice costs it twice.
    """

    law: IndependentLaw
    expense: Expense
    sampler: NoiseSampler
    source: RandomSource

    def add_to(self, values: Integers) -> None:
        """Add fresh noise to every value, in place, modulo 2⁶⁴."""
        if isinstance(self.law, DiscreteGaussianLaw):
            self.sampler.add_gaussian(values, self.law.variance_parameter, self.source)
        else:
            self.sampler.add_noise(values, self.law.scale, self.source)
