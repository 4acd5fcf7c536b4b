"""What people ask of a release: sums in families, by what they are about. For the owner of the counts only.

Families are told apart because intervals fail in them in different ways: what is smoothed away is missing in the
largest cells and in weekdays, and hardly in a total. Of a family with many members a few are asked, drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.axes.calendar import Calendar
from sparsedp.axes.domain import Domain
from studies.tables import MARGINS, margins

ASKED = 6
"""Questions of a family, where it has more members."""

LARGEST = 10
"""Cells that are called the largest."""

NAMED = "the ten cells that top() names"
"""These are chosen by the noise that their intervals are about. No interval of a single cell promises to hold for them
(`release.top(simultaneous=True)` has some that do), so they are shown and not judged.
"""

RHYTHMS = {"weekday": "weekday", "hour_of_day": "hour of day", "month": "month"}
"""Coarsenings of a calendar that are asked for, and their families."""

SIZES = {
    "cells: zero": (-1.0, 0.0),
    "cells: below the noise": (0.0, 1.0),
    "cells: 1 to 3 deviations": (1.0, 3.0),
    "cells: above 3 deviations": (3.0, np.inf),
}
"""Single cells by their true count, in deviations of the noise that a cell would have if all were measured and nothing
else: above the first number, up to the second one."""


@dataclass(frozen=True)
class Question:
    """A sum of cells: which, as numpy takes them, and the family."""

    family: str
    cells: Any

    def weights(self, shape: tuple[int, ...]) -> Floats:
        """One for each of its cells, zero for others."""
        weights = np.zeros(shape)
        weights[self.cells] = 1.0
        return weights


def questions_of(
    counts: Ints, published: Floats, deviation: float, domain: Domain | None, random: np.random.Generator
) -> Iterator[Question]:
    """All that is asked of one release. `deviation`: of the noise of a cell that is measured alone."""
    yield Question("total", ...)
    yield from _cells(counts, deviation, random)
    yield from (Question("the ten largest cells", place) for place in _largest(counts))
    yield from (Question(NAMED, place) for place in _largest(published))
    yield from _runs(counts.shape, random)
    yield from _parts(counts.shape)
    for order in MARGINS:
        if order < counts.ndim:
            yield from _entries(counts.shape, order, random)
    if domain is not None:
        yield from _rhythms(domain, random)


def _some(found: list[Question], random: np.random.Generator) -> list[Question]:
    if len(found) <= ASKED:
        return found
    return [found[number] for number in random.choice(len(found), ASKED, replace=False)]


def _cells(counts: Ints, deviation: float, random: np.random.Generator) -> Iterator[Question]:
    for family, (above, up_to) in SIZES.items():
        there = np.flatnonzero((counts > above * deviation) & (counts <= up_to * deviation))
        for cell in random.choice(there, min(ASKED, len(there)), replace=False).tolist():
            yield Question(family, np.unravel_index(cell, counts.shape))


def _largest(cells: Ints | Floats) -> list[tuple[np.intp, ...]]:
    """The places of the largest cells; of equal ones, of the first in the table."""
    order = np.argsort(-cells.reshape(-1), kind="stable")[:LARGEST]
    return [np.unravel_index(cell, cells.shape) for cell in order]


def _runs(shape: tuple[int, ...], random: np.random.Generator) -> Iterator[Question]:
    """From the first cell of an axis on, over all others; and between any two cells, on every axis."""
    for _ in range(ASKED):
        axis = int(random.integers(len(shape)))
        stop = int(random.integers(1, shape[axis] + 1))
        yield Question("prefix sums", (slice(None),) * axis + (slice(stop),))
        ends = [np.sort(random.choice(side + 1, 2, replace=False)).tolist() for side in shape]
        yield Question("ranges and boxes", tuple(slice(start, stop) for start, stop in ends))


def _parts(shape: tuple[int, ...]) -> Iterator[Question]:
    """Halves of the longest axis; quarters of it, or halves of the two longest."""
    order = sorted(range(len(shape)), key=lambda axis: -shape[axis])
    if shape[order[0]] < 4:
        return
    halves = [_cut(shape, order[0], 2, part) for part in range(2)]
    if len(shape) == 1:
        quarters = [_cut(shape, 0, 4, part) for part in range(4)]
    else:
        across = [_cut(shape, order[1], 2, part) for part in range(2)]
        quarters = [
            tuple(a if axis == order[0] else b for axis, (a, b) in enumerate(zip(one, other, strict=True)))
            for one in halves
            for other in across
        ]
    yield from (Question("halves and quarters", cells) for cells in (*halves, *quarters))


def _cut(shape: tuple[int, ...], axis: int, parts: int, number: int) -> tuple[slice, ...]:
    ends = [round(shape[axis] * part / parts) for part in range(parts + 1)]
    start, stop = list(pairwise(ends))[number]
    return tuple(slice(start, stop) if each == axis else slice(None) for each in range(len(shape)))


def _entries(shape: tuple[int, ...], order: int, random: np.random.Generator) -> Iterator[Question]:
    """Entries of marginals of so many axes, each marginal as often as any other."""
    kept = margins(len(shape), order)
    for number in range(ASKED):
        axes = kept[number % len(kept)] if len(kept) <= ASKED else kept[int(random.integers(len(kept)))]
        cells = tuple(int(random.integers(side)) if axis in axes else slice(None) for axis, side in enumerate(shape))
        yield Question(f"{order}-way marginal entries", cells)


def _rhythms(domain: Domain, random: np.random.Generator) -> Iterator[Question]:
    for place, axis in enumerate(domain.axes):
        if not isinstance(axis, Calendar):
            continue
        before = (slice(None),) * place
        for name, family in RHYTHMS.items():
            if name not in axis.coarsenings:
                continue
            groups = axis.coarsenings[name].group_of
            every = [Question(family, (*before, groups == group)) for group in np.unique(groups)]
            yield from every if name == "weekday" else _some(every, random)
        if "weekday" in axis.coarsenings:
            groups = axis.coarsenings["weekday"].group_of
            others = [other for other in range(len(domain.axes)) if other != place]
            for other in others and random.choice(others, ASKED).tolist():
                cells: list[object] = [slice(None)] * len(domain.axes)
                cells[place] = groups == random.integers(groups.max() + 1)
                cells[other] = int(random.integers(domain.shape[other]))
                yield Question("weekday × category", tuple(cells))
