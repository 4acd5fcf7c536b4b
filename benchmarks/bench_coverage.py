"""Do 95 % intervals hold the truth, whatever is asked? Question by question, over all inputs.

Every input is published `--runs` times, each time with records drawn anew. The mechanisms that apply to it, totals from
10³ to 10⁶ records, ε = 1, 0.1, 0.01 and ρ = ε²/2 take turns, in an order that is shuffled once for all. Each release is
asked the same families of questions (`studies/questions.py`), some sixty questions in all, and gives each kind of
interval.

A share's error ± is its standard error by the scatter between releases. A share misses a target if it is below it by
more than that explains: Student's law, at five in a hundred for all shares that are judged together. A mean width over
that of the guaranteed interval is the mean of the ratios of releases. The exact interval is an oracle's
(`studies/exact_noise.py`), on the small inputs, of questions that the measured sums determine.

Exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from math import isfinite
from multiprocessing import get_context
from pathlib import Path
from zlib import crc32

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sparsedp as sdp
from sparsedp.errors import SparsedpError
from sparsedp.releases.uncertainty import EXPECTED, GUARANTEED, KINDS, LIKELY
from studies.accuracy.page import markdown, write_parts
from studies.coverage import Answered, Figure, answered
from studies.populations import ADAPTIVE, EXACT, MECHANISMS, Population, populations
from studies.questions import NAMED

RUNS, QUICK_RUNS = 84, 8
TOTALS = {"10³": 10**3, "10⁴": 10**4, "10⁵": 10**5, "10⁶": 10**6}
BUDGETS = {
    "ε = 1": sdp.Budget(epsilon=1),
    "ε = 0.1": sdp.Budget(epsilon="0.1"),
    "ε = 0.01": sdp.Budget(epsilon="0.01"),
    "ρ = 0.5": sdp.Budget(rho="0.5"),
    "ρ = 0.005": sdp.Budget(rho="0.005"),
    "ρ = 0.00005": sdp.Budget(rho="0.00005"),
}
GUARANTEED_LEAST, LIKELY_MEAN, LIKELY_LEAST = 0.945, 0.93, 0.88
MOST_WIDTH = 1.05
"""Of the guaranteed interval, over the exact one."""


@dataclass(frozen=True)
class Task:
    """One release of an input."""

    input: str
    number: int
    mechanism: str
    total: str
    budget: str
    kinds: tuple[str, ...]
    scale: float


Found = list[tuple[Task, list[Answered]]]
Row = Sequence[str]


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(populations())
    parser.add_argument("--runs", type=int, help=f"releases of each input (default {RUNS})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} releases of each input")
    parser.add_argument("--inputs", nargs="+", choices=names, metavar="INPUT", default=names, help="only %(choices)s")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="of intervals: only these")
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, help="only these, where they apply")
    parser.add_argument("--totals", nargs="+", choices=TOTALS, default=list(TOTALS), help="only these")
    parser.add_argument("--budgets", nargs="+", choices=BUDGETS, default=list(BUDGETS), help="only these")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply the widths, to check the check")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep releases here, and do not repeat what is kept")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables between the markers of a page")
    chosen = parser.parse_args(arguments)
    chosen.runs = chosen.runs or (QUICK_RUNS if chosen.quick else RUNS)
    return chosen


# ---- what is published and asked


def tasks_of(population: Population, chosen: argparse.Namespace) -> list[Task]:
    """Mechanisms, totals and budgets in turn: each as often as any other, but for one turn."""
    applying = [
        name for name in chosen.mechanisms or population.mechanisms if population.kind == "rows" or "stream" not in name
    ]
    every = [
        each
        for each in product(applying, chosen.totals, chosen.budgets)
        if "stream" not in each[0] or BUDGETS[each[2]].epsilon is not None
    ]
    order = np.random.default_rng(crc32(population.name.encode())).permutation(len(every))
    turns = [every[order[number % len(every)]] for number in range(chosen.runs if every else 0)]
    return [
        Task(population.name, number, mechanism, total, budget, tuple(chosen.kinds), chosen.scale)
        for number, (mechanism, total, budget) in enumerate(turns)
    ]


@cache
def _population(name: str) -> Population:
    return populations()[name]


def measured(task: Task) -> tuple[Task, list[Answered]]:
    population = _population(task.input)
    random = np.random.default_rng([crc32(task.input.encode()), task.number])
    counts = population.draw(TOTALS[task.total], random)
    found = answered(
        MECHANISMS[task.mechanism],
        counts,
        BUDGETS[task.budget],
        random,
        domain=population.domain,
        kinds=task.kinds,
        scale=task.scale,
    )
    return task, found


def kept(file: Path | None) -> dict[Task, list[Answered]]:
    """What earlier runs kept."""
    if file is None or not file.exists():
        return {}
    lines = map(json.loads, file.read_text().splitlines())
    return {
        Task(**{**task, "kinds": tuple(task["kinds"])}): [Answered(**one) for one in every] for task, every in lines
    }


def measure_all(tasks: list[Task], workers: int) -> Iterator[tuple[Task, list[Answered]]]:
    if workers == 1:
        yield from map(measured, tasks)
        return
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(measured, tasks)


# ---- figures


class Results:
    """What was found, put together over releases; `of` keeps some of them."""

    def __init__(self, found: Found) -> None:
        self.found = found

    def of(self, keep: Callable[[Task], bool]) -> Results:
        """Those of some tasks."""
        return Results([(task, answers) for task, answers in self.found if keep(task)])

    def by(self, part: Callable[[Task], str]) -> dict[str, Results]:
        """Those of each input, mechanism, total or budget."""
        return {name: self.of(lambda task, name=name: part(task) == name) for name in map(part, self.tasks)}  # type: ignore[misc]

    @property
    def tasks(self) -> list[Task]:
        """Each once."""
        return [task for task, _ in self.found]

    @property
    def families(self) -> list[str]:
        """In the order in which they are asked, the one that is not judged at the end."""
        names = dict.fromkeys(each.family for _, answers in self.found for each in answers)
        return sorted(names, key=lambda name: name == NAMED)

    def answers(self, family: str) -> list[Answered]:
        """Of every release that was asked it."""
        return [each for _, answers in self.found for each in answers if each.family == family]

    def held(self, family: str, kind: str) -> Figure:
        """The share of its intervals that hold the truth."""
        return Figure.of((each.held[kind], each.questions) for each in self.answers(family))

    def width(self, family: str, kind: str) -> float:
        """Over the guaranteed interval's."""
        return _mean(each.over_guaranteed(kind) for each in self.answers(family))

    def over_exact(self, family: str) -> float:
        """The guaranteed interval's width over the oracle's."""
        return _mean(each.over_exact for each in self.answers(family))

    def worst(self, kind: str) -> tuple[str, Figure]:
        """The judged family that holds least, for all that its error leaves open."""
        every = ((family, self.held(family, kind)) for family in self.families if family != NAMED)
        return min(every, key=lambda each: each[1].surely)

    def mean(self, kind: str) -> float:
        """Over judged families."""
        return float(np.mean([self.held(family, kind).share for family in self.families if family != NAMED]))

    @property
    def wider(self) -> tuple[int, int]:
        """How many likely intervals are wider than the guaranteed ones, and of how many."""
        every = [each for _, answers in self.found for each in answers]
        return sum(each.wider for each in every), sum(each.questions for each in every)


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


