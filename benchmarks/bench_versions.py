"""Is `Adaptive` as accurate as it was? Errors of this checkout over those of another one, on the public inputs.

Both release the same counts with the same repeatable noise, so where nothing changed the ratio is exactly 1, and a few
runs tell a change of half a per cent. The other checkout is a folder, such as `git worktree add ../before v0.1` makes.
Exits with 1 if the geometric mean of a mode is worse by more than one per cent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

import sparsedp as sdp
from sparsedp.noise.source import SeededSource
from studies.accuracy.measuring import SETTINGS
from studies.inputs import INPUTS, available_inputs
from studies.metrics import cell_error, range_error

MODES = ("any", "cells", "ranges")
RUNS = 2
MOST = 1.01

Errors = dict[str, tuple[float, float]]
"""Of cells and of ranges, by mode, input, total, ε and run."""


def measured(names: Sequence[str], runs: int) -> Errors:
    """The errors of the checkout that is imported."""
    found: Errors = {}
    for name in names:
        for total, epsilon in SETTINGS:
            counts = INPUTS[name].counts(total)
            for mode in MODES:
                for run in range(runs):
                    release = sdp.Adaptive(mode).release(counts, epsilon=epsilon, source=SeededSource(run))
                    values = np.asarray(release.values)
                    found["|".join((mode, name, str(total), epsilon, str(run)))] = (
                        cell_error(counts, values),
                        range_error(counts, values),
                    )
    return found


def measured_in(checkout: Path, names: Sequence[str], runs: int, output: Path) -> subprocess.Popen[bytes]:
    """The same in a process of its own, with the code of a checkout."""
    paths = os.pathsep.join((str(checkout / "src"), str(checkout)))
    options = ["--measure", str(output), "--runs", str(runs), "--inputs", *names]
    return subprocess.Popen([sys.executable, __file__, *options], env={**os.environ, "PYTHONPATH": paths})


def ratios(before: Errors, after: Errors) -> dict[tuple[str, str], float]:
    """By input and mode, the mean logarithm of the change of what the mode is judged by: cells, ranges, or both."""
    logs: dict[tuple[str, str], list[float]] = {}
    for case, then in before.items():
        mode, name, *_ = case.split("|")
        change = np.log(np.maximum(after[case], 1e-9)) - np.log(np.maximum(then, 1e-9))
        judged = {"any": change.sum(), "cells": change[0], "ranges": change[1]}[mode]
        logs.setdefault((name, mode), []).append(float(judged))
    return {key: float(np.mean(values)) for key, values in logs.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", type=Path, help="the folder of the other checkout")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases of each case (default {RUNS})")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, metavar="INPUT", help="only these: %(choices)s")
    parser.add_argument("--measure", type=Path, metavar="FILE", help="only measure this checkout, into a file")
    chosen = parser.parse_args(arguments)
    names = [name for name in chosen.inputs or available_inputs() if name in available_inputs()]
    if chosen.measure is not None:
        chosen.measure.write_text(json.dumps(measured(names, chosen.runs)))
        return 0
    if chosen.checkout is None or not (chosen.checkout / "src" / "sparsedp").is_dir():
        parser.error("name the folder of the other checkout, which has src/sparsedp in it")
    with TemporaryDirectory() as folder:
        outputs = [Path(folder) / name for name in ("before", "after")]
        checkouts = (chosen.checkout.absolute(), Path(__file__).parent.parent)
        running = [measured_in(*both) for both in zip(checkouts, [names] * 2, [chosen.runs] * 2, outputs, strict=True)]
        codes = [process.wait() for process in running]
        if any(codes):
            return max(codes)
        before, after = (json.loads(output.read_text()) for output in outputs)
    found = ratios(before, after)
    table = Table("input", *MODES, title=f"Error here over that of {chosen.checkout}")
    for name in names:
        table.add_row(name, *(f"{np.exp(found[name, mode]):.3f}" for mode in MODES))
    means = {mode: float(np.exp(np.mean([found[name, mode] for name in names]))) for mode in MODES}
    table.add_row("all", *(f"{means[mode]:.4f}" for mode in MODES))
    Console(width=100).print(table)
    return int(max(means.values()) > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
