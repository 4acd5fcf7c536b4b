"""Laws of growth, fitted: powers of n, powers of log n, and straight lines in log n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.fits import Slope, power_law
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import ROWS_CONSTANT
from sparsedp.mechanisms.selection.candidates import rows_for

Runs = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Series:
    """Errors of all runs at each place, such as each n, in order."""

    x: list[float]
    errors: list[list[float]]

    @property
    def centre(self) -> Floats:
        """The geometric mean of the runs, which is what the laws are fitted to."""
        return np.exp([np.mean(np.log(runs)) for runs in self.errors])

    @property
    def largest_over_centre(self) -> float:
        """How far a run was above the mean of its place at most: what a geometric mean does not show."""
        return float(max(max(runs) / centre for runs, centre in zip(self.errors, self.centre, strict=True)))

    def slope(self) -> Slope:
        """The power of x."""
        return power_law(self.x, self.errors)

    def against(self, x: Sequence[float]) -> Series:
        """The same errors over something else."""
        return Series(list(x), self.errors)

    def over(self, divisors: Sequence[float]) -> Series:
        """The errors divided by something known."""
        pairs = zip(self.errors, divisors, strict=True)
        return Series(self.x, [[error / divisor for error in runs] for runs, divisor in pairs])

    def fitted(self) -> Floats:
        """The fitted power law at every x."""
        slope = self.slope().value
        shift = float(np.mean(np.log(self.centre) - slope * np.log(self.x)))
        return np.exp(shift + slope * np.log(self.x))


def series_over(outcomes: Outcomes, setting: str) -> Series:
    """The errors of one mechanism over a setting; "epsilon" is text there, and a number here."""
    found = sorted((float(one.settings[setting]), one.found["errors"]) for one in outcomes)
    return Series([x for x, _ in found], [errors for _, errors in found])


def hardest(outcomes: Outcomes) -> Series:
    """ε·error over n at whichever size of the details is the worst for the mechanism."""
    found = []
    for one in outcomes:
        worst = max(one.found["scaled_errors"], key=lambda runs: float(np.mean(np.log(runs))))
        found.append((float(one.settings["cells"]), worst))
    found.sort()
    return Series([x for x, _ in found], [errors for _, errors in found])


@dataclass(frozen=True)
class Growth:
    """Three laws in n, each with two free numbers, and how far the errors are off each (in logarithms, mean square)."""

    in_n: Slope
    in_log: Slope
    """The power of log₂(n/S), to which the rows are proportional."""
    intercept: float
    per_doubling: float
    """a and b of a + b·log₂ n."""
    misfits: dict[str, float]

    @property
    def best(self) -> str:
        """The law that fits best."""
        return min(self.misfits, key=lambda law: self.misfits[law])


def growth(series: Series, sparsity: int) -> Growth:
    """Fit all three."""
    n, errors = np.array(series.x), series.centre
    logs = np.log2(n)
    power, logarithmic = series, series.against(np.log2(n / sparsity).tolist())
    # Relative residuals, as in the other fits: small n would not count otherwise.
    design = np.stack([1 / errors, logs / errors], axis=1)
    a, b = np.linalg.lstsq(design, np.ones(len(n)), rcond=None)[0]
    misfits = {
        "a power of n": _misfit(power.fitted(), errors),
        "a power of log(n/S)": _misfit(logarithmic.fitted(), errors),
        "a + b·log n": _misfit(np.maximum(a + b * logs, 1e-300), errors),
    }
    return Growth(power.slope(), logarithmic.slope(), float(a), float(b), misfits)


def _misfit(fitted: Floats, errors: Floats) -> float:
    return float(np.sqrt(np.mean((np.log(fitted) - np.log(errors)) ** 2)))


def rows_at(cells: float, sparsity: int) -> int:
    """k of the compressive contenders."""
    return rows_for(int(cells), sparsity, ROWS_CONSTANT)
