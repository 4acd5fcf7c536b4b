"""Tables of seven axes: `Adaptive` beside all marginals of two axes fitted by `mbi`, in turns, in one run.

Prints seconds, the ratio to mbi, the peak memory of ours by cell, how long one marginal with its errors takes, and how
all of it grows with the number of cells.
"""

from __future__ import annotations

import side_by_side  # isort: skip  # before numpy: it says how many threads there are

import argparse
import resource
import sys
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from rivals.of_tables.contender import Budget
from rivals.of_tables.graphical import AllMargins
from sparsedp import Adaptive
from sparsedp.arrays import Ints
from studies.tables import chain

assert side_by_side

SHAPES = ((2, 7, 9, 7, 8, 6, 2), (2, 7, 9, 14, 15, 6, 2), (4, 9, 12, 14, 15, 8, 4))
"""84,672, 317,520 and 2.9 million cells."""

RECORDS = 50_000
BUDGETS = {"ε = 1": {"epsilon": "1"}, "ρ = 0.5": {"rho": "0.5"}}


def counts(shape: tuple[int, ...]) -> Ints:
    """A chain: each axis depends on the one before."""
    cells = chain(shape, RECORDS, np.random.default_rng(1))
    return np.bincount(np.ravel_multi_index(tuple(cells.T), shape), minlength=int(np.prod(shape))).reshape(shape)


def ours(shape: tuple[int, ...], budget: str, workload: str) -> tuple[float, float, float]:
    """Seconds of a release, of a marginal of two axes with its errors, and bytes a cell beyond what was there before."""
    table = counts(shape)
    Adaptive(workload).release(table[:, :2, :2, :2, :2, :2, :2], rho="0.5")  # kernels and imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    release = Adaptive(workload).release(table, **BUDGETS[budget])
    released = perf_counter() - start
    start = perf_counter()
    assert release.marginal("axis2", "axis3").stderr is not None
    asked = perf_counter() - start
    return released, asked, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / table.size


def theirs(shape: tuple[int, ...], budget: str) -> float:
    """Seconds of all marginals of two axes by mbi; the second of two runs, the first one compiles."""
    warnings.simplefilter("ignore")
    spent = Budget(0.5, gaussian=True) if "ρ" in budget else Budget(1.0, gaussian=False)
    table, random = counts(shape), np.random.default_rng(2)
    taken = []
    for _ in range(2):
        start = perf_counter()
        AllMargins(2).publish(table, spent, random)
        taken.append(perf_counter() - start)
    return min(taken)


def alone(work: Callable[..., object], *arguments: object) -> object:
    """In a process of its own, so that memory is its own too."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, default=len(SHAPES), help="how many of the tables, smallest first")
    parser.add_argument("--budgets", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    chosen = parser.parse_args(arguments)
    console = Console()
    grid = Grid(
        "cells",
        "budget",
        "mbi, s",
        'ours, "any", s',
        "ratio",
        'ours, "marginals", s',
        "ratio",
        "a marginal, s",
        "bytes a cell",
    )
    met = True
    for shape in SHAPES[: chosen.sizes]:
        for budget in chosen.budgets:
            rival = alone(theirs, shape, budget)
            found = {workload: alone(ours, shape, budget, workload) for workload in ("any", "marginals")}
            assert isinstance(rival, float)
            row = [f"{np.prod(shape):,}", budget, f"{rival:.1f}"]
            for each in found.values():
                assert isinstance(each, tuple)
                row += [f"{each[0]:.1f}", f"{each[0] / rival:.2f}"]
                met &= each[0] <= rival / 3
            last = next(iter(found.values()))
            assert isinstance(last, tuple)
            grid.add_row(*row, f"{last[1]:.2f}", f"{last[2]:.0f}")
    console.print(grid)
    console.print("aim: at most a third of mbi's time")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
