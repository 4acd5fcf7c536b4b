"""Errors of all runs at each place, and the law that they grow by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.fits import Slope, power_law


@dataclass(frozen=True)
class Series:
    """Errors, or what else grows, of all runs at each x, such as each n; x rises."""

    x: Sequence[float]
    errors: Sequence[Sequence[float]]

    @property
    def centre(self) -> Floats:
        """The geometric mean of the runs, which is what the laws are fitted to."""
        return np.exp([np.mean(np.log(runs)) for runs in self.errors])

    @property
    def largest_over_centre(self) -> float:
        """How far a run was above the mean of its place at most: what a geometric mean does not show."""
        return float(max(max(runs) / centre for runs, centre in zip(self.errors, self.centre, strict=True)))

    @property
    def power(self) -> Slope:
        """p of c·xᵖ."""
        return power_law(self.x, self.errors)

    def against(self, x: Sequence[float]) -> Series:
        """The same errors over something else."""
        return Series(list(x), self.errors)

    def over(self, divisors: Sequence[float] | Floats) -> Series:
        """The errors divided by something known."""
        pairs = zip(self.errors, divisors, strict=True)
        return Series(self.x, [[error / float(divisor) for error in runs] for runs, divisor in pairs])

    def fitted(self) -> Floats:
        """The fitted power law at every x."""
        slope = self.power.value
        shift = float(np.mean(np.log(self.centre) - slope * np.log(self.x)))
        return np.exp(shift + slope * np.log(self.x))

    @property
    def misfit(self) -> float:
        """How far the means are from the fitted law, as a root mean square in natural logarithms: 0.01 is 1 %."""
        return misfit(self.fitted(), self.centre)


def misfit(fitted: Floats, errors: Floats) -> float:
    """The distance of errors from any law, as above."""
    return float(np.sqrt(np.mean((np.log(fitted) - np.log(errors)) ** 2)))