# ---- tables


def _share(found: Figure) -> str:
    return f"{100 * found.share:.1f} ± {100 * found.error:.1f}"


def _percent(share: float) -> str:
    return f"{round(100 * share, 1):g} %"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if isfinite(value) else "–"


def by_family(results: Results, kinds: Sequence[str]) -> tuple[Row, list[Row]]:
    """Each family: what every kind holds, and its width over the guaranteed one's."""
    with_widths = [kind for kind in kinds if kind != GUARANTEED and GUARANTEED in kinds]
    heading = ["question", "asked", "releases"]
    for kind in kinds:
        heading += [f"{kind}: held %", *(["width"] if kind in with_widths else [])]
    heading += ["guaranteed over exact"] if GUARANTEED in kinds else []
    rows: list[Row] = []
    for family in results.families:
        first = results.held(family, kinds[0])
        row = [family, f"{first.questions:,}", f"{first.releases:,}"]
        for kind in kinds:
            row += [_share(results.held(family, kind))]
            row += [_ratio(results.width(family, kind))] if kind in with_widths else []
        rows.append(row + ([_ratio(results.over_exact(family))] if GUARANTEED in kinds else []))
    return heading, rows


def by_part(results: Results, kinds: Sequence[str], part: Callable[[Task], str]) -> tuple[Row, list[Row]]:
    """Each input, mechanism, total or budget: the mean over families and the worst one, of every kind."""
    heading = ["", "releases"]
    for kind in kinds:
        heading += [f"{kind}: mean %", "worst family", "held %"]
    rows: list[Row] = []
    for name, here in results.by(part).items():
        row = [name, f"{len(here.found):,}"]
        for kind in kinds:
            family, worst = here.worst(kind)
            row += [f"{100 * here.mean(kind):.1f}", family, _share(worst)]
        rows.append(row)
    return heading, rows


