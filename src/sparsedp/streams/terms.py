"""The terms of a stream, checked before anything is spent: whom it protects, with what budget, on which schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict, cast

from sparsedp import validate
from sparsedp.axes.time_axis import TimeAxis
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.terms import Terms, checked_pure_terms
from sparsedp.moments import Moment, Step
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.neighbours import UNITS


class TermArguments(TypedDict, total=False):
    """What every stream takes, by keyword; all but `epsilon` have a default."""

    epsilon: validate.Number | Budget
    contribution: int
    unit: str
    neighbours: str
    negative: bool
    start: Moment | None
    every: Step | None
    ledger: Ledger | None
    sampler: str
    source: RandomSource | None


DEFAULTS: TermArguments = {
    "contribution": 1,
    "unit": "event",
    "neighbours": "add_remove",
    "negative": False,
    "start": None,
    "every": None,
    "ledger": None,
    "sampler": "sparsedp",
    "source": None,
}


@dataclass(frozen=True)
class StreamTerms(Terms):
    """What the caller asked for, checked: the terms of every mechanism, and what only streams have."""

    time: TimeAxis
    negative: bool

    def describe(self) -> dict[str, Any]:
        """What is public and must not change while the stream lives; `checked_stream_terms` takes it back."""
        return {
            "epsilon": str(self.epsilon),
            "contribution": self.neighbours.contribution,
            "unit": self.neighbours.unit,
            "neighbours": self.neighbours.relation,
            "negative": self.negative,
            **self.time.describe(),
            "sampler": self.sampler.name,
        }


def checked_stream_terms(given: TermArguments) -> StreamTerms:
    """The terms of a stream, or the first thing that is wrong with them."""
    unknown = sorted(set(given) - set(TermArguments.__annotations__))
    if unknown:
        names = ", ".join(TermArguments.__annotations__)
        raise InvalidInput(unknown[0], "not an argument of this stream", f"every stream takes {names}")
    if "epsilon" not in given:
        raise InvalidInput("epsilon", "missing", "give the budget of the whole stream, such as epsilon='0.5'")
    asked = cast(TermArguments, {**DEFAULTS, **given})
    validate.one_of("unit", asked["unit"], UNITS)
    terms = checked_pure_terms(
        asked["epsilon"],
        asked["contribution"],
        asked["neighbours"],
        asked["ledger"],
        asked["sampler"],
        asked["source"],
        asked["unit"],
    )
    time = TimeAxis(asked["start"], asked["every"])
    return StreamTerms(**vars(terms), time=time, negative=validate.yes_or_no("negative", asked["negative"]))
