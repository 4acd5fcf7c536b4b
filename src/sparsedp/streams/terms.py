"""The terms of a stream, checked before anything is spent: whom it protects, with what budget, on which schedule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypedDict

from sparsedp import validate
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.neighbours import UNITS, Neighbours
from sparsedp.time_axis import TimeAxis


class TermArguments(TypedDict, total=False):
    """What every stream takes, by keyword; all but `epsilon` have a default."""

    epsilon: validate.Number | Budget
    contribution: int
    unit: str
    neighbours: str
    negative: bool
    start: Any
    every: Any
    ledger: Ledger | None
    sampler: str
    source: RandomSource | None


@dataclass(frozen=True)
class StreamTerms:
    """What the caller asked for, checked; the terms of the noise, and what only streams have."""

    noise: Terms
    time: TimeAxis
    negative: bool

    @property
    def epsilon(self) -> Fraction:
        """The nominal ε, exactly."""
        return self.noise.epsilon

    @property
    def neighbours(self) -> Neighbours:
        """Which streams must look alike."""
        return self.noise.neighbours

    def describe(self) -> dict[str, Any]:
        """What is public and must not change while the stream lives; `checked_stream_terms` takes it back."""
        return {
            "epsilon": str(self.epsilon),
            "contribution": self.neighbours.contribution,
            "unit": self.neighbours.unit,
            "neighbours": self.neighbours.relation,
            "negative": self.negative,
            "time": self.time.describe(),
            "sampler": self.noise.sampler.name,
        }


def checked_stream_terms(
    *,
    epsilon: validate.Number | Budget | None = None,
    contribution: int = 1,
    unit: str = "event",
    neighbours: str = "add_remove",
    negative: bool = False,
    start: Any = None,
    every: Any = None,
    ledger: Ledger | None = None,
    sampler: str = "sparsedp",
    source: RandomSource | None = None,
) -> StreamTerms:
    """The terms of a stream, or the first thing that is wrong with them."""
    validate.one_of("unit", unit, UNITS)
    terms = checked_terms(epsilon, contribution, neighbours, ledger, sampler, source)
    whom = Neighbours(contribution, neighbours, unit)
    return StreamTerms(
        Terms(terms.epsilon, whom, terms.sampler, terms.source, terms.ledger),
        start if isinstance(start, TimeAxis) else TimeAxis(start, every),
        validate.yes_or_no("negative", negative),
    )
