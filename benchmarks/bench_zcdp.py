"""Pure ε beside (ε, δ) by ρ-zCDP: mean errors of every mechanism on a year of hourly flight departures (8,760 cells).

The second table asks what k random sums cost: Compressive with the rows given, under both kinds of noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sparsedp as sdp
from sparsedp.arrays import Floats
from sparsedp.datasets.flights import hourly_departures
from sparsedp.privacy.conversion import rho_for
from studies.metrics import cell_error, range_error

DELTA = "1e-6"
BUDGETS = {
    f"{epsilon}{kind}": sdp.Budget(epsilon=epsilon, delta=delta)
    for epsilon in ("1", "0.1")
    for kind, delta in ((", δ = 0", 0), (f", δ = {DELTA}", DELTA))
}
SPARSITY = 128
WAYS: dict[str, Callable[[sdp.Budget], Floats]] = {
    "Adaptive()": lambda budget: sdp.Adaptive().release(hourly_departures(), epsilon=budget).values,
    "Laplace()": lambda budget: sdp.Laplace().release(hourly_departures(), epsilon=budget).values,
    'Laplace(), then recover("shrinkage")': lambda budget: (
        sdp.Laplace().measure(hourly_departures(), epsilon=budget).recover("shrinkage").values
    ),
    "Hierarchical()": lambda budget: sdp.Hierarchical().release(hourly_departures(), epsilon=budget).values,
    "Privelet()": lambda budget: sdp.Privelet().release(hourly_departures(), epsilon=budget).values,
    "Compressive()": lambda budget: sdp.Compressive().release(hourly_departures(), epsilon=budget).values,
    'Compressive(recovery="cosamp")': lambda budget: (
        sdp.Compressive(recovery="cosamp").release(hourly_departures(), epsilon=budget).values
    ),
}


def errors(way: Callable[[sdp.Budget], Floats], runs: int) -> list[str]:
    truth, row = hourly_departures(), []
    for budget in BUDGETS.values():
        releases = [way(budget) for _ in range(runs)]
        cells = np.mean([cell_error(truth, values) for values in releases])
        ranges = np.mean([range_error(truth, values) for values in releases])
        row.append(f"{cells:,.0f} / {ranges:,.0f}")
    return row


def with_rows(rows: int) -> Callable[[sdp.Budget], Floats]:
    def release(budget: sdp.Budget) -> Floats:
        return sdp.Compressive(sparsity=SPARSITY, rows=rows).release(hourly_departures(), epsilon=budget).values

    return release


def table_of(title: str, ways: dict[str, Callable[[sdp.Budget], Floats]], runs: int) -> Table:
    table = Table(title=title)
    table.add_column("mechanism")
    for name in BUDGETS:
        table.add_column(f"ε = {name}", justify="right")
    for name, way in track(ways.items(), transient=True):
        table.add_row(name, *errors(way, runs))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="runs of each mechanism at each budget (default 10)")
    runs = parser.parse_args().runs
    truth, console = hourly_departures(), Console(width=120)
    for epsilon in ("1", "0.1"):
        console.print(f"ε = {epsilon}, δ = {DELTA}: ρ = {float(rho_for(epsilon, DELTA)):.4g}")
    for delta in ("1e-6", "1e-9"):
        sums = [float(Fraction(epsilon) ** 2 / (4 * rho_for(epsilon, delta))) for epsilon in ("0.1", "1", "4")]
        shown = ", ".join(f"{number:.1f}" for number in sums)
        console.print(f"sums a cell from which Gaussian noise is the smaller, δ = {delta}, ε = 0.1, 1, 4: {shown}")
    zeros = np.zeros(truth.size)
    console.print(f"publish zeros: {cell_error(truth, zeros):,.0f} / {range_error(truth, zeros):,.0f}")
    console.print(table_of(f"‖D − D*‖₂ / typical error of a range, mean of {runs} runs", WAYS, runs))
    rows = {f"k = n/{part}" if part > 1 else "k = n": with_rows(truth.size // part) for part in (16, 8, 4, 2, 1)}
    console.print(table_of(f"the same for Compressive(sparsity={SPARSITY}, rows=k)", rows, runs))


if __name__ == "__main__":
    main()
