"""What each stage of `Adaptive` is worth: its errors without the stage over those with it, on the public inputs.

Both are released with the same repeatable noise, so where a stage does nothing the ratio is exactly 1. A stage stays
only if it is worth half a per cent of some mode's geometric mean, or five per cent on a named kind of input that users
have: the largest ratios of an input's mean are named beside. Some of these kinds are not among the public inputs:
tables of 256 × 256 cells, tables of events and amounts that are mostly zero, prices in narrow cells (`KINDS`). No
judgement is printed: a stage that is worth little here may be worth much on a kind that is not here.

`--write` puts the table into docs/ablation.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
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
from studies.accuracy.page import write_parts
from studies.inputs import INPUTS, available_inputs, drawn_counts, shape_of
from studies.metrics import cell_error, range_error

MODES = ("any", "cells", "ranges")
RUNS = 10

NAMED = 2
"""Of the inputs to which a stage is worth most."""

PAGE = Path(__file__).parent.parent / "docs" / "ablation.md"


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
    "parts cut down to the first cell": (adaptive, "towards_the_first", lambda starts, _: starts),
    "tree posterior": (estimator, "posterior_of_groups", lambda *_: None),
    "slopes of groups": (estimator, "sloped_cells", _flat),
    "slopes of boxes": (estimator, "sloped_boxes", _flat_boxes),
    "isolated spikes": (estimator, "beside_isolated_spikes", lambda observed, _, smooth: smooth(observed)),
    "periods": (estimator, "period_of", lambda *_: None),
    "value prior": (estimator, "towards_value_prior", lambda _, shrunk, *__: shrunk),
    "projection in the metric of the noise": (estimator, "MOST_NEAREST", 0),
}
"""By stage: where it is, and what stands there instead."""


def smooth_table() -> Floats:
    """256 × 256 cells."""
    x = np.arange(256)
    return np.outer(1.2 + np.sin(x / 40), 1.2 + np.cos(x / 25))


def hot_spots() -> Floats:
    """256 × 256 cells: twelve, wide and narrow ones."""
    random, x = np.random.default_rng(0), np.arange(256)
    spots = np.zeros((256, 256))
    for _ in range(12):
        (row, column), width = 256 * random.random(2), 256 * random.uniform(0.01, 0.06)
        bell = np.exp(-0.5 * ((x[:, None] - row) ** 2 + (x - column) ** 2) / width**2)
        spots += random.random() * bell / width**2
    return spots


def rounded_amounts() -> Floats:
    """256 × 256 cells, of which one in a hundred has anything."""
    random = np.random.default_rng(0)
    return np.where(random.random((256, 256)) < 0.01, random.pareto(1.2, (256, 256)), 0.0)


def mostly_zero() -> Floats:
    """64 × 64 cells, events by amounts: most people have none."""
    x = np.arange(64)
    events, amounts = np.exp(-x / 8) * 0.04, np.exp(-x / 20) * 0.02
    events[0], amounts[0] = 0.7, 0.6
    return np.outer(events, amounts)


def prices() -> Floats:
    """2,000 cells: multiples of 5, 10, 50 and 100 are frequent."""
    x = np.arange(2000)
    frequent = np.select([x % 100 == 0, x % 50 == 0, x % 10 == 0, x % 5 == 0], [60.0, 25.0, 8.0, 2.0], 0.3)
    return np.asarray(np.exp(-x / 400) * frequent)


KINDS: Mapping[str, Callable[[], Floats]] = {
    "smooth table": smooth_table,
    "hot spots": hot_spots,
    "rounded amounts": rounded_amounts,
    "mostly zero": mostly_zero,
    "prices": prices,
}
"""Kinds of input that users have, not among the public ones: the shares of their cells, but for a factor."""

Task = tuple[str, str, int, str, int]
"""Mode, input, total, ε and runs."""


def counts_of(name: str, total: int) -> Ints:
    """Of a public input or of one of `KINDS`."""
    return drawn_counts(shape_of(KINDS[name]()), total) if name in KINDS else INPUTS[name].counts(total)


def measured(task: Task) -> tuple[Task, dict[str, float]]:
    """The mean logarithm of the ratio, by stage."""
    mode, name, total, epsilon, runs = task
    counts = counts_of(name, total)
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
    """The geometric mean of each mode over the public inputs, and the inputs to which the stage is worth most."""
    shown = [stage]
    by_input: dict[tuple[str, str], list[float]] = {}
    for mode in modes:
        ratios = {task: ratio[stage] for task, ratio in found.items() if task[0] == mode}
        public = [ratio for (_, name, *_), ratio in ratios.items() if name not in KINDS]
        shown.append(f"{exp(np.mean(public)):.3f}" if public else "")
        for (_, name, *_), ratio in ratios.items():
            by_input.setdefault((name, mode), []).append(ratio)
    most = sorted(((exp(np.mean(ratios)), name, mode) for (name, mode), ratios in by_input.items()), reverse=True)
    return [*shown, *(f"{ratio:.2f} {name}, {mode}" for ratio, name, mode in most[:NAMED])]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases of each case (default {RUNS})")
    every = [*available_inputs(), *KINDS]
    parser.add_argument("--inputs", nargs="+", choices=every, default=every, metavar="INPUT", help="only: %(choices)s")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES, help="only these")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/ablation.md")
    chosen = parser.parse_args(arguments)
    public = [name for name in chosen.inputs if name not in KINDS]
    cases = [(case.input, case.total, case.epsilon) for case in cases_of(public, SETTINGS)]
    of_kinds = [(name, *setting) for name in chosen.inputs if name in KINDS for setting in SETTINGS]
    tasks = [(mode, *case, chosen.runs) for mode in chosen.modes for case in (*cases, *of_kinds)]
    console = Console(width=140)
    with get_context("spawn").Pool(chosen.workers) as pool:
        running = pool.imap_unordered(measured, tasks)
        found = dict(track(running, total=len(tasks), console=console, description="measuring", transient=True))
    heads, rows = ["without", *chosen.modes, "most", "then"], [row_of(stage, found, chosen.modes) for stage in WITHOUT]
    title = f"Error without a stage over that with it: {len(cases)} public cases, runs of each: {chosen.runs}"
    table = Table(*heads, title=title)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    if chosen.write:
        lines = [f"*{title}.*", "", *("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))]
        write_parts(PAGE, {"ablation": "\n".join(lines)})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
