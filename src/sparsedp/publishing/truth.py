"""A release beside the counts that it was made from. NOT PRIVATE: for the owner of the counts alone.

This is on the side of the data, and nothing that comes after the noise may import it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput
from sparsedp.releases.comparison import Comparison, Difference
from sparsedp.releases.distribution import FEWEST_POINTS, WORK, spread
from sparsedp.releases.release import Release
from sparsedp.releases.uncertainty import UnknownTogether, checked_level
from sparsedp.validate import Number

_WARNING = "NOT PRIVATE: computed from the counts themselves. It may tell about single people; do not pass it on."
_MOST_ASKED = 200
"""Cells, and ranges, whose intervals are judged."""


@dataclass(frozen=True, eq=False, repr=False)
class TruthComparison(Comparison):
    """How far a release is from the truth. NOT PRIVATE.

    `first` is the release and `second` the truth. Errors of cells are over all of them; ranges (boxes, in a table) are
    a random sample, and so are the cells whose intervals were judged if there are many. Coverage is the share of
    intervals of `level` that hold the truth, None where the release has no intervals.
    """

    range_error: float
    cell_coverage: float | None
    range_coverage: float | None

    warning: str = _WARNING

    @property
    def private(self) -> bool:
        """Never: this is about the counts themselves."""
        return False

    @property
    def mean_absolute_error(self) -> float:
        """Of the cells."""
        return float(np.abs(self.difference).mean())

    @property
    def root_mean_squared_error(self) -> float:
        """Of the cells."""
        return float(np.sqrt((self.difference**2).mean()))

    @property
    def largest_error(self) -> float:
        """Of any cell."""
        return float(np.abs(self.difference).max())

    def _cell(self, place: tuple[int, ...]) -> Difference:
        return replace(super()._cell(place), interval=None)  # the truth is known here

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.warning}"

    __repr__ = __str__

    def _facts(self) -> list[str]:
        covered = [
            f"{name} {share:.0%}"
            for name, share in (("cells", self.cell_coverage), ("ranges", self.range_coverage))
            if share is not None
        ]
        lines = [
            self.warning,
            *super()._facts(),
            f"error of cells: root mean square {self.root_mean_squared_error:,.6g}, largest {self.largest_error:,.6g}",
            f"error of ranges: root mean square {self.range_error:,.6g}",
        ]
        if covered:
            lines.append(f"intervals at {self.level:.6g} hold the truth of {' and '.join(covered)}")
        return lines


def compare_with_truth(release: Release, counts: Any, level: Number = 0.95) -> TruthComparison:
    """The errors of a release, for whoever holds the counts: a table of them, or what `sparsedp.count` returned.

    A plain table is in the unit of the release. NOT PRIVATE: what this returns must stay with the counts.
    """
    if not isinstance(release, Release):
        raise InvalidInput("release", f"of type {type(release).__name__}", "give a release")
    share = checked_level(level)
    truth = _truth(release, counts)
    boxes = _boxes(release.shape)
    apart = [float((box * (release.values - truth)).sum()) for box in boxes]
    return TruthComparison(
        names=("release", "truth"),
        release=release,
        first=release.values,
        second=truth,
        stderr=release.stderr,
        total=None,
        level=share,
        range_error=float(np.sqrt(np.mean(np.square(apart)))),
        cell_coverage=_covered(release, truth, _cells(release), share),
        range_coverage=_covered(release, truth, boxes, share),
    )


def _truth(release: Release, counts: Any) -> Floats:
    """The true table in the release's unit. What is wrong with it is said without its values."""
    if isinstance(counts, Counts):
        # Files of earlier versions do not say what values were clamped to.
        clamp = release.quantity.clamp and counts.quantity.clamp
        if counts.domain != release.domain or replace(counts.quantity, clamp=clamp) != release.quantity:
            raise InvalidInput("counts", "of another domain or quantity than the release", "count as it was counted")
        return np.asarray(release.quantity.in_units(counts.values.astype(np.float64)))
    try:
        table = np.asarray(counts)
    except Exception:
        raise InvalidInput("counts", "not an array", f"give a table of the shape {release.shape}") from None
    if table.shape != release.shape or table.dtype.kind not in "biuf" or not np.isfinite(table).all():
        raise InvalidInput("counts", "not a table of such counts", f"give numbers of the shape {release.shape}")
    return table.astype(np.float64)


def _cells(release: Release) -> list[Floats]:
    chosen = []
    for cell in spread(len(release), _asked(release)).tolist():
        weights = np.zeros(len(release))
        weights[cell] = 1.0
        chosen.append(weights.reshape(release.shape))
    return chosen


def _asked(release: Release) -> int:
    return min(_MOST_ASKED, max(FEWEST_POINTS, WORK // len(release)))


def _boxes(shape: tuple[int, ...]) -> list[Floats]:
    """Random ranges, the same for every release of that shape: both ends uniform on every axis."""
    generator = np.random.default_rng(0)
    boxes: list[Floats] = []
    size = int(np.prod(shape))
    for _ in range(min(_MOST_ASKED, max(FEWEST_POINTS, WORK // size))):
        box = np.zeros(shape)
        bounds = [np.sort(generator.choice(side + 1, 2, replace=False)) for side in shape]
        box[tuple(slice(start, stop) for start, stop in bounds)] = 1.0
        boxes.append(box)
    return boxes


def _covered(release: Release, truth: Floats, questions: list[Floats], level: float) -> float | None:
    if release.uncertainty is None:
        return None
    try:
        held = [_holds(release, truth, weights, level) for weights in questions]
    except UnknownTogether:
        return None
    return float(np.mean(held))


def _holds(release: Release, truth: Floats, weights: Floats, level: float) -> bool:
    interval = release.interval(weights, level)
    true = float((weights * truth).sum())
    slack = 1e-9 * max(1.0, abs(true))
    return interval.low - slack <= true <= interval.high + slack
