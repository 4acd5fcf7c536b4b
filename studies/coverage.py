"""How often the intervals of a release hold the truth, and how wide they are. For the owner of the counts only.

Counts are drawn anew from the shape in every run, so that the law of an error includes what the counts themselves
scatter: whoever knew the one draw would know the answers. The oracle knows that law for every cell and every range: its
interval is the estimate ± the 95 % quantile of |error| over all runs, cut at zero like ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, Protocol

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.errors.errors import LayerErrors
from sparsedp.noise.source import RandomSource
from sparsedp.releases.release import Release
from sparsedp.streams import ContinualAdaptive
from sparsedp.synopsis import Synopsis
from studies.inputs import Shape

LEVEL = 0.95
BOXES = 100
LARGE = 3.0
"""Cells above so many deviations of the noise of the finest sums are judged by themselves, too."""


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the truth, and the mean width of ours over the oracle's."""

    cells: float
    ranges: float
    cell_width: float
    range_width: float
    large: float
    large_cells: float

    @classmethod
    def mean(cls, parts: list[Coverage]) -> Coverage:
        """Of several cases; large cells count one by one."""
        count = sum(part.large_cells for part in parts)
        large = sum(part.large * part.large_cells for part in parts if part.large_cells) / count if count else nan
        figures = np.mean([[part.cells, part.ranges, part.cell_width, part.range_width] for part in parts], axis=0)
        cells, ranges, cell_width, range_width = figures.tolist()
        return cls(cells, ranges, cell_width, range_width, large, count)


class Measures(Protocol):
    """A mechanism whose releases have intervals of all cells."""

    def measure(self, counts: Ints, *, epsilon: str, source: RandomSource | None = None) -> Synopsis:
        """The noisy measurement, to be recovered."""


@dataclass(frozen=True)
class Streamed:
    """The counts of a row as a stream, one after the other. `totals`: the share of running totals."""

    totals: str | None = None

    def measure(self, counts: Ints, *, epsilon: str, source: RandomSource | None = None) -> Synopsis:
        """What the stream has published when all ticks are over."""
        counter: dict[str, Any] = {} if self.totals is None else {"totals": self.totals, "horizon": counts.size}
        stream = ContinualAdaptive(epsilon=epsilon, source=source, **counter)
        stream.observe_many(counts.reshape(-1))
        return stream.synopsis()


@dataclass(frozen=True)
class _Intervals:
    """Of one release: of all cells, then of all boxes."""

    low: Floats
    high: Floats

    def holds(self, truth: Floats) -> Floats:
        return ((truth >= self.low - 1e-9) & (truth <= self.high + 1e-9)).astype(np.float64)


def measure_coverage(
    shape: Shape,
    total: int,
    mechanism: Measures,
    *,
    epsilon: str,
    runs: int,
    judged: int,
    scale: float = 1.0,
    source: RandomSource | None = None,
) -> Coverage:
    """Release `runs` draws of `total` records from the shape, and judge the intervals of the first `judged` of them.

    `scale` multiplies our widths: a check of the check. `source`: of the noise, for tests that repeat.
    """
    if not 1 <= judged <= runs:
        raise InvalidInput("judged", f"{judged}", f"give from 1 to {runs}")
    generator = np.random.default_rng(total)
    boxes = _boxes(shape.shape)
    errors, estimates, found = [], [], []
    large, covered = 0.0, 0.0
    for run in range(runs):
        counts = generator.multinomial(total, shape.reshape(-1)).reshape(shape.shape)
        synopsis = mechanism.measure(counts, epsilon=epsilon, source=source)
        release = synopsis.recover()
        truth, estimate = _asked(counts.astype(np.float64), boxes), _asked(release.values, boxes)
        errors.append(estimate - truth)
        estimates.append(estimate)
        if run < judged:
            intervals = _intervals(release, estimate, boxes, scale)
            held = intervals.holds(truth)
            found.append((held, intervals.high - intervals.low))
            big = counts.reshape(-1) > LARGE * sqrt(synopsis.noise_variance)
            large, covered = large + big.sum() / judged, covered + held[: counts.size][big].sum() / judged
    held, widths = (np.mean(figures, axis=0) for figures in zip(*found, strict=True))
    best = _oracle_widths(np.array(errors), np.array(estimates))
    cells, ranges = slice(0, shape.size), slice(shape.size, None)
    return Coverage(
        float(held[cells].mean()),
        float(held[ranges].mean()),
        float(widths[cells].mean() / best[cells].mean()),
        float(widths[ranges].mean() / best[ranges].mean()),
        covered / large if large else nan,
        large,
    )


def _boxes(shape: tuple[int, ...]) -> Floats:
    """Weights of random ranges, or boxes: both ends uniform on every axis."""
    generator = np.random.default_rng(0)
    boxes = np.zeros((BOXES, *shape))
    for box in boxes:
        while not box.any():
            bounds = [np.sort(generator.integers(0, side + 1, 2)) for side in shape]
            box[tuple(slice(start, stop) for start, stop in bounds)] = 1.0
    return boxes.reshape(BOXES, -1)


def _asked(cells: Floats, boxes: Floats) -> Floats:
    return np.concatenate([cells.reshape(-1), boxes @ cells.reshape(-1)])


def _intervals(release: Release, estimates: Floats, boxes: Floats, scale: float) -> _Intervals:
    errors = release.uncertainty
    if not isinstance(errors, LayerErrors):
        raise InvalidInput("release", "without intervals of all cells", "give one of layers of sums")
    cell_ends = [ends.reshape(-1) for ends in errors.cell_intervals(LEVEL)]
    of_boxes = estimates[release.values.size :]
    box_ends = [errors.interval(box, float(at), LEVEL) for box, at in zip(boxes, of_boxes, strict=True)]
    low, high = (np.concatenate(ends) for ends in zip(cell_ends, zip(*box_ends, strict=True), strict=True))
    low, high = estimates - scale * (estimates - low), estimates + scale * (high - estimates)
    return _Intervals(np.maximum(low, 0.0), np.maximum(high, 0.0))


def _oracle_widths(errors: Floats, estimates: Floats) -> Floats:
    half = np.quantile(np.abs(errors), LEVEL, axis=0)
    return np.asarray((estimates + half - np.maximum(estimates - half, 0.0)).mean(axis=0))
