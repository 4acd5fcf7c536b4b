"""How far the experiments are: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from sparsedp.experiments.paper.running import Job, Told

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
