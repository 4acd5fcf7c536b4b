"""What a bound cuts, and which bound is chosen: how often `release.cut` holds the true share, and how good "auto" is.

Five made-up populations; the share of their records that a bound of 5 leaves out, and that the chosen bound does. Then
the errors of a table with the bound that is chosen, over those with the best bound in hindsight: of cells, of sums over
random ranges, and of both together (the root of the product).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

import sparsedp as sdp
from sparsedp.arrays import Floats, Ints
from sparsedp.ingest.contributions import OF_A_BOUND, OF_A_CHOICE, Look
from sparsedp.mechanisms import Mechanism
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.releases.cut import Cut, first_numbers, possible_bounds

PAGE = Path(__file__).parent.parent / "docs" / "records.md"
BOUND, LEAST_HELD, MOST_RATIO = 5, 0.94, 1.25


def populations(people: int) -> dict[str, Ints]:
    """How many records each of so many people have."""
    chance = np.random.default_rng(people)
    heavy = chance.integers(1, 5, people)
    heavy[: people // 100] = 400
    return {
        "Zipf": np.minimum(chance.zipf(2.0, people), 5000),
        "equal": np.full(people, 12),
        "a few heavy": heavy,
        "geometric": chance.geometric(1 / 15, people),
        "two kinds": np.where(chance.random(people) < 0.3, 30, 2),
    }


def share_cut(records: Ints, bound: int) -> float:
    """Of the records, exactly."""
    return float(np.maximum(records - bound, 0).sum() / records.sum())


def in_bins(records: Ints, bound: int | None) -> Ints:
    """People by their number of records."""
    firsts = np.array(first_numbers(bound))
    return np.bincount(np.searchsorted(firsts, records, side="right") - 1, minlength=len(firsts)).astype(np.int64)


def terms_of(budget: sdp.Budget, contribution: int = 1) -> Terms:
    """What a publication is paid by."""
    return checked_terms(budget, None, None, contribution, "add_remove", None, "sparsedp", None)


def looked(records: Ints, budget: sdp.Budget) -> Cut:
    """With a bound that is given."""
    return Look.of(terms_of(budget), OF_A_BOUND).measured(in_bins(records, BOUND), BOUND)


def chosen(records: Ints, budget: sdp.Budget, mechanism: Mechanism, cells: int) -> Cut:
    """With a bound that is to be chosen, as `publish` does."""
    terms = terms_of(budget)
    look = Look.of(terms, OF_A_CHOICE)
    most = 2**20
    law = terms_of(budget.part(1 - OF_A_CHOICE), most).noise(most, most**2).law
    return look.chosen(in_bins(records, None), cells, mechanism.felt * law.variance**0.5 / most, most)


# ---- how often the truth is held


@dataclass
class Held:
    """Of releases of one population."""

    runs: int = 0
    held: int = 0
    likely: int = 0
    asked: int = 0
    width: float = 0.0

    def take(self, cut: Cut, records: Ints) -> None:
        """One release."""
        truth = share_cut(records, cut.bound)
        self.runs += 1
        self.held += cut.low <= truth <= cut.high
        if cut.seen >= records.max():
            self.asked += 1
            self.likely += cut.low <= truth <= cut.likely_high
        self.width += cut.likely_high - cut.low


def coverage(people: int, budget: sdp.Budget, runs: int) -> Iterator[tuple[str, Held, Held]]:
    """Of every population, with the given bound and with the chosen one."""
    for name, records in populations(people).items():
        given, auto = Held(), Held()
        for _ in range(runs):
            given.take(looked(records, budget), records)
            auto.take(chosen(records, budget, sdp.Adaptive(), 100), records)
        yield name, given, auto


# ---- how good the chosen bound is


def tables() -> dict[str, Floats]:
    """In which cells records are, for everybody alike."""
    chance = np.random.default_rng(5)
    days = 1 + 0.5 * np.sin(2 * np.pi * np.arange(366) / 366)
    return {
        "even, 100 cells": np.full(100, 0.01),
        "season, 366 cells": days / days.sum(),
        "rough, 24 × 20 cells": chance.dirichlet(np.full(480, 0.5)),
    }


def error(records: Ints, shares: Floats, bound: int, budget: sdp.Budget, mechanism: Mechanism, runs: int) -> Floats:
    """Of cells and of ranges, root mean squares, for one bound."""
    chance = np.random.default_rng(bound)
    shape = (24, 20) if len(shares) == 480 else (len(shares),)
    kept = int(np.minimum(records, bound).sum())
    found = []
    for _ in range(runs):
        counted = chance.multinomial(kept, shares)
        truth = counted + chance.multinomial(int(records.sum()) - kept, shares)
        release = mechanism.release(counted.reshape(shape), epsilon=budget, contribution=bound)
        apart = release.values.ravel() - truth
        sums = np.concatenate(([0.0], np.cumsum(apart)))
        first, last = np.sort(chance.integers(0, len(sums), (2, 300)), axis=0)
        found.append([np.mean(apart**2), np.mean((sums[last] - sums[first]) ** 2)])
    cells, ranges = np.sqrt(np.mean(found, axis=0))
    return np.array([cells, ranges, np.sqrt(cells * ranges)])


def best_errors(errors: Callable[[int], Floats], most: int) -> Floats:
    """Of all bounds that are worth a try, for each measure by itself: in steps first, then around the best of these."""
    bounds = sorted({bound for bound in possible_bounds() if bound < most} | {most})
    found = {bound: errors(bound) for bound in bounds[::3]}
    for coarse in np.argmin(list(found.values()), axis=0).tolist():
        place = 3 * coarse
        for bound in bounds[max(0, place - 2) : place + 3]:
            if bound not in found:
                found[bound] = errors(bound)
    return np.asarray(np.min(list(found.values()), axis=0))


def ratios(people: int, budget: sdp.Budget, mechanism: Mechanism, runs: int) -> Iterator[tuple[str, str, Floats]]:
    """Errors with the bound that is chosen over those with the best one, for each measure by itself."""
    left, auto_left = budget.part(1 - OF_A_BOUND), budget.part(1 - OF_A_CHOICE)
    for name, records in populations(people).items():
        for what, shares in tables().items():
            errors = partial(error, records, shares, budget=left, mechanism=mechanism, runs=runs)
            best = best_errors(errors, int(records.max()))
            picked = [chosen(records, budget, mechanism, len(shares)).bound for _ in range(5)]
            found = [error(records, shares, bound, auto_left, mechanism, runs) for bound in picked]
            yield name, what, np.mean(found, axis=0) / best


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the tables into the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=60, help="Looks at each population.")
    parser.add_argument("--releases", type=int, default=3, help="Of each table, with each bound.")
    parser.add_argument("--write", action="store_true", help="Write the tables into docs/records.md.")
    options = parser.parse_args(arguments)
    budgets = (sdp.Budget(epsilon=1), sdp.Budget(epsilon="1/10"), sdp.Budget(rho="1/8"))
    lines, missed = [], []
    head = "held up to `likely_high`, where nobody has more than `seen`"
    lines += [
        f'| `release.cut` | budget | held, bound of {BOUND} | held, `"auto"` | {head} | its mean width |',
        "|---|---|---|---|---|---|",
    ]
    for budget in budgets:
        for name, given, auto in coverage(options.people, budget, options.runs):
            both = given.likely + auto.likely, given.asked + auto.asked
            shown = f"{both[0] / both[1]:.0%}" if both[1] else "never so"
            parts = given.held / given.runs, auto.held / auto.runs
            row = name, budget.amount, *(f"{part:.0%}" for part in parts), shown, f"{given.width / given.runs:.0%}"
            lines.append(f"| {' | '.join(row)} |")
            missed += [f"{name}, {budget.amount}: held {part:.1%}" for part in parts if part < LEAST_HELD]
    lines += ["", '| `"auto"` over the best bound | budget | cells | ranges | both |', "|---|---|---|---|---|"]
    for mechanism in (sdp.Laplace(), sdp.Adaptive()):
        for budget in budgets[:2]:
            by_name: dict[str, list[Floats]] = {}
            for name, _, found in ratios(options.people, budget, mechanism, options.releases):
                by_name.setdefault(name, []).append(found)
            for name, several in by_name.items():
                mean = np.exp(np.log(several).mean(axis=0))
                lines.append(
                    f"| {mechanism.name}, {name} | {budget.amount} | {' | '.join(f'{one:.2f}' for one in mean)} |"
                )
                missed += [] if mean[0] <= MOST_RATIO else [f"{mechanism.name}, {name}: {mean[0]:.2f} of the best"]
    grid = Grid("")
    for line in lines:
        grid.add_row(line)
    Console().print(grid)
    for each in missed:
        print("missed:", each)
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        start, end = text.index("<!-- begin: cut -->"), text.index("<!-- end: cut -->")
        body = "\n".join(lines)
        PAGE.write_text(f"{text[:start]}<!-- begin: cut -->\n{body}\n{text[end:]}", encoding="utf-8")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
