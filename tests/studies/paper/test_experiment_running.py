"""Jobs are done once: what was finished is found again, unless the code that measured it has changed."""

import ast
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import made_up_experiment as made_up
import pytest

from sparsedp.errors import SparsedpError
from studies.paper import running
from studies.paper.command import experiments
from studies.paper.experiment import Effort, Experiment, Found, Settings
from studies.paper.running import Job, Store, outcomes_of

SOURCES = {"sparsedp": running.LIBRARY.parent, "studies": running.STUDIES.parent}
# Only types and names of theirs are used where something is measured; the root of the library has them all.
WORDS = {running.STUDIES / "paper" / "experiment.py", running.LIBRARY / "__init__.py"}


def file_of(module: str) -> Path | None:
    place = SOURCES[module.split(".")[0]].joinpath(*module.split("."))
    return next((one for one in (place.with_suffix(".py"), place / "__init__.py") if one.exists()), None)


@cache
def imported(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.split(".")[0] in SOURCES}


@pytest.mark.parametrize("experiment", experiments().values(), ids=lambda experiment: experiment.name)
def test_all_that_measures_is_hashed(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: set[str | Path] = set()

    def noted(*parts: str | Path) -> str:
        hashed.update(parts)
        return ""

    monkeypatch.setattr(running, "_digest", noted)
    running._library.cache_clear()
    running.code_of(experiment)
    running._library.cache_clear()
    seen: set[Path] = set()
    waiting = [experiment.measure.__module__]
    while waiting:
        file = file_of(waiting.pop())
        if file is not None and file not in seen | WORDS:
            seen.add(file)
            waiting += imported(file)
    measured_with = {file for file in seen if running.STUDIES in file.parents and file.name != "__init__.py"}
    assert Path(str(sys.modules[experiment.measure.__module__].__file__)) in measured_with
    assert measured_with - hashed == set()


HERE = Path(__file__).parent
ASKED = made_up.jobs(Effort.SMOKE, {})
STOPPED_RUN = """
import sys
from pathlib import Path
import made_up_experiment as made_up
from studies.paper.running import Store, outcomes_of

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    asked = [{"number": number, "begun": str(folder / "begun")} for number in range(60)]
    try:
        outcomes_of([(made_up.EXPERIMENT, asked)], Store(folder / "jobs"), workers=2)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_outcomes_come_in_the_order_that_was_asked_for(tmp_path: Path, workers: int) -> None:
    told: list[Job] = []
    found = outcomes_of([(made_up.EXPERIMENT, ASKED)], Store(tmp_path), workers=workers, finished=told.append)
    assert [one.found["square"] for one in found["made-up"]] == [0, 1, 4, 9, 16, 25]
    assert sorted(job.settings["number"] for job in told) == list(range(6))


def test_what_is_finished_is_not_done_again_but_is_counted(tmp_path: Path) -> None:
    done: list[int] = []

    def measure(settings: Settings) -> Found:
        done.append(settings["number"])
        return made_up.measure(settings)

    experiment = dataclasses.replace(made_up.EXPERIMENT, measure=measure)
    outcomes_of([(experiment, ASKED[:4])], Store(tmp_path))
    told: list[Job] = []
    found = outcomes_of([(experiment, ASKED)], Store(tmp_path), finished=told.append)
    assert done == [0, 1, 2, 3, 4, 5]
    assert len(told) == len(found["made-up"]) == 6


def test_what_other_code_measured_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes_of([(made_up.EXPERIMENT, ASKED)], Store(tmp_path))
    assert Store(tmp_path).get(made_up.EXPERIMENT, ASKED[0]) is not None
    monkeypatch.setattr(running, "_library", lambda package: "another library")
    assert Store(tmp_path).get(made_up.EXPERIMENT, ASKED[0]) is None


def test_a_damaged_file_is_no_outcome(tmp_path: Path) -> None:
    outcomes_of([(made_up.EXPERIMENT, ASKED)], Store(tmp_path))
    path = Store(tmp_path).path(made_up.EXPERIMENT, ASKED[0])
    for damage in ("", "{", "[]", json.dumps({"settings": {}})):
        path.write_text(damage)
        assert Store(tmp_path).get(made_up.EXPERIMENT, ASKED[0]) is None
    found = outcomes_of([(made_up.EXPERIMENT, ASKED)], Store(tmp_path))
    assert found["made-up"].found("square", number=0) == 0


def test_a_job_that_fails_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    bad: Settings = {"number": "two"}
    with pytest.raises(TypeError):
        outcomes_of([(made_up.EXPERIMENT, [*ASKED, bad])], Store(tmp_path), workers=2)
    assert any(Store(tmp_path).get(made_up.EXPERIMENT, settings) for settings in ASKED)


def test_a_worker_that_is_killed_is_one_sentence(tmp_path: Path) -> None:
    deadly: Settings = {"number": 1, "kill": True}
    with pytest.raises(SparsedpError, match="ended from outside"):
        outcomes_of([(made_up.EXPERIMENT, [*ASKED, deadly])], Store(tmp_path), workers=2)


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_finished_and_leaves_no_process(tmp_path: Path) -> None:
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED_RUN)
    command = [sys.executable, str(script), str(tmp_path)]
    run = subprocess.Popen(command, cwd=HERE, env=_with_made_up(), stderr=subprocess.PIPE, start_new_session=True)
    jobs = tmp_path / "jobs"
    while len(list(jobs.rglob("*.json"))) < 2:
        assert run.poll() is None
        time.sleep(0.02)
    # As the terminal does: to the whole group, so to the workers too.
    os.killpg(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=30)
    assert (run.returncode, said) == (130, b"")
    with pytest.raises(ProcessLookupError):
        _call_group(run.pid)
    kept = len(list(jobs.rglob("*.json")))
    assert 2 <= kept < 60
    begun = len((tmp_path / "begun").read_text().split())
    assert subprocess.run(command, cwd=HERE, env=_with_made_up()).returncode == 0
    assert len((tmp_path / "begun").read_text().split()) == begun + 60 - kept


def _call_group(leader: int) -> None:
    """Raises ProcessLookupError once nobody of the group is left."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        os.killpg(leader, signal.SIGCONT)
        time.sleep(0.05)


def _with_made_up() -> dict[str, str]:
    sources = (str(HERE), *map(str, SOURCES.values()))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
