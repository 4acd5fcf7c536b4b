"""`Adaptive` on tables of many axes beside published ways to release them, in one run on the same counts.

Errors are the mean over all marginals of one, two and three axes of ‖true − estimate‖₁ / N, and ‖true − estimate‖₂ of
all cells. Each is divided by that of whichever rival is best in that case, picked in hindsight. Aims: see `AIMS`.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log, prod
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

import sparsedp as sdp
from rivals.of_tables.contender import Answers, Budget, OnCells, ResidualPlanner, SplitOverMargins
from rivals.of_tables.graphical import Aim, AllMargins
from sparsedp import Adaptive
from sparsedp.arrays import Floats, Ints
from studies.tables import MARGINS, TABLES, margin_error

RUNS = 5
TOTALS = (10**3, 10**4, 10**5, 10**6)
BUDGETS = (
    Budget(1.0, gaussian=False),
    Budget(0.1, gaussian=False),
    Budget(0.5, gaussian=True),
    Budget(0.005, gaussian=True),
)
METRICS = (*(f"{order}-way" for order in MARGINS), "cells")


@dataclass(frozen=True)
class Ours:
    """`Adaptive` for a workload."""

    workload: str
    kind: type[Adaptive] = Adaptive

    @property
    def name(self) -> str:
        """With its workload."""
        return f'Adaptive("{self.workload}")' if self.kind is Adaptive else "Adaptive without marginals"

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers:
        """What it releases, as released."""
        return Answers.of_cells(self._cells(counts, budget))

    def _cells(self, counts: Ints, budget: Budget) -> Floats:
        domain = next(table.domain for table in TABLES.values() if table.domain.shape == counts.shape)
        amount = f"{budget.amount:g}"
        paid = sdp.Budget(rho=amount) if budget.gaussian else sdp.Budget(epsilon=amount)
        return self.kind(self.workload).release(counts, domain=domain, epsilon=paid).values.reshape(counts.shape)


class WithoutMargins(Adaptive):
    """Blocks and parts of blocks alone, as for squares: what `Adaptive` did before it measured marginals."""

    def _by_marginals(self, shape: tuple[int, ...], coarsenings: object) -> bool:
        return False


RIVALS = {
    each.name: each
    for each in (
        OnCells(),
        SplitOverMargins(),
        ResidualPlanner(2),
        ResidualPlanner(3),
        AllMargins(2),
        AllMargins(3),
        Aim(),
        Ours("any", WithoutMargins),
    )
}
OURS = {each.name: each for each in (Ours("any"), Ours("marginals"), Ours("cells"))}
ANY, MARGINALS, CELLS = OURS
OLD = Ours("any", WithoutMargins).name

Errors = dict[str, float]
"""By metric; only those that a contender answers."""


@dataclass(frozen=True, order=True)
class Case:
    """A table of so many records, and what is spent."""

    table: str
    total: int
    budget: str

    def __str__(self) -> str:
        return f"{self.table}, 10^{round(np.log10(self.total))}, {self.budget}"


def measured(task: tuple[Case, str, int]) -> tuple[Case, str, Errors | None]:
    """The mean errors of a contender in a case."""
    case, name, runs = task
    warnings.simplefilter("ignore")
    counts = _counts(case)
    budget = next(each for each in BUDGETS if str(each) == case.budget)
    random, found = np.random.default_rng(), []
    for _ in range(runs):
        answers = {**RIVALS, **OURS}[name].publish(counts, budget, random)
        if answers is None:
            return case, name, None
        found.append(errors_of(counts, answers))
    return case, name, {metric: float(np.mean([each[metric] for each in found])) for metric in found[0]}


@cache
def _counts(case: Case) -> Ints:
    return TABLES[case.table].counts(case.total)


def errors_of(counts: Ints, answers: Answers) -> Errors:
    """All that it answers."""
    found = {
        f"{order}-way": margin_error(counts, order, answers.margin) for order in MARGINS if order < counts.ndim + 1
    }
    if answers.cells is not None:
        found["cells"] = float(np.linalg.norm((counts - answers.cells).reshape(-1)))
    return {metric: error for metric, error in found.items() if error is not None}


Found = dict[tuple[Case, str], Errors | None]


def ratio(found: Found, case: Case, ours: str, metric: str) -> tuple[float, str]:
    """Our error over the least of any rival, and whose that is."""
    theirs = {name: each[metric] for name in RIVALS if (each := found.get((case, name))) and metric in each}
    best = min(theirs, key=lambda name: theirs[name])
    mine = found[case, ours]
    assert mine is not None
    return mine[metric] / theirs[best], best


def product_ratio(found: Found, case: Case, ours: str) -> tuple[float, str]:
    """The product of all our errors over the least product of any single rival."""
    theirs = {
        name: prod(each.values()) for name in RIVALS if (each := found.get((case, name))) and len(each) == len(METRICS)
    }
    best = min(theirs, key=lambda name: theirs[name])
    mine = found[case, ours]
    assert mine is not None
    return prod(mine.values()) / theirs[best], best


def geometric(values: Iterable[float]) -> float:
    """Their geometric mean."""
    logs = [log(value) for value in values]
    return exp(sum(logs) / len(logs))


@dataclass(frozen=True)
class Figure:
    """One figure to be shown: what of each case, and the most that its mean and its worst case may be."""

    text: str
    of: Callable[[Found, Case], tuple[float, str]]
    mean: float | None
    worst: float | None
    gaussian: bool | None = None


def _against(metric: str, rival: str) -> Callable[[Found, Case], tuple[float, str]]:
    def of(found: Found, case: Case) -> tuple[float, str]:
        mine, theirs = found[case, ANY], found[case, rival]
        assert mine is not None
        assert theirs is not None
        return mine[metric] / theirs[metric], rival

    return of


def _beside_best(metric: str, ours: str) -> Callable[[Found, Case], tuple[float, str]]:
    return lambda found, case: ratio(found, case, ours, metric)


AIMS = (
    *(
        Figure(f'"marginals", {order}-way', _beside_best(f"{order}-way", MARGINALS), 0.9, 1.2, gaussian)
        for gaussian in (False, True)
        for order in MARGINS
    ),
    *(Figure('"any", product of the four', lambda f, c: product_ratio(f, c, ANY), 0.8, 1.1, g) for g in (False, True)),
    *(
        Figure(f'"any", {metric}, beside noise on cells', _against(metric, "noise on cells"), None, 1.0)
        for metric in METRICS
    ),
    *(Figure(f'"any", {order}-way', _beside_best(f"{order}-way", ANY), None, 1.5, True) for order in MARGINS),
    Figure('"any", cells, beside Adaptive without marginals', _against("cells", OLD), None, 1.15, True),
)


def verdicts(found: Found, cases: Sequence[Case], console: Console) -> bool:
    """A table of all aims; whether all are met."""
    grid = Grid("figure", "noise", "cases", "geometric mean", "aim", "worst case", "aim", "where, beside whom", "above")
    met = True
    for aim in AIMS:
        chosen = [case for case in cases if aim.gaussian is None or ("ρ" in case.budget) == aim.gaussian]
        if not chosen:
            continue
        ratios = {case: aim.of(found, case) for case in chosen}
        mean, worst = geometric(value for value, _ in ratios.values()), max(chosen, key=lambda case: ratios[case][0])
        above = sum(value > aim.worst for value, _ in ratios.values()) if aim.worst else 0
        met &= (aim.mean is None or mean <= aim.mean) and not above
        grid.add_row(
            aim.text,
            {None: "both", True: "ρ", False: "ε"}[aim.gaussian],
            str(len(chosen)),
            f"{mean:.3f}",
            f"{aim.mean or ''}",
            f"{ratios[worst][0]:.2f}",
            f"{aim.worst or ''}",
            f"{worst}; {ratios[worst][1]}",
            str(above),
        )
    console.print(grid)
    return met


WEIGHTS = tuple(10.0 ** (power / 4) for power in range(-14, 3))
"""Of marginals of three axes, beside those of two."""


def least_of_both(shape: tuple[int, ...]) -> tuple[float, float, float]:
    """Where there is so little noise that nothing can be shrunk, no mechanism with Gaussian noise is nearer: the errors
    of pairs and of triples over those of the mechanisms that spend all on the one or on the other, for the weights that
    bring the larger of both ratios down the most; and that of single axes beside that of pairs alone.
    """
    singles, pairs = (ResidualPlanner(2).expected(shape, 0.5)[order] for order in (1, 2))
    triples = ResidualPlanner(3, (1e-9, 1e-9, 1.0)).expected(shape, 0.5)[3]
    every = [ResidualPlanner(3, (1.0, 1.0, weight)).expected(shape, 0.5) for weight in WEIGHTS]
    best = min(every, key=lambda each: max(each[2] / pairs, each[3] / triples))
    return best[1] / singles, best[2] / pairs, best[3] / triples


def bounds(tables: Iterable[str], console: Console) -> None:
    """What no mechanism can do better under ρ, by table."""
    grid = Grid("table", *METRICS[:-1], title="Best possible beside specialists, with Gaussian noise and dense counts")
    for table in tables:
        grid.add_row(table, *(f"{ratio:.2f}" for ratio in least_of_both(TABLES[table].domain.shape)))
    console.print(grid)


def by_case(found: Found, cases: Sequence[Case], console: Console) -> None:
    """Every case: our ratios."""
    grid = Grid("case", *(f'"marginals" {m}' for m in METRICS[:-1]), *(f'"any" {m}' for m in METRICS), '"any" product')
    for case in cases:
        shown = [ratio(found, case, MARGINALS, metric) for metric in METRICS[:-1]]
        shown += [ratio(found, case, ANY, metric) for metric in METRICS]
        shown.append(product_ratio(found, case, ANY))
        grid.add_row(str(case), *(f"{value:.2f} {_short(best)}" for value, best in shown))
    console.print(grid)


def _short(name: str) -> str:
    for word, short in (("all 2", "m2"), ("all 3", "m3"), ("to 2", "r2"), ("to 3", "r3"), ("split", "s"), ("AIM", "a")):
        if word in name:
            return short
    return "c" if name == "noise on cells" else "old"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each in each case (default {RUNS})")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="only these")
    parser.add_argument("--totals", nargs="+", type=int, default=TOTALS, help="numbers of records")
    parser.add_argument("--budgets", nargs="+", choices=list(map(str, BUDGETS)), default=list(map(str, BUDGETS)))
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--cases", action="store_true", help="print every case")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="keep what is measured here, and do not repeat what is"
    )
    parser.add_argument("--again", nargs="*", default=[], metavar="NAME", help="measure these anew, whatever is kept")
    chosen = parser.parse_args(arguments)
    cases = [Case(t, n, b) for n in chosen.totals for t in chosen.tables for b in chosen.budgets]
    found = kept(chosen.keep, chosen.again)
    names = [*RIVALS, *OURS]
    tasks = [(case, name, chosen.runs) for case in cases for name in names if (case, name) not in found]
    console = Console(width=200)
    with get_context("spawn").Pool(chosen.workers, maxtasksperchild=40) as pool:
        for case, name, errors in track(pool.imap_unordered(measured, tasks), "releases", len(tasks)):
            found[case, name] = errors
            if chosen.keep is not None:
                with chosen.keep.open("a") as file:
                    file.write(json.dumps([case.table, case.total, case.budget, name, errors]) + "\n")
    if chosen.cases:
        by_case(found, cases, console)
    bounds(chosen.tables, console)
    return 0 if verdicts(found, cases, console) else 1


def kept(file: Path | None, again: Sequence[str]) -> Found:
    """What an earlier run kept."""
    if file is None or not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {(Case(t, n, b), name): errors for t, n, b, name, errors in lines if name not in again}


if __name__ == "__main__":
    sys.exit(main())
