"""The errors of every contender in every case, over many runs, on several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput
from sparsedp.experiments.accuracy.cases import Case
from sparsedp.experiments.accuracy.contenders import Contender
from sparsedp.experiments.inputs import INPUTS
from sparsedp.experiments.metrics import cell_error, range_error

CELLS, RANGES, CLIPPED_CELLS, CLIPPED_RANGES = range(4)
"""The columns of measured errors: as published, and with negative cells set to 0."""

LEAST_RUNS = 2


@dataclass(frozen=True)
class Task:
    """One contender in one case, as many times as `runs` says."""

    case: Case
    contender: Contender
    counts: Integers
    runs: int


@dataclass(frozen=True)
class Measured:
    """What a task found: one row of four errors a run."""

    case: Case
    contender: str
    errors: Floats


def tasks_for(
    cases: Iterable[Case],
    contenders: Iterable[Contender],
    runs: int,
    *,
    counts_of: Callable[[Case], Integers] | None = None,
) -> list[Task]:
    """Every contender in every case. `counts_of`: the counts of a case, if it is not one of the public inputs."""
    if runs < LEAST_RUNS:
        raise InvalidInput("runs", f"{runs}", f"give at least {LEAST_RUNS}: an interval needs to see the scatter")
    counts_of = counts_of or (lambda case: INPUTS[case.input].counts(case.total))
    contenders = tuple(contenders)
    drawn = [(case, counts_of(case)) for case in cases]
    return [Task(case, contender, counts, runs) for case, counts in drawn for contender in contenders]


def measure(task: Task) -> Measured:
    """Run one task, with noise from the operating system: no two runs are alike."""
    rows = [_errors(task.counts, task.contender.publish(task.counts, task.case.epsilon)) for _ in range(task.runs)]
    return Measured(task.case, task.contender.name, np.array(rows))


def _errors(counts: Integers, values: Floats) -> list[float]:
    clipped = np.maximum(values, 0)
    return [
        cell_error(counts, values),
        range_error(counts, values),
        cell_error(counts, clipped),
        range_error(counts, clipped),
    ]


def measure_all(tasks: list[Task], *, workers: int = 1) -> Iterator[Measured]:
    """The results as they come, in any order; one worker works in this process."""
    if workers == 1:
        yield from map(measure, tasks)
        return
    # Fresh processes, not forks: compiled kernels and their threads do not survive a fork everywhere.
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(measure, tasks)
