"""Mean errors of every mechanism on a year of hourly flight departures (8,760 cells), beside publishing zeros."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sparsedp as sdp
from sparsedp.datasets.flights import hourly_departures
from sparsedp.mechanisms.base import Mechanism
from studies.metrics import cell_error, range_error

MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "Adaptive()": sdp.Adaptive,
    'Adaptive(workload="cells")': lambda: sdp.Adaptive("cells"),
    'Adaptive(workload="ranges")': lambda: sdp.Adaptive("ranges"),
    "Laplace()": sdp.Laplace,
    "Hierarchical()": sdp.Hierarchical,
    "Hierarchical(branching=16)": lambda: sdp.Hierarchical(branching=16),
    "Privelet()": sdp.Privelet,
    'Compressive(recovery="cosamp")': lambda: sdp.Compressive(recovery="cosamp"),
    'Compressive(recovery="basis_pursuit")': lambda: sdp.Compressive(recovery="basis_pursuit"),
    "Compressive()": sdp.Compressive,
    'Compressive(basis="cosine")': lambda: sdp.Compressive(basis="cosine"),
}
EPSILONS = ("1", "0.1", "0.01")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs of each mechanism at each ε (default 20)")
    runs = parser.parse_args().runs
    truth = hourly_departures()
    zeros = np.zeros(truth.size)
    table = Table(title=f"‖D − D*‖₂ / typical error of a range, mean of {runs} runs")
    table.add_column("mechanism")
    for epsilon in EPSILONS:
        table.add_column(f"ε = {epsilon}", justify="right")
    table.add_row("publish zeros", *[f"{cell_error(truth, zeros):,.0f} / {range_error(truth, zeros):,.0f}"] * 3)
    for name, make in track(MECHANISMS.items(), transient=True):
        row = []
        for epsilon in EPSILONS:
            releases = [make().release(truth, epsilon=epsilon).values for _ in range(runs)]
            cells = np.mean([cell_error(truth, values) for values in releases])
            ranges = np.mean([range_error(truth, values) for values in releases])
            row.append(f"{cells:,.0f} / {ranges:,.0f}")
        table.add_row(name, *row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
