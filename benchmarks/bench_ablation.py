"""What each stage of `Adaptive` is worth: its errors without the stage over those with it, on the public inputs.

Both are released with the same repeatable noise, so where a stage does nothing the ratio is exactly 1. A stage stays
only if it is worth half a per cent of some mode's geometric mean, or five per cent on a named kind of input that users
have: the largest ratio of an input's mean is named beside. No judgement is printed: a stage that is worth little here
may be worth much on a kind of input that is not here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from math import exp, log
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation import estimator
from sparsedp.mechanisms import _adaptive_grid, adaptive
from sparsedp.noise.source import SeededSource
from studies.accuracy.measuring import SETTINGS, cases_of
from studies.inputs import INPUTS, available_inputs
from studies.metrics import cell_error, range_error

MODES = ("any", "cells", "ranges")
RUNS = 10


def _flat(sums: Floats, sizes: Ints, _: object) -> Floats:
    return np.repeat(sums / sizes, sizes)


def _flat_boxes(sums: Floats, starts: Ints, sides: tuple[int, ...]) -> Floats:
    return _flat(sums, np.diff(starts, append=int(np.prod(sides))), None)


WITHOUT: Mapping[str, tuple[Any, str, object]] = {
    "the private test for cells that stand out": (adaptive, "standing_out", lambda *_: float("inf")),
    "groups for few records": (adaptive, "FEW_RECORDS", float("-inf")),
    "cells of dense blocks only": (adaptive, "cells_of_dense_blocks", lambda _, __, n, ___: np.arange(n)),
    "groups cut down to the ends": (adaptive, "down_to_the_ends", lambda starts, _: starts),
    "cells of tables in turns": (adaptive, "cells_pay", lambda *_: False),
    "block size by the total": (adaptive, "block_size", lambda _, __, size, ___: size),
    "parts by how uneven halves are": (_adaptive_grid, "unevenness_of_halves", lambda *_: _adaptive_grid.EVENLY_DRAWN),
    "tree posterior": (estimator, "posterior_of_groups", lambda *_: None),
    "slopes of groups": (estimator, "sloped_cells", _flat),
    "slopes of boxes": (estimator, "sloped_boxes", _flat_boxes),
    "isolated spikes": (estimator, "beside_isolated_spikes", lambda observed, _, smooth: smooth(observed)),
    "periods": (estimator, "period_of", lambda *_: None),
    "value prior": (estimator, "towards_value_prior", lambda _, shrunk, *__: shrunk),
    "projection in the metric of the noise": (estimator, "MOST_NEAREST", 0),
}
"""By stage: where it is, and what stands there instead."""

Task = tuple[str, str, int, str, int]


def measured(task: Task) -> tuple[Task, dict[str, float]]:
    """The mean logarithm of the ratio, by stage."""
    mode, name, total, epsilon, runs = task
    counts = INPUTS[name].counts(total)
    errors = {
        stage: [_log_error(counts, mode, epsilon, seed, stage) for seed in range(runs)] for stage in ("", *WITHOUT)
    }
    return task, {stage: float(np.mean(np.subtract(errors[stage], errors[""]))) for stage in WITHOUT}


def _log_error(counts: Ints, mode: str, epsilon: str, seed: int, stage: str) -> float:
    with ExitStack() as stack:
        if stage:
            module, attribute, instead = WITHOUT[stage]
            stack.enter_context(patch.object(module, attribute, instead))
        release = adaptive.Adaptive(mode).release(counts, epsilon=epsilon, source=SeededSource(seed))
    values = release.values.reshape(counts.shape)
    found: dict[str, Callable[[], float]] = {
        "cells": lambda: log(cell_error(counts, values)),
        "ranges": lambda: log(range_error(counts, values)),
    }
    return found[mode]() if mode in found else 0.5 * (found["cells"]() + found["ranges"]())


def row_of(stage: str, found: Mapping[Task, Mapping[str, float]], modes: Sequence[str]) -> list[str]:
    """The geometric mean of each mode, and the input that is worth most."""
    shown = [stage]
    by_input: dict[tuple[str, str], list[float]] = {}
    for mode in modes:
        ratios = {task: ratio[stage] for task, ratio in found.items() if task[0] == mode}
        shown.append(f"{exp(np.mean(list(ratios.values()))):.3f}")
        for (_, name, *_), ratio in ratios.items():
            by_input.setdefault((name, mode), []).append(ratio)
    (name, mode), most = max(by_input.items(), key=lambda one: float(np.mean(one[1])))
    return [*shown, f"{exp(np.mean(most)):.2f} {name}, {mode}"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases of each case (default {RUNS})")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, metavar="INPUT", help="only these: %(choices)s")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES, help="only these")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    chosen = parser.parse_args(arguments)
    names = [name for name in chosen.inputs or available_inputs() if name in available_inputs()]
    cases = cases_of(names, SETTINGS)
    tasks = [(mode, case.input, case.total, case.epsilon, chosen.runs) for mode in chosen.modes for case in cases]
    console = Console(width=140)
    with get_context("spawn").Pool(chosen.workers) as pool:
        running = pool.imap_unordered(measured, tasks)
        found = dict(track(running, total=len(tasks), console=console, description="measuring", transient=True))
    table = Table(
        "without", *chosen.modes, "most", title=f"Error without a stage over that with it, {len(cases)} cases"
    )
    for stage in WITHOUT:
        table.add_row(*row_of(stage, found, chosen.modes))
    console.print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
