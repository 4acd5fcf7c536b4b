"""The laws behind the points: exponents with intervals, and which of two laws the points are nearer to."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.fits import Slope
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.series import Series

VARIED = {"horizon": "horizon", "time": "ticks", "epsilon": "epsilon", "sparsity": "pieces"}
"""The setting that a part varies."""

DISTINCT = 2.0
"""How many times as far from the points one law must be for the other to be called the better one."""


class Points(Series):
    """A series over ticks, which may also grow like a power of their logarithm."""

    @property
    def in_logarithm(self) -> Series:
        """Over 1 + log₂ x. The paper's noises are Lap((1 + log T)/ε); in the long run the 1 does not matter."""
        return self.against((1 + np.log2(self.x)).tolist())

    @property
    def logarithmic(self) -> Slope:
        """q of c·(1 + log₂ x)^q."""
        return self.in_logarithm.power

    @property
    def nearer(self) -> str:
        """The law that fits better, if one does."""
        power, logarithm = self.misfit, self.in_logarithm.misfit
        if power > DISTINCT * logarithm:
            return "a power of 1 + log T"
        return "a power of T" if logarithm > DISTINCT * power else "either"


def points(outcomes: Outcomes, part: str, mechanism: str, key: str = "errors") -> Points:
    """What was measured of one stream in one part: its errors, or what else its jobs found."""
    rows = outcomes.where(part=part, mechanism=mechanism)
    found = {float(row.settings[VARIED[part]]): tuple(row.found[key]) for row in rows}
    rising = sorted(found)
    return Points(tuple(rising), tuple(found[x] for x in rising))
