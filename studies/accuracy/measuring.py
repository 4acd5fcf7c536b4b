"""The errors of every contender in every case, over many runs, on several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import MECHANISMS, Mechanism
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SystemSource
from studies.inputs import INPUTS
from studies.metrics import cell_error, range_error

# ---- a case: one input at one total and one ε

EPSILON = "0.1"
TOTALS = (10**3, 10**4, 10**5, 10**6)
SETTINGS: tuple[tuple[int, str], ...] = (*((total, EPSILON) for total in TOTALS), (10**5, "1"), (10**5, "0.01"))
"""Total and ε of the six cases of every input."""

QUICK_SETTINGS = ((10**3, EPSILON), (10**5, EPSILON))


@dataclass(frozen=True, order=True)
class Case:
    """An input by name, how many records are drawn from it, and the ε they are published with."""

    input: str
    total: int
    epsilon: str

    @property
    def setting(self) -> str:
        """The total and ε, as tables show them."""
        return setting_name(self.total, self.epsilon)

    def __str__(self) -> str:
        return f"{self.input}, {self.setting}"


def setting_name(total: int, epsilon: str) -> str:
    """Such as "10⁵, ε = 0.1": the totals are powers of ten, and others are written out."""
    power = len(str(total)) - 1
    shown = f"10{str(power).translate(_SUPERSCRIPTS)}" if total == 10**power else f"{total:,}"
    return f"{shown}, ε = {epsilon}"


def cases_of(inputs: Iterable[str], settings: Iterable[tuple[int, str]] = SETTINGS) -> list[Case]:
    """Every input at every setting."""
    settings = tuple(settings)
    return [Case(name, total, epsilon) for name in inputs for total, epsilon in settings]


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


# ---- who is compared: the modes of `Adaptive`, all other mechanisms, and two ways to publish next to nothing


class Contender(Protocol):
    """Something that publishes all cells, afresh at every call."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """An ε-differentially private estimate of every cell, in the counts' shape."""


@dataclass(frozen=True)
class Configured:
    """A mechanism of this library by its registered name, with settings; made anew for every release."""

    name: str
    mechanism: str
    settings: tuple[tuple[str, Any], ...] = ()

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """What the mechanism releases; one that takes vectors only is given a table row after row."""
        given = counts if counts.ndim == 1 or takes_tables(self) else counts.reshape(-1)
        return self.make().release(given, epsilon=epsilon).values.reshape(counts.shape)

    def make(self) -> Mechanism:
        """A fresh mechanism, with public randomness of its own where it has any."""
        return MECHANISMS[self.mechanism](**dict(self.settings))

    @property
    def exists(self) -> bool:
        """Whether this version of the library has the mechanism."""
        return self.mechanism in MECHANISMS


@cache
def takes_tables(contender: Configured) -> bool:
    """Whether the mechanism publishes tables as such."""
    try:
        contender.make().release(np.zeros((2, 2), dtype=np.int64), epsilon=1)
    except InvalidInput:
        return False
    return True


@dataclass(frozen=True)
class Zeros:
    """Publish zeros: no look at the data at all."""

    name: str = "zeros"

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """No records anywhere."""
        return np.zeros(counts.shape)


@dataclass(frozen=True)
class Uniform:
    """Publish the total alone, with all of ε, and spread it evenly over the cells."""

    name: str = "uniform"

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """The noisy total over the number of cells, at least 0."""
        noise = discrete_laplace(1 / Fraction(epsilon), 1, SystemSource())
        total = max(0, int(counts.sum()) + int(noise[0]))
        return np.full(counts.shape, total / counts.size)


MODES = ("any", "cells", "ranges")
OURS: Mapping[str, Configured] = {
    mode: Configured(f"adaptive {mode}", "adaptive", (("workload", mode),)) for mode in MODES
}
"""Our mechanism in each mode."""

RIVALS: tuple[Configured, ...] = (
    Configured("laplace", "laplace"),
    Configured("hierarchical", "hierarchical"),
    Configured("hierarchical, by 16", "hierarchical", (("branching", 16),)),
    Configured("privelet", "privelet"),
    Configured("compressive", "compressive", (("basis", "haar"), ("sparsity", "auto"))),
    Configured("compressive, cosine", "compressive", (("basis", "cosine"), ("sparsity", "auto"))),
)
"""Every other mechanism here, with the settings that the other tables of this project have."""

BYSTANDERS: tuple[Contender, ...] = (Zeros(), Uniform())


# ---- measuring

CELLS, RANGES, CLIPPED_CELLS, CLIPPED_RANGES = range(4)
"""The columns of measured errors: as published, and with negative cells set to 0."""

LEAST_RUNS = 2


@dataclass(frozen=True)
class Task:
    """One contender in one case, as many times as `runs` says."""

    case: Case
    contender: Contender
    counts: Ints
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
    counts_of: Callable[[Case], Ints] | None = None,
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


def _errors(counts: Ints, values: Floats) -> list[float]:
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
