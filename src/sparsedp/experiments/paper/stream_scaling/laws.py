"""The laws behind the points: exponents with intervals, and which of two laws the points are nearer to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.fits import Slope, power_law
from sparsedp.experiments.paper.outcomes import Outcomes

VARIED = {"horizon": "horizon", "time": "ticks", "epsilon": "epsilon", "sparsity": "pieces"}
"""The setting that a part varies."""

DISTINCT = 2.0
"""How many times as far from the points one law must be for the other to be called the better one."""


@dataclass(frozen=True)
class Points:
    """Errors (or what else grows) of all runs at every x, x rising."""

    x: tuple[float, ...]
    errors: tuple[tuple[float, ...], ...]

    @property
    def means(self) -> Floats:
        """Geometric means: the laws are straight lines on paper with two log scales."""
        return np.array([np.exp(np.mean(np.log(runs))) for runs in self.errors])

    def over(self, law: Floats) -> Points:
        """The same, divided by a law."""
        divided = (tuple(error / part for error in runs) for runs, part in zip(self.errors, law, strict=True))
        return Points(self.x, tuple(divided))

    @property
    def power(self) -> Slope:
        """p of c·xᵖ."""
        return power_law(self.x, self.errors)

    @property
    def logarithmic(self) -> Slope:
        """q of c·(1 + log₂ x)^q. The paper's noises are Lap((1 + log T)/ε); in the long run the 1 does not matter."""
        return power_law((1 + np.log2(self.x)).tolist(), self.errors)

    def line(self, *, logarithmic: bool = False) -> Floats:
        """The fitted law at every x."""
        x = np.log(1 + np.log2(self.x) if logarithmic else self.x)
        slope, level = np.polyfit(x, np.log(self.means), 1)
        return np.asarray(np.exp(level + slope * x))

    def distance(self, *, logarithmic: bool) -> float:
        """How far the means are from the fitted law, as a root mean square in natural logarithms: 0.01 is 1 %."""
        return float(np.sqrt(np.mean(np.log(self.means / self.line(logarithmic=logarithmic)) ** 2)))

    @property
    def nearer(self) -> str:
        """The law that fits better, if one does."""
        power, logarithm = self.distance(logarithmic=False), self.distance(logarithmic=True)
        if power > DISTINCT * logarithm:
            return "a power of 1 + log T"
        return "a power of T" if logarithm > DISTINCT * power else "either"


def points(outcomes: Outcomes, part: str, mechanism: str, key: str = "errors") -> Points:
    """What was measured of one stream in one part: its errors, or what else its jobs found."""
    rows = outcomes.where(part=part, mechanism=mechanism)
    found = {float(row.settings[VARIED[part]]): tuple(row.found[key]) for row in rows}
    rising = sorted(found)
    return Points(tuple(rising), tuple(found[x] for x in rising))
