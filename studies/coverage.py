"""How often the intervals of a release hold the truth, question by question. For the owner of the counts only.

The counts are drawn anew for every release. All questions of a release are asked of the same one: what they answer is
not independent, so figures over many releases know their error by the scatter between releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt
from typing import Any, Protocol

import numpy as np
from scipy.stats import t as students

from sparsedp.arrays import Floats, Ints
from sparsedp.axes.domain import Domain
from sparsedp.estimation.bounds import Bounds
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget
from sparsedp.releases.release import Release
from sparsedp.releases.uncertainty import GUARANTEED, KINDS, LIKELY, Interval, Uncertainty, bounds_of, expected_ends
from sparsedp.streams import ContinualAdaptive
from sparsedp.synopsis import Synopsis
from studies.exact_noise import ExactIntervals
from studies.questions import Question, questions_of

LEVEL = 0.95

BESIDE_EXACT = 256
"""Tables of up to so many cells are compared with the exact intervals of an oracle, which takes all of Φ at once."""

FEW = 3
"""Of fewer releases the scatter is not known: all that each was asked counts as one question."""

NEAR = 1e-6
"""Rounding may put an end so far beyond the truth, in parts of it and of one record."""


class Measures(Protocol):
    """A mechanism whose releases have intervals."""

    def measure(
        self, counts: Ints, *, epsilon: Budget, domain: Domain | None = None, source: RandomSource | None = None
    ) -> Synopsis:
        """The noisy measurement, to be recovered."""


@dataclass(frozen=True)
class Streamed:
    """The counts of a row as a stream, one after the other. `totals`: the share of running totals."""

    totals: str | None = None

    def measure(
        self, counts: Ints, *, epsilon: Budget, domain: Domain | None = None, source: RandomSource | None = None
    ) -> Synopsis:
        """What the stream has published when all ticks are over."""
        counter: dict[str, Any] = {} if self.totals is None else {"totals": self.totals, "horizon": counts.size}
        stream = ContinualAdaptive(epsilon=epsilon, source=source, **counter)
        stream.observe_many(counts.reshape(-1))
        return stream.synopsis()


@dataclass(frozen=True)
class Answered:
    """What one release answered to the questions of one family: how many there were, and for each kind of interval the
    share that held and the mean width.

    `wider`: how many likely intervals were wider than the guaranteed one. `over_exact`: the mean width of the
    guaranteed intervals over that of the oracle's; nan where it was not asked.
    """

    family: str
    questions: int
    held: dict[str, float]
    width: dict[str, float]
    wider: int = 0
    over_exact: float = nan

    def over_guaranteed(self, kind: str) -> float:
        """The mean width of a kind over that of the guaranteed intervals; nan where those have none."""
        width = self.width.get(GUARANTEED, 0.0)
        return self.width[kind] / width if width > 0 and isfinite(width) else nan


def answered(
    mechanism: Measures,
    counts: Ints,
    budget: Budget,
    random: np.random.Generator,
    *,
    domain: Domain | None = None,
    kinds: Iterable[str] = tuple(KINDS),
    scale: float = 1.0,
    source: RandomSource | None = None,
) -> list[Answered]:
    """Publish the counts once, ask all questions, and compare the intervals with the truth.

    `scale` multiplies the widths: a check of the check. `source`: of the noise, for tests that repeat.
    """
    synopsis = mechanism.measure(counts, epsilon=budget, domain=domain, source=source)
    release = synopsis.recover()
    release = replace(release, uncertainty=_AskedOnce(release.known_errors))
    exact = ExactIntervals.of(synopsis) if counts.size <= BESIDE_EXACT and GUARANTEED in kinds else None
    table = counts.reshape(release.shape)
    asked = questions_of(table, release.values, deviation_of(budget), domain, random)
    found: dict[str, list[_Reply]] = {}
    for question in asked:
        found.setdefault(question.family, []).append(_reply(release, table, question, tuple(kinds), scale, exact))
    return [_together(family, replies) for family, replies in found.items()]


def deviation_of(budget: Budget) -> float:
    """Of the noise on a cell, if the whole budget went to single cells."""
    if budget.epsilon is not None:
        return sqrt(2) / float(budget.epsilon)
    return sqrt(1 / (2 * float(budget.rho or 0)))


@dataclass(frozen=True)
class _Reply:
    """To one question: the interval of each kind, the truth, and the oracle's width."""

    intervals: dict[str, tuple[float, float]]
    truth: float
    exact_width: float | None

    def width(self, kind: str) -> float:
        """Of what is possible: a published estimate below zero is in its own interval, and no count is."""
        low, high = self.intervals[kind]
        return max(high, 0.0) - max(low, 0.0)

    def holds(self, kind: str) -> bool:
        low, high = self.intervals[kind]
        near = NEAR * (1 + abs(self.truth))
        return low - near <= self.truth <= high + near

    @property
    def wider(self) -> bool:
        if not {LIKELY, GUARANTEED} <= set(self.intervals):
            return False
        return self.width(LIKELY) > self.width(GUARANTEED) * (1 + NEAR) + NEAR


