"""Do 95 % intervals of `Adaptive` hold the truth, for cells and for ranges, and are they as narrow as they can be?

Every public input at ε = 0.1, totals 10³ to 10⁶, in all three modes; rows also as streams ("stream", and "totals" with
three tenths of ε on running totals), if these are asked for. A row is the mean over the totals, a family's that
over its inputs; `--cases` shows each total. "large" are the cells above three deviations of the noise. Widths are
relative to those of an oracle that knows the law of every error (`studies/coverage.py`). Exits with 1 when
a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from multiprocessing import get_context

from rich.console import Console
from rich.progress import track
from rich.table import Table

from sparsedp.errors import SparsedpError
from sparsedp.mechanisms.adaptive import Adaptive
from studies.accuracy.measuring import EPSILON, TOTALS
from studies.coverage import Coverage, Streamed, measure_coverage
from studies.inputs import FAMILIES, INPUTS, available_inputs

MODES = ("any", "cells", "ranges")
STREAMS = {"stream": Streamed(), "totals": Streamed("0.3")}
RUNS, JUDGED = 100, 10
LEAST, LEAST_LARGE, MOST_WIDTH = 0.93, 0.85, 1.5
Task = tuple[str, int, str, int, int, float]


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases of each case (default {RUNS})")
    parser.add_argument("--judged", type=int, default=JUDGED, help=f"of them with intervals (default {JUDGED})")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, metavar="INPUT", help="only these: %(choices)s")
    parser.add_argument("--modes", nargs="+", choices=(*MODES, *STREAMS), default=MODES, help="only these: %(choices)s")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply the widths, to check the check")
    parser.add_argument("--cases", action="store_true", help="show every total by itself")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    return parser.parse_args(arguments)


def measured(task: Task) -> tuple[Task, Coverage]:
    name, total, mode, runs, judged, scale = task
    shape = INPUTS[name].shape()
    mechanism = STREAMS.get(mode) or Adaptive(mode)
    found = measure_coverage(shape, total, mechanism, epsilon=EPSILON, runs=runs, judged=judged, scale=scale)
    return task, found


def measure_all(tasks: list[Task], workers: int) -> Iterator[tuple[Task, Coverage]]:
    if workers == 1:
        yield from map(measured, tasks)
        return
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(measured, tasks)


def misses(found: Coverage) -> list[str]:
    """The targets that are missed."""
    checks = {
        "cells": found.cells < LEAST,
        "ranges": found.ranges < LEAST,
        "large cells": found.large < LEAST_LARGE,
        "width of cells": found.cell_width > MOST_WIDTH,
        "width of ranges": found.range_width > MOST_WIDTH,
    }
    return [name for name, missed in checks.items() if missed]


def table_of(rows: list[tuple[str, Coverage]]) -> Table:
    table = Table("", "cells %", "width", "large %", "ranges %", "width", "missed")
    for name, found in rows:
        figures = (found.cells * 100, found.cell_width, found.large * 100, found.ranges * 100, found.range_width)
        shown = [f"{figure:.1f}" if at % 2 == 0 else f"{figure:.2f}" for at, figure in enumerate(figures[:3])]
        shown += [f"{figures[3]:.1f}", f"{figures[4]:.2f}"]
        table.add_row(name, *("–" if text == "nan" else text for text in shown), ", ".join(misses(found)))
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = options(arguments)
    console = Console(width=140)
    names = [name for name in chosen.inputs or available_inputs() if name in available_inputs()]
    tasks = [
        (name, total, mode, chosen.runs, chosen.judged, chosen.scale)
        for name in names
        for mode in chosen.modes
        for total in TOTALS
        if mode not in STREAMS or INPUTS[name].shape().ndim == 1
    ]
    if not tasks:
        print("None of these inputs is here: the paper's files need SPARSEDP_DATA, the folder they are in.")
        return 1
    running = measure_all(tasks, chosen.workers)
    found = dict(track(running, total=len(tasks), console=console, description="measuring", transient=True))
    if chosen.cases:
        console.print(
            table_of(
                [(f"{name}, {total:,}, {mode}", found[task]) for task in tasks for name, total, mode in [task[:3]]]
            )
        )
    rows = [
        (f"{name}, {mode}", Coverage.mean([found[task] for task in tasks if task[0] == name and task[2] == mode]))
        for name in names
        for mode in chosen.modes
        if any(task[0] == name and task[2] == mode for task in tasks)
    ]
    console.print(table_of(rows))
    families = [
        (f"{family}, {mode}", Coverage.mean(held))
        for family in FAMILIES
        for mode in chosen.modes
        if (held := [found[task] for task in tasks if INPUTS[task[0]].family == family and task[2] == mode])
    ]
    console.print(table_of(families))
    every = [
        (f"all, {mode}", Coverage.mean([found[task] for task in tasks if task[2] == mode])) for mode in chosen.modes
    ]
    console.print(table_of(every))
    missed, by_family = (sum(bool(misses(row)) for _, row in each) for each in (rows, families))
    console.print(
        f"{by_family} of {len(families)} families and {missed} of {len(rows)} inputs miss a target: ≥ 93 %, "
        "large ≥ 85 %, widths ≤ 1.5 × the oracle's."
    )
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SparsedpError as error:
        sys.exit(f"{error}")
