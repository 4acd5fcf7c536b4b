"""`Adaptive` beside DAWA on the public family of inputs: the same counts, in one run, and the ratio of the errors.

DAWA is the best of the published mechanisms on most inputs. It is written anew from its paper (`rivals/dawa.py`), and
first compared with its published figures, if the paper's files are there (`SPARSEDP_DATA=folder make bench-dawa`).
Its cells are clipped at 0, and its ranges are the better of clipped and unclipped; ours are as released.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from rivals.dawa import Dawa
from sparsedp.experiments.accuracy.cases import SETTINGS, Case, cases_of
from sparsedp.experiments.accuracy.contenders import OURS
from sparsedp.experiments.accuracy.measuring import Measured, measure_all, tasks_for
from sparsedp.experiments.accuracy.page import write_parts
from sparsedp.experiments.accuracy.published import FIGURES, NAMES
from sparsedp.experiments.accuracy.scores import (
    METRIC_OF_MODE,
    Score,
    as_published,
    at_their_best,
    exactly,
    geometric_mean,
    score,
)
from sparsedp.experiments.accuracy.tables import markdown, with_margin
from sparsedp.experiments.inputs import available_inputs

RUNS = 40
RIVAL = Dawa()


def ratios(found: Sequence[Measured]) -> dict[str, dict[Case, Score]]:
    """By mode and case, our error over DAWA's."""
    errors = {(each.case, each.contender): each.errors for each in found}
    cases = list(dict.fromkeys(each.case for each in found))
    return {
        mode: {
            case: score(as_published(errors[case, ours.name]), METRIC_OF_MODE[mode]).over(
                score(at_their_best(errors[case, RIVAL.name]), METRIC_OF_MODE[mode])
            )
            for case in cases
        }
        for mode, ours in OURS.items()
    }


def fidelity(found: Sequence[Measured]) -> str:
    """Our DAWA beside the published figures."""
    rows = []
    for each in found:
        if each.contender == RIVAL.name:
            for metric in ("cells", "ranges"):
                figures = FIGURES.get((each.case.input, each.case.total, metric))
                if figures and each.case.epsilon == "0.1":
                    published = figures[NAMES.index("DAWA")]
                    made = score(at_their_best(each.errors), metric)
                    ratio = with_margin(made.over(exactly(published)))
                    rows.append([str(each.case), metric, f"{made.value:,.0f}", f"{published:,}", ratio])
    return (
        markdown(["case", "metric", "ours", "published", "ratio"], rows)
        if rows
        else "None of the paper's files is among the inputs."
    )


def ratio_table(by_case: dict[Case, Score]) -> str:
    settings = list(dict.fromkeys(case.setting for case in by_case))
    rows = []
    for name in dict.fromkeys(case.input for case in by_case):
        row = {case.setting: ratio for case, ratio in by_case.items() if case.input == name}
        shown = [f"**{row[s].value:.2f}**" if row[s].value > 1 else f"{row[s].value:.2f}" for s in settings]
        rows.append([name, *shown, with_margin(geometric_mean(list(row.values())))])
    columns = [geometric_mean([r for case, r in by_case.items() if case.setting == setting]) for setting in settings]
    overall = geometric_mean(list(by_case.values()))
    rows.append(["*geometric mean*", *(f"{each.value:.2f}" for each in columns), f"**{with_margin(overall)}**"])
    return markdown(["input", *settings, "geometric mean"], rows)


def verdicts(found: dict[str, dict[Case, Score]]) -> str:
    lines = []
    for mode, by_case in found.items():
        mean = geometric_mean(list(by_case.values()))
        worst = max(by_case, key=lambda case: by_case[case].value)
        above = sum(ratio.value > 1.1 for ratio in by_case.values())
        lines.append(
            f"- {mode}: {mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}] times DAWA's error, geometric mean of "
            f"{len(by_case)} cases; {above} above 1.1, the worst {worst} with {by_case[worst].value:.2f}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each in each case (default {RUNS})")
    parser.add_argument("--inputs", nargs="+", metavar="INPUT", help="only these")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the tables into a page")
    chosen = parser.parse_args(arguments)
    names = [name for name in available_inputs() if chosen.inputs is None or name in chosen.inputs]
    tasks = tasks_for(cases_of(names, SETTINGS), [RIVAL, *OURS.values()], chosen.runs)
    console = Console(width=200, soft_wrap=True)
    found = list(track(measure_all(tasks, workers=chosen.workers), total=len(tasks), console=console, transient=True))
    order = {task.case: place for place, task in enumerate(tasks)}
    found.sort(key=lambda each: order[each.case])
    by_mode = ratios(found)
    tables = "\n\n".join(f'**`workload="{mode}"`**\n\n{ratio_table(by_case)}' for mode, by_case in by_mode.items())
    parts = {"fidelity": fidelity(found), "dawa-verdicts": verdicts(by_mode), "dawa-ratios": tables}
    for text in parts.values():
        console.print(text + "\n", markup=False)
    if chosen.write:
        write_parts(chosen.write, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
