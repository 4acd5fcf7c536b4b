"""How an error falls as the budget grows: a power law through the errors simulated at a few budgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Self

import numpy as np

PLAIN_SLOPE, SLOPE_SPREAD = 1.0, 0.3
"""Plain noise is inverse to the budget's factor, and most errors fall nearly so."""


@dataclass(frozen=True)
class PowerLaw:
    """An error of `level · factor^(−slope)`."""

    level: float
    slope: float

    @classmethod
    def through(cls, points: Iterable[tuple[float, float, float]]) -> Self | None:
        """The law through (factor, error, independent draws behind it); None if there are no errors to speak of.

        A straight line in double logarithms, each point weighing as much as its draws: the logarithm of a root mean
        square of k of them has a variance of about 1/(2k). A few draws say little of a slope, so the line leans
        towards the slope of plain noise; many overrule it. The level is a root mean square, not a mean of logarithms,
        which would be too low for few draws.
        """
        known = [point for point in points if point[1] > 0]
        if not known:
            return None
        factor, error, draws = np.array(known).T
        x, y, weight = np.log(factor), np.log(error), 2 * draws
        lean, aside = 1 / SLOPE_SPREAD**2, x - np.average(x, weights=weight)
        slope = float((PLAIN_SLOPE * lean - weight @ (aside * y)) / (lean + weight @ aside**2))
        return cls(sqrt(np.average((error * factor**slope) ** 2, weights=draws)), slope)

    def at(self, factor: float) -> float:
        """The error at a budget."""
        return float(self.level * factor**-self.slope)

    @property
    def halving_factor(self) -> float:
        """How much more budget halves the error."""
        return float(2 ** (1 / self.slope)) if self.slope > 0.01 else inf
