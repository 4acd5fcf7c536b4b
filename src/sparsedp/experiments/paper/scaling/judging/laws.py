"""Laws of growth, fitted: powers of n, powers of log n, and straight lines in log n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.experiments.paper.fits import Slope
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import ROWS_CONSTANT
from sparsedp.experiments.paper.series import Series, misfit
from sparsedp.mechanisms.selection.candidates import rows_for


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
        "a power of n": power.misfit,
        "a power of log(n/S)": logarithmic.misfit,
        "a + b·log n": misfit(np.maximum(a + b * logs, 1e-300), errors),
    }
    return Growth(power.power, logarithmic.power, float(a), float(b), misfits)


def rows_at(cells: float, sparsity: int) -> int:
    """k of the compressive contenders."""
    return rows_for(int(cells), sparsity, ROWS_CONSTANT)
