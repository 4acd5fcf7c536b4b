"""Ours beside the best of the others, case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sparsedp.arrays import Floats
from sparsedp.experiments.accuracy.cases import Case
from sparsedp.experiments.accuracy.contenders import BYSTANDERS, RIVALS, Configured
from sparsedp.experiments.accuracy.results import Results
from sparsedp.experiments.accuracy.scores import METRIC_OF_MODE, Score, as_published, at_their_best, score


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
