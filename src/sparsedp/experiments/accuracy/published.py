"""Errors of seven published mechanisms on two of the paper's files.

They were measured with public implementations, ε = 0.1, cells clipped at 0, ranges: the better of clipped and
unclipped; on counts drawn as `numpy.random.default_rng(3).multinomial(total, p)` from the file block-summed to 4,096
cells, as `experiments.inputs` draws them. Neither their runs nor their scatter are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparsedp.experiments.accuracy.cases import EPSILON, Case
from sparsedp.experiments.accuracy.comparison import Best
from sparsedp.experiments.accuracy.contenders import Configured
from sparsedp.experiments.accuracy.results import Results
from sparsedp.experiments.accuracy.scores import METRIC_OF_MODE, Score, as_published, exactly, score

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
