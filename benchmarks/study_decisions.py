"""Blocks whose own noise decided into how many parts they are cut: what least squares makes of it, and one weight.

Under least squares a block weighs more the more parts it has, so that its noise weighs more where it is positive. Here
are sums of a half and a quarter of some tables, and their totals, estimated both ways from the same
releases: how far they are off in the mean, in deviations of their noise, and how many 95 % intervals hold
(`src/sparsedp/estimation/guaranteed.md`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import sqrt
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.guaranteed import NestedSums, measured_sums
from sparsedp.mechanisms.adaptive import Adaptive
from studies.inputs import INPUTS, drawn_counts

EPSILON, LEVEL, RUNS = "0.1", 0.95, 400
ROWS = ("power_law_shuffled", "sparse_cells", "spikes")
SQUARES = ((64, 10_000), (64, 20_000), (128, 100_000))
WAYS = {"least squares": "_least_squares", "one weight": "_one_weight"}


def tables() -> dict[str, Ints]:
    chance = np.random.default_rng(0)
    found = {f"{name}, 10,000": drawn_counts(INPUTS[name].shape(), 10_000) for name in ROWS}
    for side, total in SQUARES:
        found[f"even, {side} × {side}, {total:,}"] = chance.poisson(total / side**2, (side, side)).astype(np.int64)
    return found


def questions(cells: int) -> dict[str, Floats]:
    places = np.arange(cells)
    asked = {
        "total": places >= 0,
        "half": places < cells // 2,
        "quarter": (places >= cells // 4) & (places < cells // 2),
    }
    return {name: which.astype(np.float64) for name, which in asked.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"releases of each table (default {RUNS})")
    runs = parser.parse_args(arguments).runs
    shown = Table("table", "question", *(f"{way}: {what}" for way in WAYS for what in ("off by", "held")))
    for name, counts in tables().items():
        asked = questions(counts.size)
        off: dict[tuple[str, str], list[float]] = {}
        held: dict[tuple[str, str], list[bool]] = {}
        for _ in range(runs):
            synopsis = Adaptive().measure(counts, epsilon=EPSILON)
            measured = measured_sums(synopsis.sensing, synopsis.values, synopsis.law, np.zeros(counts.size))
            assert isinstance(measured, NestedSums)
            for way, method in WAYS.items():
                with patch.object(NestedSums, "_one_weight", getattr(NestedSums, method)):
                    for question, wanted in asked.items():
                        bounds, truth = measured.bounds(wanted), float(wanted @ counts.reshape(-1))
                        low, high = bounds.interval(LEVEL)
                        held.setdefault((question, way), []).append(low <= truth <= high)
                        if bounds.exact is not None:
                            error = (bounds.exact.value - truth) / sqrt(bounds.exact.noise.variance)
                            off.setdefault((question, way), []).append(error)
        for question in asked:
            figures = []
            for way in WAYS:
                errors = off.get((question, way))
                figures += [
                    "bounded" if errors is None else f"{np.mean(errors):+.2f}",
                    f"{np.mean(held[question, way]):.1%}",
                ]
            shown.add_row(name, question, *figures)
    Console(width=130).print(shown)


if __name__ == "__main__":
    main()
