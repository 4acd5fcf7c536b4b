"""The same releases by sparsedp and by its peers, in one run on one core: error and time side by side, and growth.

Exits with 1 when OpenDP or diffprivlib could not be run. `make bench-peers` installs all of them.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

from peers.measuring import measured

# isort: split
from rich.console import Console
from rich.progress import Progress

from peers import tables
from peers.growth import grown
from peers.roster import Roster, assembled
from sparsedp.datasets.flights import hourly_departures

GROWTH_EPSILON = "1"


@dataclass(frozen=True)
class Effort:
    """How much is run."""

    hours: int
    epsilons: tuple[str, ...]
    sizes: tuple[int, ...]
    runs: int
    patience: float
    """Seconds for the runs of one contender on one input, after the first."""
    limit: float
    """Seconds; a size at which one run is expected to take longer is left out."""


USUAL = Effort(8760, ("0.1", "1"), tuple(2**power for power in range(12, 21, 2)), runs=100, patience=2.5, limit=10.0)
QUICK = Effort(512, ("1",), (2**8, 2**9, 2**10), runs=2, patience=0.5, limit=2.0)


def one_core() -> None:
    """Everything on one core, where the system lets us say so: some libraries start threads whatever they are told."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def on_flights(roster: Roster, effort: Effort, console: Console, progress: Progress) -> None:
    counts = hourly_departures()[: effort.hours]
    task = progress.add_task("flights", total=len(effort.epsilons) * len(roster.groups))
    for epsilon in effort.epsilons:
        results = {}
        for kind, contenders in roster.groups.items():
            results[kind] = measured(contenders, counts, epsilon, runs=effort.runs, patience=effort.patience)
            progress.advance(task)
        console.print(tables.of_one_input(f"Hourly departures, {counts.size:,} cells, ε = {epsilon}", results))


def over_sizes(roster: Roster, effort: Effort, console: Console, progress: Progress) -> None:
    task = progress.add_task("sizes", total=len(effort.sizes) * len(roster.groups))
    results = {
        kind: grown(
            contenders,
            effort.sizes,
            GROWTH_EPSILON,
            runs=min(effort.runs, 5),
            patience=effort.patience,
            limit=effort.limit,
            done=lambda: progress.advance(task),
        )
        for kind, contenders in roster.groups.items()
    }
    title = f"power-law counts, ε = {GROWTH_EPSILON}"
    growth = tables.of_growth(f"Milliseconds by number of cells: {title} (times ours)", effort.sizes, results)
    growth.caption = f"–: not run, more than {effort.limit:g} s expected from the size before."
    console.print(growth)
    console.print(tables.of_growing_errors(f"‖D − D*‖₂ by number of cells: {title}", effort.sizes, results))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few cells and two runs: whether it works at all")
    effort = QUICK if parser.parse_args().quick else USUAL
    one_core()
    console, roster = Console(width=160), assembled()
    with Progress(console=console, transient=True) as progress:
        on_flights(roster, effort, console, progress)
        over_sizes(roster, effort, console, progress)
    console.print(tables.of_guarantees([one for contenders in roster.groups.values() for one in contenders]))
    console.print(
        "Timed: one release of counts, or records, in memory; processor time on one core, the least of the runs. "
        "Not timed: what is made once for a length and an ε, such as OpenDP's measurement and JAX's compilation."
    )
    for library, reason in roster.absent.items():
        console.print(f"{library} was not run: {reason}.", markup=False)
    return 0 if roster.complete else 1


if __name__ == "__main__":
    raise SystemExit(main())
