"""What was measured, kept in a file: comparing again needs no new runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import BadFile
from sparsedp.experiments.accuracy.cases import Case
from sparsedp.experiments.accuracy.measuring import Measured
from sparsedp.experiments.accuracy.scores import as_published, at_their_best, score
from sparsedp.version import __version__


class Results:
    """The errors of every run, by case and contender."""

    def __init__(self, measured: Iterable[Measured] = ()) -> None:
        self._errors: dict[Case, dict[str, Floats]] = {}
        for one in measured:
            self.add(one)

    def add(self, measured: Measured) -> None:
        """Keep what a task found, in place of what was known about it."""
        self._errors.setdefault(measured.case, {})[measured.contender] = measured.errors

    @property
    def cases(self) -> list[Case]:
        """The cases that anything is known about."""
        return list(self._errors)

    def runs(self, case: Case, contender: str) -> int:
        """How many runs are known."""
        return len(self._errors.get(case, {}).get(contender, ()))

    def errors(self, case: Case, contender: str) -> Floats:
        """The errors of every run, four columns; see `measuring`."""
        return self._errors[case][contender]

    def contenders(self, case: Case) -> list[str]:
        """Who was measured in a case."""
        return list(self._errors.get(case, {}))

    def only(self, cases: Iterable[Case]) -> Results:
        """What is known about some of the cases, in their order."""
        chosen = Results()
        chosen._errors = {case: self._errors[case] for case in cases if case in self._errors}
        return chosen

    def save(self, path: Path) -> Path:
        """Write every run as JSON."""
        rows = [
            {**asdict(case), "contender": name, "errors": errors.tolist()}
            for case, known in self._errors.items()
            for name, errors in known.items()
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside it first: a full run takes long, and stopping it must not leave half a file.
        half = path.with_suffix(path.suffix + ".part")
        half.write_text(json.dumps({"sparsedp": __version__, "errors": rows}))
        half.replace(path)
        return path

    @classmethod
    def read(cls, path: Path) -> Results:
        """What `save` wrote."""
        try:
            return cls(_measured(row) for row in json.loads(path.read_text())["errors"])
        except (ValueError, KeyError, TypeError):
            raise BadFile(f"{path} is not a file of accuracy results; remove it and measure again.") from None

    def save_summary(self, path: Path, ours: Iterable[str]) -> Path:
        """Write the mean errors as CSV: `ours` as published, all others at their best."""
        ours = set(ours)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["input", "total", "epsilon", "mechanism", "runs", *_HEADINGS])
            for case, known in self._errors.items():
                for name, errors in known.items():
                    judged = as_published(errors) if name in ours else at_their_best(errors)
                    scores = [score(judged, metric) for metric in ("cells", "ranges")]
                    figures = [f"{end:.6g}" for one in scores for end in (one.value, one.low, one.high)]
                    writer.writerow([case.input, case.total, case.epsilon, name, len(errors), *figures])
        return path


_HEADINGS = [f"{metric}{end}" for metric in ("cells", "ranges") for end in ("", "_low", "_high")]


def _measured(row: dict[str, Any]) -> Measured:
    case = Case(row["input"], row["total"], row["epsilon"])
    return Measured(case, row["contender"], np.array(row["errors"], dtype=np.float64))
