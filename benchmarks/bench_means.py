"""Do the 95 % intervals of means hold the mean of what was counted, on skewed costs, and what does the clamp change?

Costs by ward, and by ward and day of a year: twelve wards of very different sizes, costs log-normal or with a Pareto
tail, clamped where few of them lie; 10³ to 10⁶ records. For every question ("ward", "day.month", …) the share of
intervals that hold the true mean of the clamped values; with `--cases` for each input, with the median width as a share
of that mean, and, apart from it, by how much clamping had lowered the mean. Exits with 1 if any share is below 94 % by
more than chance explains.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import sparsedp as sdp
from sparsedp.axes.domain import Quantity
from sparsedp.counts import Counts
from sparsedp.releases.sums import Sums

WARDS = 12
TABLES = {
    "wards": sdp.Domain([sdp.Categories("ward", [f"w{number}" for number in range(WARDS)])]),
    "wards × days": sdp.Domain.parse(
        ["ward:" + ",".join(f"w{number}" for number in range(WARDS)), "day:2024-01-01..2024-12-31/1d"]
    ),
}
QUESTIONS: dict[str, list[Any]] = {
    "wards": [None, "ward"],
    "wards × days": [None, "ward", "day.month", "day.weekday", ["ward", "day.month"]],
}
COSTS = {"log-normal": (1.0, 8000), "log-normal, wide": (1.6, 30_000), "Pareto": (0.0, 20_000)}
"""Their shape, and what they are clamped to."""
TOTALS = (10**3, 10**4, 10**5, 10**6)
BUDGETS: dict[str, dict[str, Any]] = {
    "ε = 1": {"epsilon": 1},
    "ε = 0.1": {"epsilon": "0.1"},
    "ρ = 0.05": {"rho": "0.05"},
}
LEAST = 0.94


@dataclass
class Truth:
    """The tables of one input, and the mean that clamping changed."""

    counts: Counts
    records: Any
    sums: Any
    unclamped: float


def made(table: str, costs: str, total: int, chance: np.random.Generator) -> Truth:
    """So many records, wards of sizes 1 : 2 : … : 12, whose costs differ by ward."""
    domain = TABLES[table]
    sizes = np.arange(1, WARDS + 1)
    ward = chance.choice(WARDS, total, p=sizes / sizes.sum())
    shape, clamp = COSTS[costs]
    base = 500 * (1 + ward / WARDS)
    cost = base * chance.lognormal(0, shape, total) if shape else base * (1 + chance.pareto(1.3, total))
    places = [ward] if table == "wards" else [ward, chance.integers(0, domain.shape[1], total)]
    records, sums = np.zeros(domain.shape, np.int64), np.zeros(domain.shape, np.int64)
    np.add.at(records, tuple(places), 1)
    np.add.at(sums, tuple(places), np.minimum(np.round(cost), clamp).astype(np.int64))
    counts = Counts(records.copy(), domain, 1, ("who",), 1)
    quantity = Quantity("cost", Fraction(1), (Fraction(0), Fraction(clamp)))
    both = Counts(sums.copy(), domain, clamp, ("who",), 1, quantity, counts=counts)
    return Truth(both, records.astype(float), sums.astype(float), float(cost.mean()))


def true_means(truth: Truth, release: sdp.Release, by: Any) -> Any:
    """Of what was counted, group by group; not a number where there is nothing."""
    if by is None:
        return np.array([truth.sums.sum() / truth.records.sum()])
    names = [by] if isinstance(by, str) else by
    assert release.domain is not None
    groups, _ = Sums.named(release.domain, tuple(names))
    with np.errstate(invalid="ignore"):
        return (groups.of(truth.sums) / groups.of(truth.records)).ravel()


def judged(truth: Truth, release: sdp.Release, by: Any, kind: str) -> Iterator[tuple[bool, float]]:
    """Whether each interval holds, and how wide it is beside the mean."""
    found: list[Any] = (
        [release.mean(kind=kind)] if by is None else [each.interval for each in release.mean(by=by, kind=kind)]
    )
    for interval, mean in zip(found, true_means(truth, release, by), strict=True):
        if np.isfinite(mean):
            slack = 1e-6 * mean
            yield bool(interval.low - slack <= mean <= interval.high + slack), (interval.high - interval.low) / mean


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="releases of each case (default 40)")
    parser.add_argument("--totals", type=int, nargs="+", default=TOTALS, help="numbers of records")
    parser.add_argument("--mechanisms", nargs="+", default=["adaptive", "laplace"], help="which")
    parser.add_argument("--kind", default="likely", help="of the intervals: likely, guaranteed or expected")
    parser.add_argument("--cases", action="store_true", help="show every input by itself")
    given = parser.parse_args()
    families: dict[tuple[str, str], list[bool]] = defaultdict(list)
    cases = Table(
        "mechanism", "table", "costs", "records", "budget", "question", "held", "of", "width", "clamp changed"
    )
    for mechanism, name, costs, total in product(given.mechanisms, QUESTIONS, COSTS, given.totals):
        truth = made(name, costs, total, np.random.default_rng(total))
        lowered = truth.sums.sum() / truth.records.sum() / truth.unclamped - 1
        for budget, amount in BUDGETS.items():
            spent = sdp.Budget(**amount)
            releases = [sdp.release(truth.counts, mechanism=mechanism, epsilon=spent) for _ in range(given.runs)]
            for question in QUESTIONS[name]:
                found = [each for release in releases for each in judged(truth, release, question, given.kind)]
                held, widths = [one for one, _ in found], [width for _, width in found]
                asked = "all" if question is None else " × ".join([question] if isinstance(question, str) else question)
                families[mechanism, asked] += held
                figures = f"{np.mean(held):.3f}", str(len(held)), f"{np.median(widths):.3g}", f"{lowered:+.1%}"
                cases.add_row(mechanism, name, costs, f"{total:,}", budget, asked, *figures)
    console = Console(width=160)
    if given.cases:
        console.print(cases)
    missed = False
    for (mechanism, asked), held in sorted(families.items()):
        share, slack = float(np.mean(held)), 3 * sqrt(LEAST * (1 - LEAST) / len(held))
        missed |= share < LEAST - slack
        console.print(f"{mechanism}, {asked}: {share:.3f} of {len(held):,} intervals hold")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
