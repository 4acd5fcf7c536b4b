"""Whatever a measurement imports is part of what its results are known by."""

import ast
import sys
from pathlib import Path

import pytest

from sparsedp.experiments.paper import fingerprint
from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.registry import experiments

SOURCE = fingerprint.PACKAGE.parent
ROOT = fingerprint.PACKAGE / "__init__.py"
EXPERIMENTS = fingerprint.PACKAGE / "experiments"
# Only types and names of theirs are used where something is measured.
WORDS = {EXPERIMENTS / "paper" / f"{name}.py" for name in ("claim", "effort", "experiment", "outcomes")}


def file_of(module: str) -> Path | None:
    place = SOURCE.joinpath(*module.split("."))
    return next((one for one in (place.with_suffix(".py"), place / "__init__.py") if one.exists()), None)


def imported(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.startswith("sparsedp")}


@pytest.mark.parametrize("experiment", experiments().values(), ids=lambda experiment: experiment.name)
def test_all_that_measures_is_hashed(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: set[str | Path] = set()

    def noted(*parts: str | Path) -> str:
        hashed.update(parts)
        return ""

    monkeypatch.setattr(fingerprint, "_digest", noted)
    fingerprint._library.cache_clear()
    fingerprint.code_of(experiment)
    fingerprint._library.cache_clear()
    seen: set[Path] = set()
    waiting = [experiment.measure.__module__]
    while waiting:
        file = file_of(waiting.pop())
        if file is not None and file not in seen | WORDS | {ROOT}:
            seen.add(file)
            waiting += imported(file)
    measured_with = {file for file in seen if EXPERIMENTS in file.parents and file.name != "__init__.py"}
    assert Path(str(sys.modules[experiment.measure.__module__].__file__)) in measured_with
    assert measured_with - hashed == set()
