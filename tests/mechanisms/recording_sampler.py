"""A sampler that writes down what noise it is asked for, and adds none, or what a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sparsedp.arrays import Ints, Mask
from sparsedp.noise.coins import Chances, toss
from sparsedp.noise.exponential import draw_index
from sparsedp.noise.source import RandomSource


@dataclass(frozen=True)
class Draw:
    """Noise asked for: its kind, its exact scale or σ², and for how many values."""

    kind: str
    parameter: Fraction
    values: int


@dataclass
class RecordingSampler:
    """Stands in for a sampler in `SAMPLERS`."""

    name: str = "recording"
    draws: list[Draw] = field(default_factory=list)
    noise: Callable[[Ints], None] = lambda values: None

    def check(self, source: RandomSource) -> None:
        """Nothing is drawn, so every source will do."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        return scale

    def add_noise(self, values: Ints, scale: Fraction, source: RandomSource) -> None:
        self.draws.append(Draw("laplace", scale, len(values)))
        self.noise(values)

    def effective_variance(self, variance: Fraction) -> Fraction:
        return variance

    def add_gaussian(self, values: Ints, variance: Fraction, source: RandomSource) -> None:
        self.draws.append(Draw("gaussian", variance, len(values)))
        self.noise(values)

    def coins(self, chances: Chances, source: RandomSource) -> Mask:
        return toss(chances, source)

    def choose(self, exponents: Sequence[Fraction], source: RandomSource) -> int:
        return draw_index(exponents, source)
