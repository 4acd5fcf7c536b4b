"""An experiment: a list of independent jobs, a function that does one, and what is made of their outcomes.

Beside it, what it is made of: efforts, outcomes, claims of the paper with their judgements, tables and pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from sparsedp.errors import BadFile

# ---- how much work it is given

T = TypeVar("T")


class Effort(Enum):
    """SMOKE: seconds, so that the suite can run every experiment. QUICK: minutes. FULL: what the documents show."""

    SMOKE = "smoke"
    QUICK = "quick"
    FULL = "full"

    def pick(self, *, smoke: T, quick: T, full: T) -> T:
        """The value that belongs to this effort."""
        return {Effort.SMOKE: smoke, Effort.QUICK: quick, Effort.FULL: full}[self]


# ---- what its jobs found

Settings = dict[str, Any]
"""All that a job's result depends on, as JSON has it: names, numbers, lists of them."""

Found = dict[str, Any]
"""What a job measured, as JSON has it."""


@dataclass(frozen=True)
class Outcome:
    """One finished job: what it was asked, what it found, and how many seconds it took."""

    settings: Settings
    found: Found
    seconds: float


class Outcomes:
    """The finished jobs of one experiment, in the order in which it listed them."""

    def __init__(self, finished: Iterable[Outcome]) -> None:
        self._finished = tuple(finished)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._finished)

    def __len__(self) -> int:
        return len(self._finished)

    def where(self, **settings: Any) -> Outcomes:
        """Those whose settings have all of these values."""
        return Outcomes(
            outcome
            for outcome in self
            if all(name in outcome.settings and outcome.settings[name] == value for name, value in settings.items())
        )

    def values(self, setting: str) -> list[Any]:
        """Every value that a setting takes, once each, in order of appearance."""
        return list(dict.fromkeys(outcome.settings[setting] for outcome in self if setting in outcome.settings))

    def only(self, **settings: Any) -> Outcome:
        """The one outcome with these settings."""
        found = list(self.where(**settings))
        if len(found) != 1:
            raise BadFile(f"These results hold {len(found)} outcomes for {settings}; there should be one.")
        return found[0]

    def found(self, key: str, **settings: Any) -> Any:
        """One entry of what the one outcome with these settings found."""
        return self.only(**settings).found[key]


# ---- a sentence of the paper that claims a result, and what came of it here


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


# ---- all of it

Origins = Mapping[str, str]
"""Where each data set comes from on this machine: "file", "stand-in" or "package"."""


@dataclass(frozen=True)
class Picture:
    """A drawn figure: its file, and what a reader is to see in it."""

    path: Path
    caption: str


@dataclass(frozen=True)
class Numbers:
    """A table of results."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Experiment:
    """`measure` must be a module's own function: other processes find it by name. It takes all it needs from the
    settings, its randomness too (`seeds`), so that a job gives the same numbers wherever and whenever it is run.
    """

    name: str
    """Of its files, and on the command line: "choosing-sparsity"."""
    title: str
    about: str
    """What was done and with which constants, in a few sentences of Markdown."""
    jobs: Callable[[Effort, Origins], list[Settings]]
    measure: Callable[[Settings], Found]
    draw: Callable[[Outcomes, Path], list[Picture]]
    """Draw everything into a folder, from the outcomes alone."""
    tabulate: Callable[[Outcomes], list[Numbers]]
    claims: Sequence[Claim] = ()
    expect: Callable[[Outcomes], list[Expectation]] = lambda outcomes: []
    """What must come out on the paper's own files; nothing where the outcomes are of stand-ins."""
