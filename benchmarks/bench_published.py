"""`Adaptive` beside seven published mechanisms on the public family of inputs: the same counts, in one run, and the
ratio of its error to that of whichever of them is best in each case, chosen in hindsight.

Laplace, HB and Privelet are this library's; DAWA, P-HP, AHP and DPCube are written anew from their papers (`rivals/`).
All are first compared with their published figures, if the paper's files are there
(`SPARSEDP_DATA=folder make bench-published`). Their cells are clipped at 0, and their ranges are the better of clipped
and unclipped; ours are as released.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from rivals.ahp import Ahp
from rivals.dawa import Dawa
from rivals.dpcube import DpCube
from rivals.p_hp import Php
from studies.accuracy.comparison import (
    FIGURES,
    METRIC_OF_MODE,
    NAMES,
    Score,
    as_published,
    at_their_best,
    exactly,
    geometric_mean,
    score,
)
from studies.accuracy.measuring import (
    EPSILON,
    OURS,
    SETTINGS,
    Case,
    Configured,
    Contender,
    Measured,
    cases_of,
    measure_all,
    tasks_for,
)
from studies.accuracy.page import markdown, with_margin, write_parts
from studies.inputs import available_inputs

RUNS = 40
SEVEN: Mapping[str, Contender] = {
    each.name: each
    for each in (
        Configured("Laplace", "laplace"),
        Dawa(),
        Php(),
        Ahp(),
        Configured("HB", "hierarchical", (("branching", 16),)),
        Configured("Privelet", "privelet"),
        DpCube(),
    )
}


@dataclass(frozen=True)
class Ratio:
    """Our error over that of the best of the seven, and which one that is."""

    score: Score
    best: str


def ratios(found: Sequence[Measured]) -> dict[str, dict[Case, Ratio]]:
    """By mode and case."""
    errors = {(each.case, each.contender): each.errors for each in found}
    by_mode: dict[str, dict[Case, Ratio]] = {mode: {} for mode in OURS}
    for mode, ours in OURS.items():
        metric = METRIC_OF_MODE[mode]
        for case in dict.fromkeys(each.case for each in found):
            theirs = {name: score(at_their_best(errors[case, name]), metric) for name in SEVEN}
            best = min(theirs, key=lambda name: theirs[name].log)
            mine = score(as_published(errors[case, ours.name]), metric)
            by_mode[mode][case] = Ratio(mine.over(theirs[best]), best)
    return by_mode


def fidelity(found: Sequence[Measured]) -> str:
    """The seven as they are here over their published figures."""
    errors = {(each.case, each.contender): each.errors for each in found}
    rows = []
    for case in dict.fromkeys(each.case for each in found):
        for metric in ("cells", "ranges"):
            figures = FIGURES.get((case.input, case.total, metric))
            if figures and case.epsilon == EPSILON:
                made = [score(at_their_best(errors[case, name]), metric) for name in NAMES]
                shown = [with_margin(each.over(exactly(known))) for each, known in zip(made, figures, strict=True)]
                rows.append([str(case), metric, *shown])
    return markdown(["case", "metric", *NAMES], rows) if rows else "None of the paper's files is among the inputs."


def ratio_table(by_case: Mapping[Case, Ratio]) -> str:
    settings = list(dict.fromkeys(case.setting for case in by_case))
    rows = []
    for name in dict.fromkeys(case.input for case in by_case):
        row = {case.setting: ratio for case, ratio in by_case.items() if case.input == name}
        shown = [_marked(row[setting]) for setting in settings]
        rows.append([name, *shown, with_margin(geometric_mean([ratio.score for ratio in row.values()]))])
    columns = [
        geometric_mean([ratio.score for case, ratio in by_case.items() if case.setting == setting])
        for setting in settings
    ]
    overall = geometric_mean([ratio.score for ratio in by_case.values()])
    rows.append(["*geometric mean*", *(f"{each.value:.2f}" for each in columns), f"**{with_margin(overall)}**"])
    return markdown(["input", *settings, "geometric mean"], rows)


def _marked(ratio: Ratio) -> str:
    shown = f"{ratio.score.value:.2f}"
    return f"{f'**{shown}**' if ratio.score.value > 1 else shown} {ratio.best}"


def verdicts(found: Mapping[str, Mapping[Case, Ratio]]) -> str:
    lines = []
    for mode, by_case in found.items():
        mean = geometric_mean([ratio.score for ratio in by_case.values()])
        worst = max(by_case, key=lambda case: by_case[case].score.log)
        above = [ratio for ratio in by_case.values() if ratio.score.value > 1.1]
        surely = sum(ratio.score.low > 1.1 for ratio in above)
        often = ", ".join(f"{name} {count}" for name, count in Counter(r.best for r in by_case.values()).most_common())
        lines.append(
            f"- {mode}: {mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}] times the error of the best of the seven in "
            f"each case, geometric mean of {len(by_case)} cases; {len(above)} above 1.1 ({surely} by more than the "
            f"scatter), the worst {worst} with {by_case[worst].score.value:.2f}. Best was: {often}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each in each case (default {RUNS})")
    parser.add_argument("--inputs", nargs="+", metavar="INPUT", help="only these")
    parser.add_argument("--settings", nargs="+", metavar="SETTING", help='only these, such as "10³, ε = 0.1"')
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the tables into a page")
    chosen = parser.parse_args(arguments)
    names = [name for name in available_inputs() if chosen.inputs is None or name in chosen.inputs]
    cases = [c for c in cases_of(names, SETTINGS) if chosen.settings is None or c.setting in chosen.settings]
    tasks = tasks_for(cases, [*SEVEN.values(), *OURS.values()], chosen.runs)
    console = Console(width=200, soft_wrap=True)
    found = list(track(measure_all(tasks, workers=chosen.workers), total=len(tasks), console=console, transient=True))
    order = {task.case: place for place, task in enumerate(tasks)}
    found.sort(key=lambda each: order[each.case])
    by_mode = ratios(found)
    tables = "\n\n".join(f'**`workload="{mode}"`**\n\n{ratio_table(by_case)}' for mode, by_case in by_mode.items())
    parts = {"fidelity": fidelity(found), "published-verdicts": verdicts(by_mode), "published-ratios": tables}
    for text in parts.values():
        console.print(text + "\n", markup=False)
    if chosen.write:
        write_parts(chosen.write, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
