"""Ours beside the best of the others, case by case, and whether that meets the targets.

Mean errors and their ratios have the interval that the scatter of the runs allows; what was measured is kept in a file,
so that comparing again needs no new runs.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.special import stdtrit

from sparsedp.arrays import Floats
from sparsedp.errors import BadFile
from sparsedp.version import __version__
from studies.accuracy.measuring import (
    BYSTANDERS,
    CELLS,
    CLIPPED_CELLS,
    CLIPPED_RANGES,
    EPSILON,
    RANGES,
    RIVALS,
    Case,
    Configured,
    Measured,
)

# ---- mean errors and their ratios

METRICS = {"cells": (CELLS,), "ranges": (RANGES,), "product": (CELLS, RANGES)}
"""Which of the two errors a metric multiplies."""

METRIC_OF_MODE = {"any": "product", "cells": "cells", "ranges": "ranges"}
LEVEL = 0.95

_CERTAIN = 10**9  # degrees of freedom of what has no scatter


@dataclass(frozen=True)
class Score:
    """A positive number known up to a factor: its logarithm, the variance of that, and the degrees of freedom.

    Errors are compared by ratios, and ratios of means are nearest to normal in the logarithm.
    """

    log: float
    variance: float
    freedom: int

    @property
    def value(self) -> float:
        """The number itself."""
        return math.exp(self.log)

    @property
    def factor(self) -> float:
        """The 95 % interval is value / factor to value · factor."""
        return math.exp(float(stdtrit(self.freedom, (1 + LEVEL) / 2)) * math.sqrt(self.variance))

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return self.value / self.factor

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return self.value * self.factor

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval."""
        return (self.high - self.low) / 2

    def over(self, other: Score) -> Score:
        """The ratio of two scores whose runs are independent."""
        return Score(self.log - other.log, self.variance + other.variance, min(self.freedom, other.freedom))


def score(errors: Floats, metric: str) -> Score:
    """The mean error by one metric, of two columns (cells, ranges) with a row for each run.

    The product is that of the two means, whose correlation within a run is counted.
    """
    columns = errors[:, list(METRICS[metric])]
    runs = len(columns)
    means = columns.mean(axis=0)
    relative = (columns - means) / means
    covariance = relative.T @ relative / (runs - 1)
    return Score(float(np.log(means).sum()), float(covariance.sum()) / runs, runs - 1)


def exactly(value: float) -> Score:
    """A number without scatter, such as a published one."""
    return Score(math.log(value), 0.0, _CERTAIN)


def geometric_mean(scores: Sequence[Score]) -> Score:
    """The geometric mean of scores whose runs are independent."""
    count = len(scores)
    log = sum(each.log for each in scores) / count
    return Score(log, sum(each.variance for each in scores) / count**2, sum(each.freedom for each in scores))


def as_published(errors: Floats) -> Floats:
    """The errors of cells and ranges with nothing done to the release: how ours are judged."""
    return errors[:, [CELLS, RANGES]]


def at_their_best(errors: Floats) -> Floats:
    """How the others are judged: cells clipped at 0; ranges the better of clipped and unclipped, in hindsight."""
    means = errors.mean(axis=0)
    ranges = CLIPPED_RANGES if means[CLIPPED_RANGES] < means[RANGES] else RANGES
    return errors[:, [CLIPPED_CELLS, ranges]]


# ---- what was measured, in a file


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


# ---- ours beside the best of the others


@dataclass(frozen=True)
class Best:
    """Who has the least error of several, and that error."""

    name: str
    score: Score


@dataclass(frozen=True)
class Comparison:
    """Our error in one mode and case; the best other mechanism in that case; the better of zeros and uniform."""

    mode: str
    case: Case
    ours: Score
    rival: Best
    bystander: Best

    @property
    def ratio(self) -> Score:
        """To the best other mechanism."""
        return self.ours.over(self.rival.score)

    @property
    def bystander_ratio(self) -> Score:
        """To the better of publishing zeros and publishing the noisy total alone."""
        return self.ours.over(self.bystander.score)


