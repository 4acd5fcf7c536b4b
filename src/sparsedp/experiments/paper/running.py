"""Run the jobs of experiments on several processes; what is finished is kept at once, and found again."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from time import perf_counter

from sparsedp.errors import BadFile, SparsedpError
from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.outcomes import Found, Outcome, Outcomes, Settings
from sparsedp.experiments.paper.store import Store

Told = Callable[["Job"], None]


@dataclass(frozen=True)
class Job:
    """One job of one experiment."""

    experiment: Experiment
    settings: Settings


def outcomes_of(
    listed: Sequence[tuple[Experiment, list[Settings]]], store: Store, *, workers: int = 1, finished: Told | None = None
) -> dict[str, Outcomes]:
    """Do every job that the store does not have; `finished` is called after each one, those it had included."""
    jobs = [Job(experiment, settings) for experiment, asked in listed for settings in asked]
    tell = finished or (lambda job: None)
    waiting = []
    for job in jobs:
        if store.get(job.experiment, job.settings) is None:
            waiting.append(job)
        else:
            tell(job)
    with closing(_done(waiting, workers)) as done:
        for job, outcome in done:
            store.put(job.experiment, outcome)
            tell(job)
    return {
        experiment.name: Outcomes(_kept(store, experiment, settings) for settings in asked)
        for experiment, asked in listed
    }


def _kept(store: Store, experiment: Experiment, settings: Settings) -> Outcome:
    outcome = store.get(experiment, settings)
    if outcome is None:
        raise BadFile(f"A job of {experiment.name} was finished, but its file is gone; run again to do it again.")
    return outcome


def _done(jobs: Sequence[Job], workers: int) -> Generator[tuple[Job, Outcome], None, None]:
    """The outcomes as they come; one worker works in this process."""
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            yield job, timed(job.experiment.measure, job.settings)
        return
    # Fresh processes, not forks: compiled kernels and their threads do not survive a fork everywhere.
    executor = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        with _deaf_to_interrupts():
            asked = {executor.submit(timed, job.experiment.measure, job.settings): job for job in jobs}
        futures: Iterator[Future[Outcome]] = as_completed(asked)
        for future in futures:
            yield asked[future], future.result()
    except BrokenProcessPool:
        ended = "A process was ended from outside, perhaps for want of memory; what was finished is kept"
        raise SparsedpError(f"{ended}: run it again, with --workers 1 if it happens again.") from None
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started in here leave Ctrl-C to the one that started them, which then ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def timed(measure: Callable[[Settings], Found], settings: Settings) -> Outcome:
    """Do one job, and say how long it took."""
    start = perf_counter()
    found = measure(settings)
    return Outcome(settings, found, perf_counter() - start)
