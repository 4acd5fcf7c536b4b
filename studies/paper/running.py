"""Run the jobs of experiments on several processes; what is finished is kept at once, and found again.

A job is known by its settings, the seed and the code that measured it. The results of an experiment are one file: all
outcomes, and what is needed to make them again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import multiprocessing
import platform
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import sparsedp
from sparsedp.errors import BadFile, SparsedpError
from sparsedp.files.whole_file import written_whole
from sparsedp.version import __version__
from studies.paper.data import SEED
from studies.paper.experiment import Effort, Experiment, Found, Outcome, Outcomes, Settings

# ---- the results of one experiment as a file

PACKAGES = ("numpy", "scipy", "numba", "cryptography")
"""Those whose versions may change a digit."""


@dataclass(frozen=True)
class Results:
    """What an experiment found, with which effort, by which command, versions and seed."""

    experiment: str
    effort: Effort
    command: str
    seed: int
    versions: dict[str, str]
    outcomes: Outcomes

    @classmethod
    def of(cls, experiment: str, effort: Effort, command: str, outcomes: Outcomes) -> Results:
        """The results of this run, on this machine."""
        versions = {"python": platform.python_version(), "sparsedp": __version__}
        versions |= {name: importlib.metadata.version(name) for name in PACKAGES}
        return cls(experiment, effort, command, SEED, versions, outcomes)

    @property
    def origins(self) -> dict[str, str]:
        """Where each data set came from."""
        return {
            outcome.settings["data"]: outcome.settings["origin"]
            for outcome in self.outcomes
            if "origin" in outcome.settings
        }

    def save(self, path: Path) -> Path:
        """Write JSON, one outcome a line: what changed is easy to see."""
        head = {"experiment": self.experiment, "effort": self.effort.value, "command": self.command, "seed": self.seed}
        lines = [json.dumps({**head, "versions": self.versions}, ensure_ascii=False)[:-1] + ', "outcomes": [']
        rows = [
            json.dumps(
                {"settings": outcome.settings, "found": outcome.found, "seconds": round(outcome.seconds, 3)},
                ensure_ascii=False,
                allow_nan=False,
            )
            for outcome in self.outcomes
        ]
        content = "\n".join([*lines, ",\n".join(rows), "]}\n"]).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        return written_whole(path, lambda file: file.write(content))

    @classmethod
    def read(cls, path: Path) -> Results:
        """What `save` wrote."""
        try:
            kept: dict[str, Any] = json.loads(path.read_text())
            outcomes = Outcomes(Outcome(row["settings"], row["found"], row["seconds"]) for row in kept["outcomes"])
            effort = Effort(kept["effort"])
            return cls(kept["experiment"], effort, kept["command"], kept["seed"], kept["versions"], outcomes)
        except OSError as error:
            raise BadFile(f"Could not read {path}: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError):
            raise BadFile(f"{path} does not hold the results of an experiment; measure again.") from None


# ---- which code a result was made by

LIBRARY = Path(sparsedp.__file__).parent
STUDIES = Path(__file__).parents[1]
# What no measurement runs through: how data come in and how results are shown.
NOT_MEASURED_WITH = ("cli", "reports", "ingest", "publishing", "previews")
SHARED = ("metrics.py", "paper/data.py", "paper/continual/measuring.py")


def code_of(experiment: Experiment) -> str:
    """A digest of every source file that the experiment's measurements can depend on.

    Of its own these are those of the file that `measure` is in: judging and drawing come after, and are free.
    """
    own = Path(str(sys.modules[experiment.measure.__module__].__file__))
    return _digest(_library(LIBRARY), _versions(), *{own, *(STUDIES / name for name in SHARED)})


def _versions() -> str:
    return json.dumps({name: importlib.metadata.version(name) for name in PACKAGES})


@cache
def _library(package: Path) -> str:
    files = package.rglob("*.py")
    return _digest(*(file for file in files if file.relative_to(package).parts[0] not in NOT_MEASURED_WITH))


def _digest(*parts: str | Path) -> str:
    digest = hashlib.sha256()
    for part in sorted(parts, key=str):
        digest.update(part.encode() if isinstance(part, str) else part.read_bytes())
    return digest.hexdigest()


# ---- finished jobs on disk, one small file each


class Store:
    """A folder of finished jobs. A job is known by its settings, the seed and the code that measured it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._code: dict[str, str] = {}

    def path(self, experiment: Experiment, settings: Settings) -> Path:
        """Where the outcome of a job is, or will be."""
        if experiment.name not in self._code:
            self._code[experiment.name] = code_of(experiment)
        known_by = json.dumps([SEED, self._code[experiment.name], settings], sort_keys=True)
        return self._folder / experiment.name / f"{hashlib.sha256(known_by.encode()).hexdigest()[:24]}.json"

    def get(self, experiment: Experiment, settings: Settings) -> Outcome | None:
        """The outcome of a job that is finished. A file that cannot be read counts as none: the job is done again."""
        try:
            kept = json.loads(self.path(experiment, settings).read_text())
            return Outcome(kept["settings"], kept["found"], kept["seconds"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, experiment: Experiment, outcome: Outcome) -> None:
        """Keep an outcome; the file appears once it is complete."""
        path = self.path(experiment, outcome.settings)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"settings": outcome.settings, "found": outcome.found, "seconds": outcome.seconds}
        try:
            content = json.dumps(kept, allow_nan=False).encode()
        except ValueError:
            raise BadFile(f"A job of {experiment.name} found what is no number, with {outcome.settings}.") from None
        written_whole(path, lambda file: file.write(content))


# ---- doing the jobs

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
