"""Values with the ranges that their true values lie in, for every point of a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.releases.uncertainty import interval_of, normal_quantile, possible_ends
from sparsedp.reports.grouping import Grouping

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

LEVEL = 0.95
MOST_WORK = 3 * 2**26
"""The range of one sum takes a pass over all cells, at up to 30 ns a cell: this many cells are a few seconds."""

UNKNOWN = "how far it may be off is not known"
OF_CELLS_ONLY = "how far a sum may be off is not known: the file keeps the error of single cells"
TOO_MANY = "its range is not on this page, for there are too many: ask the file"


@runtime_checkable
class KnowsAllCells(Protocol):
    """An uncertainty that gives the intervals of all cells at once."""

    def cell_intervals(self, level: float) -> tuple[Floats, Floats]:
        """Their low and their high ends."""


@dataclass(frozen=True, eq=False)
class Banded:
    """Values, and the ends of their ranges; None where nothing is known of the error, or the ranges cost too much."""

    values: Floats
    low: Floats | None = None
    high: Floats | None = None
    why_not: str | None = None
    """Why there are no ranges."""

    @property
    def half_width(self) -> Floats | None:
        """Half of each range."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


class Bands:
    """The points of pictures of one release; it keeps account of how much work their ranges have been."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.work = 0

    def affordable(self, points: int) -> bool:
        """Whether so many sums can have their ranges, after all those that have them already."""
        return self.work + points * len(self.release) <= MOST_WORK

    @cached_property
    def knows_sums(self) -> bool:
        """Whether the release can tell the error of a sum, and not only of each cell."""
        if self.release.uncertainty is None:
            return False
        try:
            self.release.uncertainty.variance(np.ones(self.release.shape))
        except InvalidInput:
            return False
        return True

    def of(self, groupings: Sequence[Grouping | None]) -> Banded:
        """The sums of each combination of points, one axis after another; None sums over the whole axis."""
        values = self.release.values
        for axis, grouping in enumerate(groupings):
            values = values.sum(axis=axis, keepdims=True) if grouping is None else grouping.sums(values, axis)
        if self.release.uncertainty is None:
            return Banded(values, why_not=UNKNOWN)
        if all(grouping is not None and grouping.finest for grouping in groupings):
            return self._cells(groupings)
        if not self.knows_sums:
            return Banded(values, why_not=OF_CELLS_ONLY)
        if not self.affordable(values.size):
            return Banded(values, why_not=TOO_MANY)
        self.work += values.size * len(self.release)
        return self._ranges(groupings, values)

    def _cells(self, groupings: Sequence[Grouping | None]) -> Banded:
        low, high = self.cell_ends
        parts = [self.release.values, low, high]
        for axis, grouping in enumerate(groupings):
            if grouping is not None and grouping.order is not None:
                parts = [part.take(grouping.order, axis=axis) for part in parts]
        return Banded(parts[0], parts[1], parts[2])

    @cached_property
    def cell_ends(self) -> tuple[Floats, Floats]:
        """Where the ranges of all cells end; of very many, by their standard errors alone."""
        release = self.release
        shape, uncertainty = release.shape, release.uncertainty
        assert uncertainty is not None  # noqa: S101  # asked for only where there is one
        if isinstance(uncertainty, KnowsAllCells):
            low, high = (np.asarray(end).reshape(shape) for end in uncertainty.cell_intervals(LEVEL))
        elif len(release) ** 2 <= MOST_WORK:
            every = [np.arange(length) for length in shape]
            cells = [Grouping("cell", numbers, len(numbers), {}) for numbers in every]
            banded = self._ranges(cells, release.values)
            assert banded.low is not None  # noqa: S101  # ranges were asked for
            assert banded.high is not None  # noqa: S101
            low, high = banded.low, banded.high
        else:
            assert release.stderr is not None  # noqa: S101  # there is an uncertainty
            half = normal_quantile(LEVEL) * release.stderr
            low, high = release.values - half, release.values + half
        if release.nonnegative:
            low, high = possible_ends(low, high, release.values)
        return low, high

    def _ranges(self, groupings: Sequence[Grouping | None], values: Floats) -> Banded:
        release = self.release
        assert release.uncertainty is not None  # noqa: S101  # asked for only where there is one
        low, high = np.empty(values.shape), np.empty(values.shape)
        weights = np.zeros(release.shape)
        for point in product(*(range(length) for length in values.shape)):
            with _ones(weights, groupings, point):
                found = interval_of(
                    release.uncertainty, weights, float(values[point]), LEVEL, at_least_zero=release.nonnegative
                )
            low[point], high[point] = found.low, found.high
        return Banded(values, low, high)


@contextmanager
def _ones(weights: Floats, groupings: Sequence[Grouping | None], point: tuple[int, ...]) -> Iterator[None]:
    """Weights that are one for the cells of a point, and zero again afterwards."""
    cells: list[slice | np.ndarray] = [
        slice(None) if grouping is None else grouping.members(place)
        for grouping, place in zip(groupings, point, strict=True)
    ]
    if any(isinstance(part, np.ndarray) for part in cells):
        cells = list(np.ix_(*(np.arange(length)[part] for length, part in zip(weights.shape, cells, strict=True))))
    weights[tuple(cells)] = 1.0
    yield
    weights[tuple(cells)] = 0.0
