"""Weekdays of a year of flights, and hours of its days: the default beside `Adaptive("marginals")`, in one run.

Mean absolute errors of sums by weekday and the like, errors of cells (root of summed squares), and how often intervals
hold.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

import sparsedp as sdp
from sparsedp.datasets import flights
from sparsedp.releases.sums import Sums
from studies.tables import AIRPORTS, flight_days

DAYS = ("day:2013-01-01..2013-12-31/1d", f"origin:{','.join(AIRPORTS)}")
HOURS = ("t:2013-01-01..2013-12-31/1h",)


CASES = {
    "days × airports, ε = 1, 100 records each": (
        flight_days,
        DAYS,
        sdp.Budget(epsilon=1),
        100,
        (("day.weekday",), ("day.weekday", "origin"), ("day.month",), ("origin",)),
    ),
    "hours, ε = 0.1": (
        flights.hourly_departures,
        HOURS,
        sdp.Budget(epsilon="0.1"),
        1,
        (("t.weekday",), ("t.hour_of_day",), ("t.hour_of_week",), ("t.month",)),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="releases of each (default 15)")
    chosen = parser.parse_args(arguments)
    console = Console(width=120)
    for title, (counts_of, axes, budget, contribution, asked) in CASES.items():
        counts, domain = counts_of(), sdp.Domain.of(list(axes))
        grid = Grid("workload", "cells", *("×".join(names) for names in asked), title=title)
        for workload in ("any", "marginals", "cells"):
            cells, errors, held = [], [], []
            for _ in range(chosen.runs):
                release = sdp.Adaptive(workload).release(
                    counts, domain=domain, epsilon=budget, contribution=contribution
                )
                cells.append(float(np.linalg.norm((release.values - counts).reshape(-1))))
                for names in asked:
                    found = release.marginal(*names)
                    true = Sums.named(domain, names)[0].of(counts.astype(np.float64)).reshape(found.values.shape)
                    off = np.abs(found.values - true)
                    errors.append(float(off.mean()))
                    held.append(float((off <= 1.96 * np.asarray(found.stderr)).mean()))
            means = np.array([errors, held]).reshape(2, -1, len(asked)).mean(axis=1)
            shown = (f"{error:,.0f} ({hold:.0%} held)" for error, hold in means.T)
            grid.add_row(workload, f"{np.mean(cells):,.0f}", *shown)
        console.print(grid)
    return 0


if __name__ == "__main__":
    sys.exit(main())
