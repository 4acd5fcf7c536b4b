"""Slopes with confidence intervals: how an error grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Slope:
    """The exponent p of error ≈ c·xᵖ, with the ends of its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:z.2f} [{self.low:z.2f}, {self.high:z.2f}]"

    def holds(self, exponent: float) -> bool:
        """Whether the interval has the exponent in it."""
        return self.low <= exponent <= self.high


def power_law(x: Sequence[float], errors: Sequence[Sequence[float]], *, level: float = LEVEL) -> Slope:
    """Fit log error = log c + p·log x by least squares to the errors of all runs at every x.

    The interval is Student's, from the scatter of the *means* about the line: runs at one x share its signal and the
    bend of the true law, so that counting each run as a point of its own would make it too narrow.
    """
    logs = np.array([np.mean(np.log(runs)) for runs in errors])
    fitted = stats.linregress(np.log(x), logs)
    half = float(stats.t.ppf((1 + level) / 2, len(logs) - 2)) * float(fitted.stderr)
    return Slope(float(fitted.slope), float(fitted.slope) - half, float(fitted.slope) + half)


def mean_interval(values: Sequence[float], *, level: float = LEVEL) -> tuple[float, float, float]:
    """A mean and the ends of its Student interval; of a single value, that value three times."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean, mean
    half = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * float(stats.sem(values))
    return mean, mean - half, mean + half