def compare(
    results: Results, ours: Mapping[str, Configured], rivals: Iterable[Configured] = RIVALS
) -> list[Comparison]:
    """Every mode in every case where it was measured beside others.

    The others' error is that of the best one in hindsight, by the mode's own metric, each judged at its best; the
    least of several noisy means is a little too small, which is to their advantage.
    """
    rival_names = [rival.name for rival in RIVALS]
    bystanders = [bystander.name for bystander in BYSTANDERS]
    comparisons = []
    for mode, contender in ours.items():
        metric = METRIC_OF_MODE[mode]
        for case in results.cases:
            others = [name for name in rival_names if results.runs(case, name) and name != contender.name]
            if not results.runs(case, contender.name) or not others:
                continue
            mine = score(as_published(results.errors(case, contender.name)), metric)
            rival = _best(results, case, others, metric, at_their_best)
            bystander = _best(results, case, bystanders, metric, as_published)
            comparisons.append(Comparison(mode, case, mine, rival, bystander))
    return comparisons


def _best(results: Results, case: Case, names: Iterable[str], metric: str, judged: Callable[[Floats], Floats]) -> Best:
    known = [Best(name, score(judged(results.errors(case, name)), metric)) for name in names]
    return min(known, key=lambda best: best.score.log)


# ---- errors of seven published mechanisms on two of the paper's files
# They were measured with public implementations, ε = 0.1, cells clipped at 0, ranges: the better of clipped and
# unclipped; on counts drawn as `numpy.random.default_rng(3).multinomial(total, p)` from the file block-summed to 4,096
# cells, as `studies.inputs` draws them. Neither their runs nor their scatter are known.

NAMES = ("Laplace", "DAWA", "P-HP", "AHP", "HB", "Privelet", "DPCube")
FIGURES: dict[tuple[str, int, str], tuple[int, ...]] = {
    ("nettrace", 10**3, "cells"): (640, 56, 182, 141, 2478, 4804, 261),
    ("nettrace", 10**3, "ranges"): (546, 34, 108, 276, 198, 251, 177),
    ("nettrace", 10**4, "cells"): (644, 142, 995, 362, 2490, 4818, 2533),
    ("nettrace", 10**4, "ranges"): (546, 24, 85, 806, 198, 251, 254),
    ("nettrace", 10**5, "cells"): (649, 231, 730, 452, 2507, 4859, 25371),
    ("nettrace", 10**5, "ranges"): (546, 32, 139, 638, 198, 251, 1802),
    ("nettrace", 10**6, "cells"): (649, 292, 1999, 602, 2516, 4889, 253992),
    ("nettrace", 10**6, "ranges"): (546, 55, 244, 63, 198, 251, 17929),
    ("search_logs", 10**3, "cells"): (639, 47, 42, 52, 2477, 4803, 84),
    ("search_logs", 10**3, "ranges"): (546, 59, 73, 290, 198, 251, 174),
    ("search_logs", 10**4, "cells"): (656, 174, 292, 344, 2486, 4810, 219),
    ("search_logs", 10**4, "ranges"): (546, 118, 313, 2656, 198, 251, 178),
    ("search_logs", 10**5, "cells"): (732, 512, 1629, 815, 2648, 4980, 1665),
    ("search_logs", 10**5, "ranges"): (546, 276, 614, 4755, 198, 251, 212),
    ("search_logs", 10**6, "cells"): (782, 1056, 10139, 956, 2935, 5511, 16803),
    ("search_logs", 10**6, "ranges"): (546, 462, 1494, 2085, 198, 251, 973),
}
"""By input, total and metric, in the order of `NAMES`."""


@dataclass(frozen=True)
class PublishedComparison:
    """Our error in one mode beside the best of the seven in that case."""

    mode: str
    case: Case
    ours: Score
    best: Best

    @property
    def ratio(self) -> Score:
        """Ours over theirs. The interval is that of our runs alone."""
        return self.ours.over(self.best.score)


def best_published(case: Case, metric: str) -> Best | None:
    """The best of the seven at one metric, the product being that of a single mechanism; None where none is known."""
    if case.epsilon != EPSILON:
        return None
    known = [FIGURES.get((case.input, case.total, each)) for each in ("cells", "ranges")]
    if known[0] is None or known[1] is None:
        return None
    figures = {
        "cells": known[0],
        "ranges": known[1],
        "product": tuple(cells * ranges for cells, ranges in zip(*known, strict=True)),
    }[metric]
    least = min(figures)
    return Best(NAMES[figures.index(least)], exactly(least))


