"""Errors of every mechanism on the public family of inputs, and the ratios of ours to the best of the others.

Twenty inputs of 4,096 cells (seventeen without the paper's files: `SPARSEDP_DATA=folder make bench-accuracy`), six
settings each. Every run is kept in out/accuracy.json, the means in out/accuracy.csv. Exits with 1 when a target is
missed. The counts are one fixed draw, so the intervals are about the noise of the mechanisms alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from sparsedp.errors import SparsedpError
from studies.accuracy.comparison import (
    Comparison,
    Results,
    Verdict,
    compare,
    compare_with_published,
    published_verdicts,
    verdicts,
)
from studies.accuracy.measuring import (
    BYSTANDERS,
    OURS,
    QUICK_SETTINGS,
    RIVALS,
    SETTINGS,
    Case,
    Configured,
    Task,
    cases_of,
    measure_all,
    tasks_for,
)
from studies.accuracy.page import (
    TOTAL,
    draw_ratios,
    draw_releases,
    error_table,
    input_table,
    published_table,
    ratio_tables,
    verdict_list,
    write_parts,
)
from studies.inputs import INPUTS, available_inputs

RUNS, QUICK_RUNS = 100, 5
RESULTS, QUICK_RESULTS = Path("out/accuracy.json"), Path("out/accuracy-quick.json")
PICTURED = ("hourly_departures", "air_times", "steps", "smooth_and_spikes", "blobs", "streets")


def options(arguments: Sequence[str] | None, ours: Mapping[str, Configured]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, help=f"runs of each mechanism in each case (default {RUNS})")
    parser.add_argument("--quick", action="store_true", help=f"totals 10³ and 10⁵ at ε = 0.1 only, {QUICK_RUNS} runs")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, metavar="INPUT", help="only these: %(choices)s")
    parser.add_argument("--modes", nargs="+", choices=ours, default=list(ours), help="only these modes of ours")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--results", type=Path, help=f"where every run is kept (default {RESULTS})")
    parser.add_argument("--keep-others", action="store_true", help="measure the others only where the file has no runs")
    parser.add_argument("--no-runs", action="store_true", help="measure nothing: compare what the file has")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write tables and pictures into a page")
    chosen = parser.parse_args(arguments)
    # Few quick runs must not take the place of many.
    chosen.runs = chosen.runs or (QUICK_RUNS if chosen.quick else RUNS)
    chosen.results = chosen.results or (QUICK_RESULTS if chosen.quick else RESULTS)
    return chosen


def tasks_to_run(
    chosen: argparse.Namespace, cases: list[Case], ours: Mapping[str, Configured], known: Results
) -> list[Task]:
    tasks = tasks_for(cases, [*ours.values(), *RIVALS, *BYSTANDERS], chosen.runs)
    if not chosen.keep_others:
        return tasks
    our_names = {contender.name for contender in ours.values()}
    return [
        task
        for task in tasks
        if task.contender.name in our_names or known.runs(task.case, task.contender.name) < task.runs
    ]


def measured(tasks: list[Task], known: Results, chosen: argparse.Namespace, console: Console) -> None:
    """Run the tasks; what was measured is saved even if the rest is interrupted."""
    found = measure_all(tasks, workers=chosen.workers)
    try:
        for one in track(found, total=len(tasks), console=console, description="measuring", transient=True):
            known.add(one)
    finally:
        known.save(chosen.results)


def parts(
    results: Results,
    ours: Mapping[str, Configured],
    cases: list[Case],
    comparisons: list[Comparison],
    found: list[Verdict],
) -> dict[str, str]:
    counted = {results.runs(case, name) for case in cases for name in results.contenders(case)}
    runs = str(min(counted)) if len(counted) == 1 else f"{min(counted)} to {max(counted)}"
    return {
        "runs": f"{len(cases)} cases, {runs} runs of each mechanism in each case; ± is half a 95 % interval.",
        "verdicts": verdict_list(found),
        "ratios": ratio_tables(comparisons),
        "published": published_table(compare_with_published(results, ours)),
        "inputs": input_table(dict.fromkeys(case.input for case in cases)),
        "errors": error_table(results, ours, cases),
    }


def draw(page: Path, comparisons: list[Comparison], ours: Mapping[str, Configured], names: list[str]) -> list[Path]:
    pictured = {name: INPUTS[name].counts(TOTAL) for name in PICTURED if name in names}
    drawn = [draw_ratios(comparisons, page.parent / "accuracy-ratios.png")]
    if pictured:
        shown = [next(iter(ours.values())), *(rival for rival in RIVALS if rival.name in ("laplace", "compressive"))]
        drawn.append(draw_releases(pictured, shown, page.parent / "accuracy-releases.png"))
    return drawn


def main(arguments: Sequence[str] | None = None, ours: Mapping[str, Configured] = OURS) -> int:
    chosen = options(arguments, ours)
    console = Console(width=200, soft_wrap=True)
    ours = {mode: contender for mode, contender in ours.items() if mode in chosen.modes and contender.exists}
    held = available_inputs()
    names = list(held) if chosen.inputs is None else [name for name in chosen.inputs if name in held]
    missing = [name for name in chosen.inputs or INPUTS if name not in held]
    if missing:
        console.print(f"Without {', '.join(missing)}: `sparsedp datasets fetch` gets the paper's files.")
    cases = cases_of(names, QUICK_SETTINGS if chosen.quick else SETTINGS)
    results = Results.read(chosen.results) if chosen.results.exists() else Results()
    if not chosen.no_runs:
        measured(tasks_to_run(chosen, cases, ours, results), results, chosen, console)
    cases = [case for case in cases if results.contenders(case)]
    results = results.only(cases)
    results.save_summary(chosen.results.with_suffix(".csv"), [contender.name for contender in ours.values()])
    console.print(error_table(results, ours, cases), markup=False)
    comparisons = compare(results, ours)
    published = compare_with_published(results, ours)
    found = [*verdicts(comparisons), *published_verdicts(published)]
    if not comparisons:
        console.print("Nothing of ours was measured: no ratios.")
        return 0
    console.print(ratio_tables(comparisons), markup=False)
    if published:
        console.print(published_table(published), markup=False)
    for verdict in found:
        console.print(str(verdict), markup=False)
    if chosen.write:
        write_parts(chosen.write, parts(results, ours, cases, comparisons, found))
        for path in [chosen.write, *draw(chosen.write, comparisons, ours, names)]:
            console.print(f"Wrote {path}.")
    return 0 if all(verdict.met for verdict in found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SparsedpError as error:
        sys.exit(f"{error}")
