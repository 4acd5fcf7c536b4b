"""A sentence of the paper that claims a result, and what came of it here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from sparsedp.experiments.paper.outcomes import Outcomes


class Verdict(Enum):
    """How a claim came out."""

    HOLDS = "holds"
    HOLDS_ONLY = "holds only"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "not decided by these runs"


@dataclass(frozen=True)
class Judgement:
    """A verdict and the measurement it rests on, in one or two sentences with their numbers.

    `only`: the end of "holds only …" (such as "with the noise of kε").
    """

    verdict: Verdict
    measured: str
    only: str = ""

    @property
    def in_words(self) -> str:
        """The verdict as the page has it."""
        return f"{self.verdict.value} {self.only}".strip()


@dataclass(frozen=True)
class Claim:
    """`sentence` is the paper's, word for word but for its typesetting; `where` says where it stands."""

    where: str
    sentence: str
    judge: Callable[[Outcomes], Judgement]


@dataclass(frozen=True)
class Expectation:
    """Something that must come out on the paper's own files, and whether it did."""

    what: str
    measured: str
    met: bool
