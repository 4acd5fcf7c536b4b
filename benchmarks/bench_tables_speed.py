"""Tables of seven axes: `Adaptive` beside all marginals of two axes fitted by `mbi`, in one run on one thread.

Prints seconds, the ratio to mbi, how long one marginal with its errors takes, the memory of ours by cell, and how all
of it grows with the number of cells.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from collections.abc import Sequence
from multiprocessing import get_context

from side_by_side import least_times

# isort: split
import numpy as np
from rich.console import Console
from rich.table import Table as Grid

import sparsedp as sdp
from rivals.of_tables.contender import Budget
from rivals.of_tables.graphical import AllMargins
from sparsedp.arrays import Ints
from studies.tables import chain

SHAPES = ((2, 7, 9, 7, 8, 6, 2), (2, 7, 9, 14, 15, 6, 2), (4, 9, 12, 14, 15, 8, 4))
"""84,672, 317,520 and 2.9 million cells."""

RECORDS = 50_000
BUDGETS = {"ε = 1": sdp.Budget(epsilon=1), "ρ = 0.5": sdp.Budget(rho="0.5")}
WORKLOADS = ("any", "marginals")


def counts(shape: tuple[int, ...]) -> Ints:
    """A chain: each axis depends on the one before."""
    cells = chain(shape, RECORDS, np.random.default_rng(1))
    places = np.ravel_multi_index(tuple(cells.T), shape)
    return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)


def ours(shape: tuple[int, ...], budget: str, workload: str) -> tuple[float, float, float]:
    """Seconds of a release, and of a marginal of two axes with its errors; bytes a cell beyond those before."""
    table, mechanism, spent = counts(shape), sdp.Adaptive(workload), BUDGETS[budget]
    mechanism.release(table[:, :2, :2, :2, :2, :2, :2], epsilon=spent)  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    release, released = least_times({"": (lambda: mechanism.release(table, epsilon=spent), 1)})[""]
    _, asked = least_times({"": (lambda: release.marginal("axis2", "axis3").stderr, 1)})[""]
    return released, asked, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / table.size


def theirs(shape: tuple[int, ...], budget: str) -> float:
    """Seconds of all marginals of two axes by mbi; the less of two runs, of which the first compiles."""
    warnings.simplefilter("ignore")
    spent = Budget(0.5, gaussian=True) if "ρ" in budget else Budget(1.0, gaussian=False)
    table, random = counts(shape), np.random.default_rng(2)
    return least_times({"": (lambda: AllMargins(2).publish(table, spent, random), 2)})[""][1]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, default=len(SHAPES), help="how many of the tables, smallest first")
    parser.add_argument("--budgets", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    chosen = parser.parse_args(arguments)
    console, met = Console(width=120), True
    grid = Grid("cells", "budget", "mbi, s", "ours for", "s", "of mbi", "a marginal, s", "bytes a cell")
    for shape in SHAPES[: chosen.sizes]:
        for budget in chosen.budgets:
            # Each in a process of its own, whose memory is its own too.
            with get_context("spawn").Pool(1) as pool:
                rival = pool.apply(theirs, (shape, budget))
            for workload in WORKLOADS:
                with get_context("spawn").Pool(1) as pool:
                    released, asked, memory = pool.apply(ours, (shape, budget, workload))
                cells, ratio = f"{np.prod(shape):,}", released / rival
                measured = (
                    f"{rival:.1f}",
                    workload,
                    f"{released:.1f}",
                    f"{ratio:.2f}",
                    f"{asked:.2f}",
                    f"{memory:.0f}",
                )
                grid.add_row(cells, budget, *measured)
                met &= ratio <= 1 / 3
    console.print(grid)
    console.print("aims: at most a third of mbi's time, a marginal within a second, 200 bytes a cell")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
