"""The results of one experiment as a file: all outcomes, and what is needed to make them again."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsedp.errors import BadFile
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.outcomes import Outcome, Outcomes
from sparsedp.experiments.paper.seeds import SEED
from sparsedp.version import __version__
from sparsedp.whole_file import written_whole

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