def worst_cases(results: Results, kind: str, most: int = 12) -> tuple[Row, list[Row]]:
    """The families that hold least on single inputs."""
    found = []
    for name, here in results.by(lambda task: task.input).items():
        found += [(here.held(family, kind), name, family) for family in here.families if family != NAMED]
    found.sort(key=lambda each: each[0].surely)
    heading = ["input", "question", f"{kind}: held %", "asked", "releases"]
    return heading, [
        [name, family, _share(each), f"{each.questions:,}", f"{each.releases:,}"] for each, name, family in found[:most]
    ]


# ---- targets


@dataclass(frozen=True)
class Verdict:
    """One target, what was found, and whether it was met."""

    target: str
    found: str
    met: bool

    def __str__(self) -> str:
        return f"{'met' if self.met else 'MISSED'}: {self.target}: {self.found}."


def verdicts(results: Results, kinds: Sequence[str]) -> list[Verdict]:
    """All that can be judged by these kinds of interval."""
    of_adaptive = results.of(lambda task: task.mechanism in ADAPTIVE)
    judged = []
    if GUARANTEED in kinds:
        judged.append(_guaranteed(results))
        judged.extend(_beside_the_oracle(results))
    if LIKELY in kinds and of_adaptive.found:
        judged.extend(_likely(of_adaptive))
    if LIKELY in kinds and GUARANTEED in kinds:
        wider, asked = results.wider
        judged.append(Verdict("likely, never wider than guaranteed", f"{wider:,} of {asked:,} were", not wider))
    return judged


def _beside_the_oracle(results: Results) -> Iterator[Verdict]:
    mean = _mean(each.over_exact for _, answers in results.found for each in answers)
    if isfinite(mean):
        worst = max(results.families, key=lambda name: np.nan_to_num(results.over_exact(name)))
        text = f"{mean:.3f} on small inputs; most in “{worst}”: {results.over_exact(worst):.3f}"
        yield Verdict(f"guaranteed, mean width ≤ {MOST_WIDTH} of the exact one", text, mean <= MOST_WIDTH)


def _likely(results: Results) -> Iterator[Verdict]:
    mean = results.mean(LIKELY)
    yield Verdict(
        f"likely, Adaptive, ≥ {_percent(LIKELY_MEAN)} in the mean over families", _percent(mean), mean >= LIKELY_MEAN
    )
    figures = {name: results.held(name, LIKELY) for name in results.families if name != NAMED}
    text, met = _judged(figures, LIKELY_LEAST)
    yield Verdict(f"likely, Adaptive, ≥ {_percent(LIKELY_LEAST)} in every family over all inputs", text, met)


