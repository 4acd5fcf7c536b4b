"""An experiment: a list of independent jobs, a function that does one, and what is made of their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparsedp.experiments.paper.claim import Claim, Expectation
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.outcomes import Found, Outcomes, Settings

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
