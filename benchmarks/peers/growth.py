"""How time and error grow with the number of cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

import numpy as np

from peers.contender import Contender
from peers.measuring import Outcome, measured
from sparsedp.arrays import Ints

Grown = dict[Contender, dict[int, Outcome]]
FITTED = 3
"""Sizes that the exponent is fitted to, the largest ones: below them what a call costs at any size shows."""


def zipf(cells: int) -> Ints:
    """Counts by a power law, the largest first: n, n/2, n/3, …, 1, rounded down."""
    return cells // np.arange(1, cells + 1)


def grown(
    contenders: Sequence[Contender],
    sizes: Sequence[int],
    epsilon: str,
    *,
    runs: int,
    patience: float,
    limit: float,
    done: Callable[[], object],
) -> Grown:
    """Measure at every size, but not where the size before lets a run of more than `limit` seconds be expected."""
    results: Grown = {contender: {} for contender in contenders}
    for before, cells in zip((0, *sizes), sizes, strict=False):
        able = [one for one in contenders if before == 0 or _expected(results[one], before, cells) <= limit]
        for contender, outcome in measured(able, zipf(cells), epsilon, runs=runs, patience=patience).items():
            results[contender][cells] = outcome
        done()
    return results


def exponent(outcomes: dict[int, Outcome]) -> float | None:
    """p, where the time grows like nᵖ over the largest sizes; None where only one was run."""
    sizes = sorted(outcomes)[-FITTED:]
    if len(sizes) < 2:
        return None
    logs = [log(outcomes[size].seconds) for size in sizes]
    return float(np.polyfit(np.log(sizes), logs, 1)[0])


def _expected(outcomes: dict[int, Outcome], before: int, cells: int) -> float:
    """As if the time grew with the number of cells; no end of it, if the size before was not run either."""
    return outcomes[before].seconds * cells / before if before in outcomes else float("inf")