def _judged(figures: dict[str, Figure], target: float) -> tuple[str, bool]:
    """The figure that is least for all its error leaves open, those that miss, and whether none does."""
    low = [name for name, figure in figures.items() if figure.misses(target, len(figures))]
    worst = min(figures, key=lambda name: figures[name].surely)
    text = f"; missed by {', '.join(f'{name} {_share(figures[name])}' for name in low)}" if low else ""
    return f"{len(figures)} figures, surely lowest: {worst} {_share(figures[worst])}{text}", not low


def _guaranteed(results: Results) -> Verdict:
    """Every family over inputs, and every family of every input."""
    parts = {"all inputs": results, **results.by(lambda task: task.input)}
    figures = {
        f"{part}, {family}": here.held(family, GUARANTEED)
        for part, here in parts.items()
        for family in here.families
        if family != NAMED
    }
    text, met = _judged(figures, GUARANTEED_LEAST)
    target = f"guaranteed, ≥ {_percent(GUARANTEED_LEAST)} in every family, over all inputs and on each"
    return Verdict(target, text, met)


# ---- all of it


def tables(results: Results, kinds: Sequence[str]) -> dict[str, tuple[str, Row, list[Row]]]:
    """Each with its title, by the name of its part in a page."""
    of_adaptive = results.of(lambda task: task.mechanism in ADAPTIVE)
    exact = results.of(lambda task: task.mechanism in EXACT)
    other = results.of(lambda task: task.mechanism not in ADAPTIVE and task.mechanism not in EXACT)
    found: dict[str, tuple[str, Row, list[Row]]] = {}
    for name, title, these in (
        ("families", "Adaptive", of_adaptive),
        ("families-unbiased", ", ".join(EXACT), exact),
        ("families-streams", "streams", other),
    ):
        if these.found:
            found[name] = (f"By family of questions: {title}", *by_family(these, kinds))
    main = of_adaptive if of_adaptive.found else results
    for kind in kinds:
        found[f"worst-{kind}"] = (f"The families that hold least on one input: {kind}", *worst_cases(main, kind))
    shown = [kind for kind in kinds if kind != EXPECTED] or list(kinds)
    found["inputs"] = ("By input", *by_part(main, shown, lambda task: task.input))
    parts: tuple[Callable[[Task], str], ...] = (lambda t: t.mechanism, lambda t: t.total, lambda t: t.budget)
    rows = [
        row for part, these in zip(parts, (results, main, main), strict=True) for row in by_part(these, shown, part)[1]
    ]
    found["settings"] = ("By mechanism, total and budget", by_part(main, shown, parts[0])[0], rows)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = options(arguments)
    console = Console(width=170)
    every = populations()
    tasks = sorted(
        (task for name in chosen.inputs for task in tasks_of(every[name], chosen)), key=lambda task: task.number
    )
    if not tasks:
        print("None of these mechanisms applies to any of these inputs.")
        return 1
    known = kept(chosen.keep)
    left = [task for task in tasks if task not in known]
    running = measure_all(left, chosen.workers)
    for task, answers in track(running, total=len(left), console=console, description="measuring", transient=True):
        known[task] = answers
        if chosen.keep:
            with chosen.keep.open("a") as file:
                file.write(json.dumps([asdict(task), [asdict(each) for each in answers]]) + "\n")
    results, parts = Results([(task, known[task]) for task in tasks]), {}
    for name, (title, heading, rows) in tables(results, chosen.kinds).items():
        shown = Table(*heading, title=title)
        for row in rows:
            shown.add_row(*row)
        console.print(shown)
        parts[name] = markdown(heading, rows)
    judged = verdicts(results, chosen.kinds)
    for verdict in judged:
        console.print(str(verdict), highlight=False)
    if chosen.write:
        parts["verdicts"] = "\n".join(f"- {verdict}" for verdict in judged)
        parts["runs"] = (
            f"{len(tasks):,} releases, {chosen.runs} of each of {len(chosen.inputs)} inputs, and {results.wider[1]:,} "
            f"questions: `python benchmarks/bench_coverage.py --runs {chosen.runs} --write docs/coverage.md`."
        )
        write_parts(chosen.write, parts)
    return 0 if all(verdict.met for verdict in judged) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SparsedpError as error:
        sys.exit(f"{error}")
