"""The questions that people ask of a table, by name: its total, its axes, their groups, pairs of axes, a cell.

How far off an answer may be, and still be worth something, depends on how large it is: that is said in three words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes.domain import Domain
from sparsedp.errors import UnknownName
from sparsedp.releases.sums import Sums
from sparsedp.sensing.marginals import in_order_of_first_cells

# What an error means for whoever reads the answer.

GOOD_UP_TO = 0.1
"""Of a typical entry: the error that can be overlooked."""
NOISE_FROM = 0.5
"""From here on two errors are as large as a typical entry, which cannot be told from zero any more."""
GOOD, ROUGH, NOISE = "good", "rough", "noise"


def verdict_on(relative: float) -> str:
    """What an error is worth, given as a part of a typical entry.

    >>> verdict_on(0.02), verdict_on(0.3), verdict_on(0.5)
    ('good', 'rough', 'noise')
    """
    return GOOD if relative <= GOOD_UP_TO else ROUGH if relative < NOISE_FROM else NOISE


# The questions of one domain.

MOST_PAIRS = 15
"""All pairs of six axes."""
MOST_GROUPINGS = 12
"""Rhythms, stretches and declared groups, of all axes together."""


@dataclass(frozen=True)
class Question:
    """A table of sums by some axes or groups of them, named as `release.marginal` names them; without any, the total.

    `entries`: how many sums it has.
    """

    names: tuple[str, ...]
    entries: int
    cell: bool = False
    """Whether it is the cells themselves."""

    @property
    def text(self) -> str:
        """As it is shown: "sex × region"."""
        return "a cell" if self.cell else " × ".join(self.names) or "the total"


@dataclass(frozen=True)
class Catalogue:
    """The questions of a domain, from the total down to the cells, and what was left out, in sentences."""

    questions: tuple[Question, ...]
    left_out: tuple[str, ...] = ()

    @property
    def marginals(self) -> tuple[Question, ...]:
        """All but the total and the cells."""
        return self.questions[1:-1]


def questions_of(domain: Domain) -> Catalogue:
    """The total, every axis with its groups, pairs of axes, and the cells; no table of sums twice."""
    axes = [axis for axis in domain.axes if axis.length > 1]
    left_out = []
    alone = [Question((axis.name,), axis.length) for axis in axes] if len(axes) > 1 else []
    groups = list(_groupings(domain))
    if len(groups) > MOST_GROUPINGS:
        left_out.append(f"{len(groups) - MOST_GROUPINGS} groups of axes are left out.")
        groups = groups[:MOST_GROUPINGS]
    pairs = []
    if len(axes) > 2:
        pairs = [Question((one.name, two.name), one.length * two.length) for one, two in combinations(axes, 2)]
    if len(pairs) > MOST_PAIRS:
        left_out.append(
            f"{len(pairs) - MOST_PAIRS} of the {len(pairs)} pairs of axes are left out: each is about as far off as "
            "a pair shown that has about as many entries."
        )
        by_entries = sorted(range(len(pairs)), key=lambda place: pairs[place].entries)
        shown = {by_entries[round(place)] for place in np.linspace(0, len(pairs) - 1, MOST_PAIRS)}
        pairs = [pair for place, pair in enumerate(pairs) if place in shown]
    cell = Question(domain.names, domain.size, cell=True)
    return Catalogue((Question((), 1), *alone, *groups, *pairs, cell), tuple(left_out))


def _groupings(domain: Domain) -> Iterator[Question]:
    """Of each axis, those that join cells; of two names for the same groups the first."""
    for axis in domain.axes:
        seen = set()
        for coarsening in axis.coarsenings.values():
            groups = in_order_of_first_cells(coarsening.group_of)
            if 1 < coarsening.groups < axis.length and groups not in seen and _is_named(domain, coarsening.axis.name):
                seen.add(groups)
                yield Question((coarsening.axis.name,), coarsening.groups)


def _is_named(domain: Domain, name: str) -> bool:
    """Whether it means a coarsening: an axis of that very name comes first."""
    return name not in domain.names


class Answers:
    """What a table answers to some questions: how far off one entry of each is."""

    def __init__(self, domain: Domain, questions: Iterable[Question]) -> None:
        self._sums = [_sums_of(domain, question) for question in questions]

    def squared_errors(self, off: Floats) -> Floats:
        """The mean squared error of an entry of each, from the errors of the cells; NaN where it cannot be asked."""
        return np.array([np.nan if sums is None else np.mean(sums.of(off) ** 2) for sums in self._sums])


def _sums_of(domain: Domain, question: Question) -> Sums | None:
    """None of groups that a table which stands in for a larger one does not have."""
    try:
        return Sums.named(domain, question.names)[0]
    except UnknownName:
        return None
