"""`sparsedp.preview`: what a release would be worth, before anything is spent."""

from __future__ import annotations

import numpy.typing as npt

from sparsedp import validate
from sparsedp.domain import Declared
from sparsedp.mechanisms import Mechanism
from sparsedp.previews.assumptions import (
    Total,
    checked_domain,
    checked_guesses,
    checked_totals,
)
from sparsedp.previews.factors import ASKED_FOR
from sparsedp.previews.report import Preview
from sparsedp.previews.scenario import simulate
from sparsedp.previews.setting import Setting
from sparsedp.privacy.asked import asked_for
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.progress import part, stage
from sparsedp.publishing import DEFAULT, checked_mechanism


def preview(
    domain: Declared | int | tuple[int, ...],
    *,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    total: Total,
    smoothness: str | npt.ArrayLike = "unknown",
    mechanism: str | Mechanism = DEFAULT,
    contribution: int = 1,
    neighbours: str = "add_remove",
    runs: int | None = None,
) -> Preview:
    """How far off a release would be, from public assumptions alone. Nothing is spent, and no data is seen.

    The real mechanism is run on made-up counts, so there is no argument for data and none for a ledger. What you guess
    must be public: last year's published table, a census, an order of magnitude. **Never read `total` or `smoothness`
    off the counts you mean to publish**: a preview made from them would say something about them, and so would your
    choice of a budget after it.

    `domain`: a `Domain`, its axes (["day:2024-01-01..2024-12-31", "sex:F,M"]), a shape such as (24, 7), or a number of
    cells.
    `epsilon`, `rho`, `delta`, `mechanism`, `contribution`, `neighbours`: as for `sparsedp.release`.
    `total`: a guess at the sum of all counts, or two of them for a range: (10_000, 50_000).
    `smoothness`: how the counts run along the ordered axes: "flat", "smooth", "steps" (constant blocks), "spiky" (few
    cells hold everything), "rough" or "unordered" (neighbours say nothing about a cell); "unknown" tries them all.
    Or an array of the domain's shape, in any unit: a guess at each cell's share, simulated as it is however large.
    `runs`: how many made-up tables of each kind; left out, as many as take seconds.

    Tables of more than 65,536 cells are simulated on two smaller ones of the same form, and their errors extended. The
    same call gives the same numbers each time.

    >>> preview(24, epsilon="0.5", total=10_000, smoothness="smooth", mechanism="laplace")
    Preview(axis0 (24), ε = 0.5, laplace: a cell off by 2.7)
    """
    table = checked_domain(domain)
    totals = checked_totals(total)
    guesses = checked_guesses(smoothness, totals, table)
    budget = asked_for(epsilon, rho, delta).budget
    whom = Neighbours(contribution, neighbours)
    setting = Setting(checked_mechanism(mechanism), budget, whom.contribution, whom.relation)
    setting.plain_noise(ASKED_FOR)
    if runs is not None:
        runs = validate.whole("runs", runs, most=10_000)
    with stage(f"simulating releases of {table.size:,} cells"):
        scenarios = []
        for place, guess in enumerate(guesses):
            with part((place + 1) / len(guesses)):
                scenarios.append(simulate(guess, table, setting, runs=runs, seed=place))
    return Preview(table, setting, tuple(scenarios))
