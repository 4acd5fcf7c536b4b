"""Made-up outcomes of a sweep over ε: every error follows from a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.paper.data import PAPER_DATA
from studies.paper.epsilon_sweep.measuring import CONTENDERS, EPSILONS
from studies.paper.experiment import Outcome, Outcomes

CELLS = {"social_network": 11_342, "search_logs": 32_768, "nettrace": 65_536}
NORM = 1000.0
SCATTER = (0.99, 1.0, 1.01)

Error = Callable[[str, str, float], float]
"""The mean error on a data set, of a contender, at ε."""


def made_up_sweep(
    error: Error,
    *,
    ranges: Error | None = None,
    sparsity: int = 20,
    origin: str = "stand-in",
    names: Sequence[str] = PAPER_DATA,
    facts: Mapping[str, Any] | None = None,
    scatter: Sequence[float] = SCATTER,
) -> Outcomes:
    """Three runs of everyone, one in a hundred apart; zeros always have the norm as their error."""
    finished = []
    for data in names:
        common = {"data": data, "origin": origin}
        size = {"cells": CELLS[data], "norm": NORM, "about": data}
        found = {"steps_of_at_most_one": 0.99, "mean_count": 5.0, "coefficients": {"haar": 20, "cosine": 4000}}
        finished.append(Outcome({"part": "facts", **common}, {**found, **(facts or {}), **size}, 0.0))
        for mechanism in CONTENDERS:
            for epsilon in EPSILONS:
                settings = {"part": "errors", **common, "mechanism": mechanism, "epsilon": epsilon}
                mean = NORM if mechanism == "zeros" else error(data, mechanism, float(epsilon))
                of_ranges = mean if ranges is None or mechanism == "zeros" else ranges(data, mechanism, float(epsilon))
                at = (1.0,) if mechanism == "zeros" else scatter
                runs = {kind: [mean * one for one in at] for kind in ("errors", "clipped_errors")}
                runs["range_errors"] = [of_ranges * one for one in at]
                finished.append(Outcome(settings, {**runs, "sparsities": [sparsity] * len(at), **size}, 0.0))
    return Outcomes(finished)


def advantage(of: Callable[[str, float], float], *, laplace: Callable[[float], float] = lambda e: 500.0) -> Error:
    """Laplace has its error, HRMS and Privelet ten times that, all others Laplace's over their advantage."""

    def error(data: str, mechanism: str, epsilon: float) -> float:
        if mechanism == "laplace":
            return laplace(epsilon)
        if mechanism in ("hierarchical", "privelet"):
            return 10 * laplace(epsilon)
        return laplace(epsilon) / of(data, epsilon)

    return error
