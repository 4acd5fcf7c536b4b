"""`python -m studies`: measure, draw, judge. Every experiment is listed here, in the order of the paper."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from sparsedp.datasets.paper_files import check_all
from sparsedp.errors import BadFile, InvalidInput, SparsedpError, UnknownName
from sparsedp.files.whole_file import written_whole
from studies.paper.data import PAPER_DATA, origins
from studies.paper.experiment import Effort, Expectation, Experiment
from studies.paper.pages import Chapter, chapter_of, counted, html_page, markdown_page, stand_ins, tally
from studies.paper.running import Job, Results, Store, Told, outcomes_of

# ---- every experiment

NAMES = (
    "choosing_sparsity",
    "epsilon_sweep",
    "cosine_sweep",
    "continual",
    "scaling",
    "stream_scaling",
    "isometry",
    "recovery_constant",
    "noise_norm",
    "sensitivities",
)


def experiments() -> dict[str, Experiment]:
    """All of them, by name."""
    every: list[Experiment] = [import_module(f"studies.paper.{name}").EXPERIMENT for name in NAMES]
    return {experiment.name: experiment for experiment in every}


def chosen(names: list[str]) -> list[Experiment]:
    """Those with these names; all of them if no name is given."""
    known = experiments()
    for name in names:
        if name not in known:
            raise UnknownName("experiment", name, known)
    return [experiment for name, experiment in known.items() if not names or name in names]


# ---- how far they are: a bar on a terminal, a line now and then in a log

LINES = 20
"""In a log, about so many lines."""


@contextmanager
def progress_bar(console: Console, jobs: int) -> Iterator[Told]:
    """Call what this gives with every job that is finished."""
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bar:
            task = bar.add_task("experiments", total=jobs)
            yield lambda job: bar.update(task, advance=1, description=job.experiment.name)
        return
    done = 0

    def say(job: Job) -> None:
        nonlocal done
        done += 1
        if done == jobs or done % max(1, jobs // LINES) == 0:
            console.print(f"{done} of {jobs} jobs: {job.experiment.name}")

    yield say


# ---- the command

OUT = Path("out/experiments")
BAD_INPUT = 2
INTERRUPTED = 130
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
EXAMPLES = """examples:
  python -m studies                                   all of them, in minutes
  python -m studies --full                            the effort of docs/paper.md
  python -m studies --only choosing-sparsity          one of them
  SPARSEDP_DATA=folder python -m studies              on the paper's own files, checked
  python -m studies --results docs/paper --page docs/paper.md   draw and judge again, measure nothing
"""


COMMANDS = {
    Effort.SMOKE: "python -m studies --smoke",
    Effort.QUICK: "make experiments",
    Effort.FULL: "make experiments-full",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, or 1 if something that must come out on the paper's own files did not, or 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    # Read when a worker starts: one process a core is all that the cores can do.
    os.environ.update({name: os.environ.get(name, "1") for name in THREADS})
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        if options.page and options.only:
            raise InvalidInput("page", f"{options.page} together with --only", "a page has all experiments")
        if options.results:
            results = {one.name: Results.read(options.results / f"{one.name}.json") for one in chosen(options.only)}
        else:
            results = _measure(options, console)
        return _show(results, chosen(options.only), options, console)
    except SparsedpError as error:
        return _refused(f"{error}")
    except OSError as error:
        return _refused(f"Could not read or write {error.filename}: {error.strerror}; what was finished is kept.")
    except KeyboardInterrupt:
        console.print("Stopped. What was finished is kept: the same command goes on from here.")
        return INTERRUPTED


def _refused(why: str) -> int:
    Console(stderr=True).print(why, style="red", highlight=False, markup=False, soft_wrap=True)
    return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m studies",
        description="Every table and figure of the paper, measured again, and what became of its claims.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--full", action="store_true", help="more runs and larger sizes")
    effort.add_argument("--smoke", action="store_true", help="as little as shows that everything runs")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this experiment; may be repeated")
    parser.add_argument("--workers", type=_workers, default=_cores(), metavar="N", help="processes (all cores)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"where all goes (default {OUT})")
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", help="use the results in this folder; measure nothing"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="also write the page of claims here, figures beside it"
    )
    return parser


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _workers(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1 on")
    return int(text)


def _measure(options: argparse.Namespace, console: Console) -> dict[str, Results]:
    effort = Effort.FULL if options.full else Effort.SMOKE if options.smoke else Effort.QUICK
    check_all()  # A file that is another is refused before anything is measured.
    here = origins()
    listed = [(experiment, experiment.jobs(effort, here)) for experiment in chosen(options.only)]
    with progress_bar(console, sum(len(asked) for _, asked in listed)) as finished:
        found = outcomes_of(listed, Store(options.out / "jobs"), workers=options.workers, finished=finished)
    command = COMMANDS[effort]
    if any(origin == "file" for origin in here.values()):
        command = f"SPARSEDP_DATA=folder {command}"
    return {name: Results.of(name, effort, command, outcomes) for name, outcomes in found.items()}


def _show(
    results: dict[str, Results], experiments: Sequence[Experiment], options: argparse.Namespace, console: Console
) -> int:
    page: Path = options.page or options.out / "paper.md"
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    chapters = []
    for experiment in experiments:
        if options.results is None or options.results.resolve() != beside.resolve():
            results[experiment.name].save(beside / f"{experiment.name}.json")
        chapters.append(_judged(experiment, results[experiment.name], beside))
    expectations = [one for chapter in chapters for one in chapter.expectations]
    _write(page, markdown_page(chapters, page))
    whole = _write(options.out / "index.html", html_page(chapters, expectations))
    _print(console, chapters, expectations)
    console.print(f"Claims: {page}. Results and figures: {beside}. Everything on one page: {whole}.", soft_wrap=True)
    return 0 if all(one.met for one in expectations) else 1


def _judged(experiment: Experiment, results: Results, figures: Path) -> Chapter:
    try:
        return chapter_of(experiment, results, figures)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        lacking = f"The results of {experiment.name} lack something that this version shows or judges; measure again."
        raise BadFile(lacking) from error


def _write(path: Path, text: str) -> Path:
    return written_whole(path, lambda file: file.write(text.encode()))


def _print(console: Console, chapters: Sequence[Chapter], expectations: Sequence[Expectation]) -> None:
    table = Table(title="What must come out on the paper's own files", title_justify="left")
    for heading in ("expected", "measured", ""):
        table.add_column(heading)
    for one in expectations:
        table.add_row(one.what, one.measured, "met" if one.met else "[bold red]MISSED[/]")
    if expectations:
        console.print(table)
    missing = [name for name in stand_ins(chapters) if name in PAPER_DATA]
    if missing:
        unchecked = "what must come out on the paper's own files was not checked on them"
        console.print(f"Stand-ins for {', '.join(missing)}: {unchecked} (`sparsedp datasets fetch`).", soft_wrap=True)
    console.print(counted(tally(chapters)))
