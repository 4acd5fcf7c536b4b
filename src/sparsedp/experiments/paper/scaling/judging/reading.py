"""The series of the experiment, by the names of its parts."""

from __future__ import annotations

from math import log, sqrt

from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import THRESHOLD
from sparsedp.experiments.paper.scaling.judging.laws import Growth, growth, hardest, rows_at, series_over
from sparsedp.experiments.paper.scaling.signals import SIZE
from sparsedp.experiments.paper.series import Series

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
