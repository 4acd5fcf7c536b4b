"""Finished jobs on disk, one small file each: whatever stops a run, what was finished is not measured again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from sparsedp.errors import BadFile
from sparsedp.experiments.paper.experiment import Experiment
from sparsedp.experiments.paper.fingerprint import code_of
from sparsedp.experiments.paper.outcomes import Outcome, Settings
from sparsedp.experiments.paper.seeds import SEED
from sparsedp.whole_file import written_whole


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
