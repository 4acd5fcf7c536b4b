"""Mean errors and their ratios, each with the interval that the scatter of the runs allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from sparsedp.arrays import Floats
from sparsedp.experiments.accuracy.measuring import CELLS, CLIPPED_CELLS, CLIPPED_RANGES, RANGES

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
