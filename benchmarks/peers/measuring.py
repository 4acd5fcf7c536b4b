"""Error and time of contenders, in turns in one process.

The time is the processor's, the least of all runs: on a quiet machine that is the time by the clock, and on a busy one
it does not favour short runs, which slip in between the work of others as long ones cannot.

Import it before numpy: how many threads there are is settled here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from time import process_time

from side_by_side import least_times

# isort: split
import numpy as np
from scipy import stats

from peers.contender import Contender, Run
from sparsedp.arrays import Floats, Ints
from studies.metrics import cell_error, range_error

LEVEL = 0.95
CHANCE = 1e-4
"""That two releases with the same error are said to differ: small, as a table holds dozens of comparisons."""


@dataclass(frozen=True)
class Errors:
    """The errors of independent runs."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the runs."""
        return float(np.mean(self.values))

    @property
    def half_width(self) -> float | None:
        """Of the mean's 95 % interval, Student's; one run has none."""
        if len(self.values) == 1:
            return None
        return float(stats.t.ppf((1 + LEVEL) / 2, len(self.values) - 1) * stats.sem(self.values))

    def __str__(self) -> str:
        half = self.half_width
        digits = 1 if self.mean < 100 or (half is not None and half < 1) else 0
        return f"{self.mean:,.{digits}f}" + ("" if half is None else f" ± {half:,.{digits}f}")

    def over(self, others: Errors) -> str:
        """The ratio of the means, or "≈ 1" where the runs do not tell them apart.

        Student's test of the logarithms, as the errors of ranges are skewed; spread is taken to be the same on both
        sides, so that a single run can be compared with many.
        """
        mine, theirs = np.log(self.values), np.log(others.values)
        freedom = mine.size + theirs.size - 2
        if freedom == 0:
            return ""
        spread = sqrt((mine.size * mine.var() + theirs.size * theirs.var()) / freedom)
        error = spread * sqrt(1 / mine.size + 1 / theirs.size)
        apart = abs(mine.mean() - theirs.mean()) > error * stats.t.ppf(1 - CHANCE / 2, freedom)
        return ratio(self.mean / others.mean) if apart else "≈ 1"


def ratio(value: float) -> str:
    """As a table shows it."""
    return f"× {value:,.0f}" if value >= 10 else f"× {value:.2f}"


@dataclass(frozen=True)
class Outcome:
    """What one contender did: errors by name, the processor's least time for a run, and how many runs there were."""

    errors: dict[str, Errors]
    seconds: float
    runs: int


def total_error(truth: Ints, values: Floats) -> float:
    """The root mean square error of the running totals, over all ticks."""
    return float(np.sqrt(np.mean(np.cumsum(values - truth) ** 2)))


METRICS: dict[str, Callable[[Ints, Floats], float]] = {
    "cells": cell_error,
    "ranges": range_error,
    "totals": total_error,
}


def measured(
    contenders: Sequence[Contender], counts: Ints, epsilon: str, *, runs: int, patience: float
) -> dict[Contender, Outcome]:
    """Run each contender `runs` times, or as often as fits into `patience` seconds, but once at least; in turns."""
    runs_of: dict[Contender, list[tuple[Floats, float]]] = {contender: [] for contender in contenders}
    calls = {one.name: partial(_run, one.prepare(counts, epsilon), runs_of[one]) for one in contenders}
    first = least_times({name: (call, 1) for name, call in calls.items()})
    more = {name: min(runs - 1, int(patience / taken)) for name, (_, taken) in first.items()}
    again = {name: (calls[name], times) for name, times in more.items() if times > 0}
    if again:
        least_times(again)
    return {one: _outcome(counts, done) for one, done in runs_of.items()}


def _run(run: Run, done: list[tuple[Floats, float]]) -> None:
    start = process_time()
    values = run()
    done.append((values, process_time() - start))


def _outcome(counts: Ints, done: Sequence[tuple[Floats, float]]) -> Outcome:
    errors = {name: Errors(tuple(error(counts, values) for values, _ in done)) for name, error in METRICS.items()}
    return Outcome(errors, min(seconds for _, seconds in done), len(done))