def _reply(
    release: Release,
    table: Ints,
    question: Question,
    kinds: tuple[str, ...],
    scale: float,
    exact: ExactIntervals | None,
) -> _Reply:
    weights = question.weights(table.shape)
    intervals = {kind: _scaled(release.interval(weights, LEVEL, kind), scale) for kind in kinds}
    width = None if exact is None else exact.width(weights, LEVEL)
    return _Reply(intervals, float((weights * table).sum()), width)


def _scaled(found: Interval, scale: float) -> tuple[float, float]:
    return found.estimate - scale * (found.estimate - found.low), found.estimate + scale * (found.high - found.estimate)


def _together(family: str, replies: list[_Reply]) -> Answered:
    kinds = list(replies[0].intervals)
    held = {kind: float(np.mean([reply.holds(kind) for reply in replies])) for kind in kinds}
    width = {kind: float(np.mean([reply.width(kind) for reply in replies])) for kind in kinds}
    beside = [(reply.width(GUARANTEED), reply.exact_width) for reply in replies if reply.exact_width is not None]
    ours, best = (sum(widths) for widths in zip(*beside, strict=True)) if beside else (0.0, 0.0)
    wider = sum(reply.wider for reply in replies)
    return Answered(family, len(replies), held, width, wider, ours / best if best else nan)


class _AskedOnce:
    """The errors of a release, which say of one question all kinds of interval, and work it out once."""

    def __init__(self, errors: Uncertainty) -> None:
        self._errors, self._weights = errors, np.zeros(0)
        self._said: dict[object, Any] = {}

    def variance(self, weights: Floats) -> float:
        """As the release says."""
        return self._errors.variance(weights)

    def stderr(self) -> Floats:
        """As the release says."""
        return self._errors.stderr()

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """What the release expects."""
        ends: tuple[float, float] = self._once(
            weights, level, lambda: expected_ends(self._errors, weights, estimate, level)
        )
        return ends

    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """What the noise alone says."""
        found: Bounds | None = self._once(weights, GUARANTEED, lambda: bounds_of(self._errors, weights, estimate))
        return found

    def _once(self, weights: Floats, what: object, work: Callable[[], Any]) -> Any:
        if not np.array_equal(weights, self._weights):
            self._weights, self._said = weights, {}
        if what not in self._said:
            self._said[what] = work()
        return self._said[what]


# Figures over many releases.


@dataclass(frozen=True)
class Figure:
    """A share of questions, how many stand behind it and in how many releases, and its standard error."""

    share: float
    error: float
    questions: int
    releases: int

    @classmethod
    def of(cls, parts: Iterable[tuple[float, int]]) -> Figure:
        """Of shares of so many questions, one part a release: its questions share their noise, so releases scatter."""
        shares, counts = (np.array(column, np.float64) for column in zip(*parts, strict=True))
        share, total, many = float(shares @ counts / counts.sum()), float(counts.sum()), len(counts)
        off = counts * (shares - share)
        scatter = sqrt(float(off @ off) * many / max(many - 1, 1)) / total
        # A handful of releases may scatter less than even independent questions do; one or two say nothing of it.
        least = sqrt(LEVEL * (1 - LEVEL) / (total if many >= FEW else many))
        return cls(share, max(scatter, least), int(total), many)

    @property
    def surely(self) -> float:
        """What it is not above, by two errors: in this order few questions do not look worse than many."""
        return self.share + 2 * self.error

    def misses(self, target: float, figures: int) -> bool:
        """Whether it is below a target by more than its error explains, at five in a hundred for all `figures` that are
        judged together: Student's law, Bonferroni's share of the chance.
        """
        reach = float(students.ppf(1 - 0.05 / figures, max(self.releases - 1, 1)))
        return self.share + reach * self.error < target
