"""Empirical-Bayes shrinkage of a table of several ordered axes, in a translation-invariant Haar frame of boxes.

As `shrink` does it with a row (shrinkage.md): every contrast is replaced by its posterior mean, step by step from cells
to the whole table, with a prior that all contrasts of a step teach, by what surrounds them. There are no trends. The
axes take turns, the last first, the narrowest window first. O(n log n) time; memory for a vector a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite, prod, sqrt
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.noise.law import IndependentLaw
from sparsedp.recovery.shrinkage.box_contrasts import add_along, add_beside, classify_and_count, keep_noise
from sparsedp.recovery.shrinkage.box_windows import contrast_deviations, merge, narrow, window_deviations
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, noise_nodes, variance_shape
from sparsedp.recovery.shrinkage.gap_chunks import Chunks, chunks_of
from sparsedp.recovery.shrinkage.level_prior import Population, scepticism, vague_weights, worth_of
from sparsedp.recovery.shrinkage.scale_mixture import Evidence

Kind = TypeVar("Kind", bound=np.generic)


def shrink_table(table: Floats, law: IndependentLaw) -> Floats:
    """The counts' posterior mean, given a table of counts each with independent noise of `law`; the total is kept."""
    if table.size < 2 or law.variance == 0.0:
        return table.copy()
    mean = float(table.mean())
    if not isfinite(law.variance):
        return np.full_like(table, mean)
    with chunks_of(table.size) as chunks:
        noise = _noise(table - mean, law, chunks)
    return np.asarray(table - (noise - noise.mean()))


def _noise(table: Floats, law: IndependentLaw, chunks: Chunks) -> Floats:
    """What the posterior means remove from every cell."""
    widths, windows, buffers = [1] * table.ndim, table, _Buffers.for_table(table.shape)
    finer, doubt, shape = vague_weights(), scepticism(table.size), variance_shape(law)
    removed: list[tuple[int, Floats]] = []
    while (axis := _next_axis(widths, table.shape)) is not None:
        windows, contrasts = _merged(windows, axis, widths[axis], chunks)
        widths[axis] *= 2
        scores = buffers.scores[: contrasts.size].reshape(contrasts.shape)
        np.multiply(contrasts, sqrt(prod(widths) / law.variance), out=scores)
        _over_deviations(scores, table.shape, widths, axis)
        classes, counts = _classified(scores, widths, axis, buffers, chunks)
        prior = Population.learn(_worth(widths, axis) * counts, _evidence(prod(widths) * shape), finer, doubt)
        finer = prior.weights
        work = partial(keep_noise, contrasts.reshape(-1), scores.reshape(-1), classes, prior.tables)
        chunks.run(work, contrasts.size)
        removed.append((axis, contrasts))
    noise = np.zeros(windows.shape)
    while removed:
        axis, contrasts = removed.pop()
        widths[axis] //= 2
        noise = _narrowed(noise, contrasts, axis, table.shape[axis], widths[axis], chunks)
    return noise


@dataclass(frozen=True)
class _Buffers:
    """For one step after the other: contrasts in deviations, the squares around them and their weights, the classes."""

    scores: Floats
    squares: Floats
    weights: npt.NDArray[np.uint8]
    classes: npt.NDArray[np.uint8]

    @classmethod
    def for_table(cls, sides: tuple[int, ...]) -> _Buffers:
        room = prod(side + 1 for side in sides)
        return cls(np.empty(room), np.empty(room), np.empty(room, np.uint8), np.empty(room, np.uint8))


def _next_axis(widths: list[int], sides: tuple[int, ...]) -> int | None:
    """The one of the narrowest window that is not yet as wide as the table; of several the last."""
    open_axes = [axis for axis in reversed(range(len(sides))) if widths[axis] < sides[axis]]
    return min(open_axes, key=lambda axis: widths[axis], default=None)


def _along(array: npt.NDArray[Kind], axis: int) -> npt.NDArray[Kind]:
    """Seen as (before, along, after)."""
    return array.reshape(prod(array.shape[:axis]), array.shape[axis], prod(array.shape[axis + 1 :]))


def _merged(windows: Floats, axis: int, width: int, chunks: Chunks) -> tuple[Floats, Floats]:
    sides = list(windows.shape)
    sides[axis] += width == 1
    means, contrasts = np.empty(sides), np.empty(sides)
    work = partial(merge, _along(windows, axis), width, _along(means, axis), _along(contrasts, axis))
    chunks.run(work, means.size)
    return means, contrasts


def _narrowed(means: Floats, contrasts: Floats, axis: int, side: int, width: int, chunks: Chunks) -> Floats:
    sides = list(means.shape)
    sides[axis] = side + (width > 1)
    windows = np.empty(sides)
    work = partial(narrow, _along(means, axis), _along(contrasts, axis), width, _along(windows, axis))
    chunks.run(work, windows.size)
    return windows


def _over_deviations(scores: Floats, sides: tuple[int, ...], widths: list[int], axis: int) -> None:
    """Divide by the deviations that the noise has near the ends, relative to that elsewhere; 0 where that is 0."""
    for other, (side, width) in enumerate(zip(sides, widths, strict=True)):
        deviations = contrast_deviations(side, width) if other == axis else window_deviations(side, width)
        inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 1e-6)
        if (inverse != 1.0).any():
            scores *= inverse.reshape([-1 if a == other else 1 for a in range(len(sides))])


def _classified(
    scores: Floats, widths: list[int], axis: int, buffers: _Buffers, chunks: Chunks
) -> tuple[npt.NDArray[np.uint8], Floats]:
    """The classes of a step's contrasts, and counts of them by class and magnitude."""
    size = scores.size
    squares, weights, classes = buffers.squares[:size], buffers.weights[:size], buffers.classes[:size]
    squares[...], weights[...] = 0.0, 0
    for other, width in enumerate(widths):
        add = add_along if other == axis else add_beside
        around = _along(squares.reshape(scores.shape), other), _along(weights.reshape(scores.shape), other)
        chunks.run(partial(add, _along(scores, other), width, *around), size)
    counts = chunks.run(partial(classify_and_count, scores.reshape(-1), squares, weights, classes), size)
    return classes, np.sum(counts, axis=0)


def _worth(widths: list[int], axis: int) -> float:
    """What one of a step's overlapping contrasts is worth in independent ones: 1/ΣA², A their autocorrelation."""
    windows = prod(3.0 * width / (2.0 * width * width + 1.0) for width in widths)
    own = widths[axis]
    return worth_of(float(own)) * windows / (3.0 * own / (2.0 * own * own + 1.0))


def _evidence(shape: float) -> Evidence:
    return Evidence.of(*noise_nodes(min(shape, GAUSSIAN_FROM)))
