"""Laws of growth, fitted to the series of the experiment: powers of n, powers of log n, straight lines in log n."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from sparsedp.mechanisms.selection.sparsity_choice import rows_for
from studies.paper.deciding import (
    Series,
    Slope,
    misfit,
)
from studies.paper.experiment import Outcomes
from studies.paper.scaling.measuring import ROWS_CONSTANT, SIZE, THRESHOLD


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


# ---- the series, by the names of their parts

CLEARLY = 2.0
"""How far above what stands out among n coefficients of noise the details are where recovery is called safe."""


def sparsity_of(outcomes: Outcomes) -> int:
    """S where it is not varied."""
    return int(outcomes.where(part="cells").values("sparsity")[0])


def over_cells(outcomes: Outcomes, mechanism: str) -> Series:
    """Errors over n, details far above the noise."""
    return series_over(outcomes.where(part="cells", mechanism=mechanism), "cells")


def over_sparsity(outcomes: Outcomes, mechanism: str) -> Series:
    """Errors over S."""
    return series_over(outcomes.where(part="sparsity", mechanism=mechanism), "sparsity")


def over_epsilon(outcomes: Outcomes, mechanism: str, *, safe: bool = False) -> Series:
    """Errors over ε; `safe`: only where every detail stands out clearly from the noise of a random projection."""
    series = series_over(outcomes.where(part="epsilon", mechanism=mechanism), "epsilon")
    if not safe:
        return series
    cells = outcomes.where(part="epsilon").values("cells")[0]
    least = CLEARLY * sqrt(2 * log(cells)) * sqrt(2 * rows_at(cells, sparsity_of(outcomes))) / SIZE
    kept = [place for place, epsilon in enumerate(series.x) if epsilon >= least]
    return Series([series.x[place] for place in kept], [series.errors[place] for place in kept])


def hardest_over_cells(outcomes: Outcomes, mechanism: str) -> Series:
    """ε·error over n at the worst size of the details; basis pursuit and the lossless ones have no worse one."""
    if mechanism in outcomes.where(part="fading").values("mechanism"):
        return hardest(outcomes.where(part="fading", mechanism=mechanism))
    return over_cells(outcomes, mechanism)


def growth_of(outcomes: Outcomes, mechanism: str, *, worst: bool = False) -> Growth:
    """The laws in n."""
    series = hardest_over_cells(outcomes, mechanism) if worst else over_cells(outcomes, mechanism)
    return growth(series, sparsity_of(outcomes))


def without_root(outcomes: Outcomes, mechanism: str) -> Series:
    """Errors over √n, against log₂ n: the logarithmic factors that Õ(√n) hides."""
    series = over_cells(outcomes, mechanism)
    return series.over([sqrt(n) for n in series.x]).against([log(n, 2) for n in series.x])


LOSSLESS = ("laplace", "hierarchical", "privelet")
BOUNDS = {
    "compressive": "O(log n/ε)",
    "compressive bp": "O(log n/ε)",
    "compressive tree": "O(log n/ε)",
    "laplace": "O(√n/ε)",
    "hierarchical": "Õ(√n/ε)",
    "privelet": "Õ(√n/ε)",
    THRESHOLD: "–",
    "adaptive": "–",
}
"""Table 1 of the paper; the last two are not in it."""
