"""Which code a result was made by: a result of other code is not taken for one of this."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from functools import cache
from pathlib import Path

from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.results import PACKAGES

PACKAGE = Path(__file__).parents[2]
# What no measurement runs through: how data come in and how results are shown.
NOT_MEASURED_WITH = ("cli", "reports", "ingest", "publishing", "previews", "experiments")
SHARED = (
    "metrics.py",
    "paper/data.py",
    "paper/stand_ins.py",
    "paper/seeds.py",
    "paper/continual/observing.py",
)
ONLY_SHOWN = ("definition.py", "pictures.py", "tables.py", "claims.py", "reading.py", "laws.py")
"""The files of an experiment that come after its measurements: redrawing is free."""


def code_of(experiment: Experiment) -> str:
    """A digest of every source file that the experiment's measurements can depend on."""
    own = Path(str(sys.modules[experiment.measure.__module__].__file__)).parent
    files = [
        *(PACKAGE / "experiments" / name for name in SHARED),
        *(file for file in own.glob("*.py") if file.name not in ONLY_SHOWN),
    ]
    return _digest(_library(PACKAGE), _versions(), *files)


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
