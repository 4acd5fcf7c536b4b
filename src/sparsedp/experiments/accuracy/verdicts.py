"""Whether the comparisons meet the targets, and whether the runs are enough to say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from sparsedp.experiments.accuracy.comparison import Comparison
from sparsedp.experiments.accuracy.published import PublishedComparison
from sparsedp.experiments.accuracy.scores import Score, geometric_mean

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