def compare_with_published(results: Results, ours: Mapping[str, Configured]) -> list[PublishedComparison]:
    """Every mode in every case that has published figures."""
    comparisons = []
    for mode, contender in ours.items():
        for case in results.cases:
            best = best_published(case, METRIC_OF_MODE[mode])
            if best is not None and results.runs(case, contender.name):
                mine = score(as_published(results.errors(case, contender.name)), METRIC_OF_MODE[mode])
                comparisons.append(PublishedComparison(mode, case, mine, best))
    return comparisons


# ---- whether the targets are met, and whether the runs are enough to say so

MEAN_TARGET = 0.9
WORST_TARGET = 1.1
BYSTANDER_TARGET = 1.3
PUBLISHED_TARGET = 1.0

C = TypeVar("C")


@dataclass(frozen=True)
class Verdict:
    """One claim about one mode, what was measured, and what was wanted at most."""

    mode: str
    claim: str
    measured: Score
    target: float

    @property
    def met(self) -> bool:
        """Whether the measured value is within the target."""
        return self.measured.value <= self.target

    @property
    def separated(self) -> bool:
        """Whether the whole interval lies on one side of the target."""
        return not self.measured.low <= self.target < self.measured.high

    def __str__(self) -> str:
        outcome = ("met" if self.met else "MISSED") + ("" if self.separated else ", not separated by these runs")
        interval = f"{self.measured.value:.3f} [{self.measured.low:.3f}, {self.measured.high:.3f}]"
        return f"{self.mode}: {self.claim}: {interval}, target {self.target:g}: {outcome}"


def verdicts(comparisons: Sequence[Comparison]) -> list[Verdict]:
    """For each mode: the mean ratio, the worst input, every case above a limit (or the worst), zeros and uniform."""
    found = []
    for mode in modes_of(comparisons):
        of_mode = [comparison for comparison in comparisons if comparison.mode == mode]
        mean = geometric_mean([comparison.ratio for comparison in of_mode])
        claim = f"geometric mean of the ratios to the best other mechanism, {len(of_mode)} cases"
        found.append(Verdict(mode, claim, mean, MEAN_TARGET))
        inputs = mean_ratios(of_mode)
        worst = max(inputs, key=lambda name: inputs[name].log)
        found.append(Verdict(mode, f"the worst input over its cases, {worst}", inputs[worst], WORST_TARGET))
        found += [
            Verdict(mode, f"{each.case} beside {each.rival.name}", each.ratio, WORST_TARGET)
            for each in _above([(each.ratio, each) for each in of_mode], WORST_TARGET)
        ]
        found += [
            Verdict(mode, f"{each.case} beside {each.bystander.name}", each.bystander_ratio, BYSTANDER_TARGET)
            for each in _above([(each.bystander_ratio, each) for each in of_mode], BYSTANDER_TARGET)
        ]
    return found


def published_verdicts(comparisons: Sequence[PublishedComparison]) -> list[Verdict]:
    """For each mode: the mean ratio to the best of the seven, and every case above it, or the worst."""
    found = []
    for mode in modes_of(comparisons):
        of_mode = [comparison for comparison in comparisons if comparison.mode == mode]
        mean = geometric_mean([comparison.ratio for comparison in of_mode])
        claim = f"geometric mean of the ratios to the best published figure, {len(of_mode)} cases"
        found.append(Verdict(mode, claim, mean, PUBLISHED_TARGET))
        found += [
            Verdict(mode, f"{each.case} beside the published {each.best.name}", each.ratio, PUBLISHED_TARGET)
            for each in _above([(each.ratio, each) for each in of_mode], PUBLISHED_TARGET)
        ]
    return found


def modes_of(comparisons: Sequence[Comparison] | Sequence[PublishedComparison]) -> list[str]:
    """The modes that were compared, in order."""
    return list(dict.fromkeys(comparison.mode for comparison in comparisons))


def mean_ratios(comparisons: Sequence[Comparison]) -> dict[str, Score]:
    """The geometric mean of the ratios of each input's cases."""
    inputs: dict[str, list[Score]] = {}
    for comparison in comparisons:
        inputs.setdefault(comparison.case.input, []).append(comparison.ratio)
    return {name: geometric_mean(ratios) for name, ratios in inputs.items()}


def _above(ratios: list[tuple[Score, C]], limit: float) -> list[C]:
    """The cases above the limit, worst first; the worst one alone if none is."""
    ordered = sorted(ratios, key=lambda pair: pair[0].log, reverse=True)
    above = [comparison for ratio, comparison in ordered if ratio.value > limit]
    return above or [ordered[0][1]]
