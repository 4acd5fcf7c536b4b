"""Empirical-Bayes shrinkage of a row, or of a table of several ordered axes, in a translation-invariant Haar frame.

Every contrast is replaced by its posterior mean, step by step from cells to the whole table, with a prior that all
contrasts of a step teach, by what is around them (shrinkage.md). The axes take turns, the last first, the narrowest
window first (the first axis may be ahead of the others). Tables of more than 2¹⁶ cells with long axes take O(n) time,
others O(n log n); memory for a vector a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, prod, sqrt

import numpy as np
import numpy.typing as npt
from scipy.ndimage import uniform_filter

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.shrinkage._boxes import (
    Kind,
    Singles,
    classify_and_count,
    classify_and_count_row,
    contrast_deviations,
    keep_noise,
    merge,
    narrow,
    window_deviations,
)
from sparsedp.estimation.shrinkage._chunks import Chunks, chunks_of
from sparsedp.estimation.shrinkage.mixture_prior import (
    CLASSES,
    GAUSSIAN_FROM,
    VAGUE_WEIGHTS,
    Evidence,
    Population,
    noise_nodes,
    scepticism,
    variance_shape,
    worth_of,
)
from sparsedp.laws import IndependentLaw
from sparsedp.progress import advance

NO_VARIANCE = 1e-20
"""With less no cell has any noise; and contrasts in deviations of it would leave single precision."""

LARGE = 1 << 16
"""In tables of more cells than this no window is wider than `WIDEST` along a long axis: wider ones are those of the
table of their blocks' means."""

WIDEST, BLOCK_SIDE, LONG = 16, 4, 64
"""Cells along an axis: of the widest windows, of the blocks, and of an axis that has blocks at all."""

LEFT = 3
"""Over so many blocks along an axis the means are taken: a little less than the widest windows."""

MOST_PLACES = 4.0
"""To a cell: many short axes have far more gaps than cells."""


def fits(sides: Sequence[int]) -> bool:
    """Whether a table of such sides has not too many places for windows."""
    return prod((side + 1) / side for side in sides) <= MOST_PLACES


def shrink(table: Floats, law: IndependentLaw, level_variances: Floats | None = None, *, longer: float = 1.0) -> Floats:
    """The counts' posterior mean, given a row or table of counts with noise of `law` each; the total is kept.

    `level_variances[j − 1]`: of the noise in an orthonormal Haar detail of 2^j cells of a row, where it is not
    independent from cell to cell; where that is less than the law's, it is taken for Gaussian. `longer`: how many times
    as wide windows are along the first axis as along others, where cells are more alike there. No constraint is
    imposed: cells may come out negative.
    """
    if table.size < 2 or law.variance < NO_VARIANCE:
        return table.copy()
    # Whole numbers stay whole, and their sums exact, if what is taken off is whole.
    mean = float(table.mean())
    if not isfinite(law.variance):
        return np.full_like(table, mean)
    centre = float(round(mean))
    variances = np.full(2 + sum(side.bit_length() for side in table.shape), law.variance)
    if level_variances is not None and len(level_variances):
        variances[: len(level_variances)] = level_variances
        variances[len(level_variances) :] = level_variances[-1]
    noise = _Noise(law.variance, variance_shape(law), variances)
    with chunks_of(table.size) as chunks:
        removed = _removed(table - centre, centre, noise, longer, chunks)
    return np.asarray(table - (removed - removed.mean()))


@dataclass(frozen=True)
class _Noise:
    """Of one cell: its variance and `variance_shape`; and the variance of a detail of 2, 4, 8, … cells."""

    variance: float
    shape: float
    by_level: Floats

    def of_means(self, cells: int) -> _Noise:
        """The noise in means of so many cells, a power of two."""
        return _Noise(self.variance / cells, self.shape * cells, self.by_level[cells.bit_length() - 1 :] / cells)

    def step(self, cells: int) -> tuple[float, float]:
        """The deviation of the contrast of two halves of `cells` cells together, and the shape of its law."""
        variance = float(self.by_level[cells.bit_length() - 2])
        shape = cells * self.shape if variance > 0.999 * self.variance else GAUSSIAN_FROM
        return sqrt(variance / cells), shape

    def between_levels(self, cells: int, gaps: int) -> Singles | None:
        """Of a row, by how much more the contrast of `cells` cells at each of the gaps has than an aligned one.

        Levels are of *aligned* details, which are taken for uncorrelated. Any other shift mixes in finer ones: the
        three edges of a detail of 2^j cells cut an aligned interval of 2^i at a distance m from its nearer end, and
        pick up 6m²/2^(i+j) of its variance. Coarser ones would be picked up too: they count with the level's own.
        """
        level = cells.bit_length() - 1
        own, finer = float(self.by_level[level - 1]), self.by_level[: level - 1]
        if not (finer != own).any():
            return None
        variances, gap = np.full(gaps, own), np.arange(gaps)
        for place, variance in enumerate(finer, start=1):
            past = gap & ((1 << place) - 1)
            cut = np.minimum(past, (1 << place) - past).astype(np.float64)
            variances += (variance - own) * 6.0 * cut**2 / (1 << place) / cells
        return np.asarray(np.sqrt(np.maximum(variances, 1e-12 * own) / own), np.float32)


def _removed(table: Floats, centre: float, noise: _Noise, longer: float, chunks: Chunks) -> Floats:
    """What the posterior means remove from every cell, of which `centre` was taken off."""
    block = [BLOCK_SIDE if side >= LONG and table.size > LARGE else 1 for side in table.shape]
    widest = [side if width == 1 else WIDEST for side, width in zip(table.shape, block, strict=True)]
    removed = _removed_by_steps(table, centre, noise, widest, longer, chunks)
    if prod(block) == 1:
        return removed
    coarse = _removed(_block_means(table, block), centre, noise.of_means(prod(block)), longer, chunks)
    # The means of windows as wide as those of the last step: what is narrower was seen better from every cell.
    left = uniform_filter(coarse - _block_means(removed, block), [1 if width == 1 else LEFT for width in block])
    _add_to_blocks(removed, left, block)
    return removed


def _block_means(table: Floats, block: list[int]) -> Floats:
    """Blocks at the far ends may be cut: there the table goes on as its mirror image."""
    beyond = [(0, -side % width) for side, width in zip(table.shape, block, strict=True)]
    whole = np.pad(table, beyond, mode="symmetric") if any(more for _, more in beyond) else table
    for axis, width in enumerate(block):
        if width > 1:
            split = *whole.shape[:axis], whole.shape[axis] // width, width, *whole.shape[axis + 1 :]
            whole = whole.reshape(split).mean(axis=axis + 1)
    return whole


def _add_to_blocks(table: Floats, change: Floats, block: list[int]) -> None:
    """The same to every cell of a block."""
    for axis, width in enumerate(block):
        change = np.repeat(change, width, axis=axis) if width > 1 else change
    table += change[tuple(slice(side) for side in table.shape)]


def _removed_by_steps(
    table: Floats, centre: float, noise: _Noise, widest: list[int], longer: float, chunks: Chunks
) -> Floats:
    """The same, with windows up to `widest` along each axis: what is left in their means is not removed."""
    widths, windows, room = [1] * table.ndim, table, prod(side + 1 for side in table.shape)
    steps = sum((width - 1).bit_length() for width in widest)
    # Memory is asked for once: fresh pages cost more than the work on them.
    kept, classes = np.empty((steps, room), np.float32), np.empty(room, np.uint8)
    here, there = np.empty((2, room))
    finer, doubt = np.tile(VAGUE_WEIGHTS, (CLASSES, 1)), scepticism(table.size)
    kept_noise: list[tuple[int, float, Singles]] = []
    while (axis := _next_axis(widths, widest, longer)) is not None:
        unit, shape = noise.step(2 * prod(widths))
        windows, contrasts = _merged(windows, axis, widths[axis], unit, there, kept[len(kept_noise)], chunks)
        here, there = there, here
        widths[axis] *= 2
        _times_deviations(contrasts, table.shape, widths, axis, -1)
        shifted = noise.between_levels(widths[0], contrasts.size) if table.ndim == 1 else None
        if shifted is not None:
            contrasts /= shifted
        flat, heights = contrasts.reshape(-1), windows.reshape(-1)
        work: Callable[[int, int], Floats] = partial(
            classify_and_count_row, flat, heights, unit, centre, widths[0], classes
        )
        if table.ndim > 1:
            places: tuple[Ints, Ints] = np.array(contrasts.shape), np.array(widths)
            work = partial(classify_and_count, flat, heights, unit, centre, *places, axis, classes)
        counts = np.sum(chunks.run(work, flat.size), axis=0)
        prior = Population.learn(_worth(widths, axis) * counts, _evidence(shape), finer, doubt)
        finer = prior.weights
        chunks.run(partial(keep_noise, flat, classes, prior.tables), flat.size)
        if shifted is not None:
            contrasts *= shifted
        _times_deviations(contrasts, table.shape, widths, axis, 1)
        kept_noise.append((axis, unit, contrasts))
        advance(0.8 * len(kept_noise) / steps)
    left = windows
    left[...] = 0.0
    while kept_noise:
        axis, unit, contrasts = kept_noise.pop()
        widths[axis] //= 2
        left = _narrowed(left, contrasts, axis, table.shape[axis], widths[axis], unit, there, chunks)
        here, there = there, here
    return left


def _next_axis(widths: list[int], widest: Sequence[int], longer: float = 1.0) -> int | None:
    """The one of the narrowest window that is not yet wide enough, but for what the first one is to be `longer`; of
    several the last.
    """
    open_axes = [axis for axis in reversed(range(len(widths))) if widths[axis] < widest[axis]]
    return min(open_axes, key=lambda axis: widths[axis] / (1.0 if axis else longer), default=None)


def _along(array: npt.NDArray[Kind], axis: int) -> npt.NDArray[Kind]:
    """Seen as (before, along, after)."""
    return array.reshape(prod(array.shape[:axis]), array.shape[axis], prod(array.shape[axis + 1 :]))


def _first(room: npt.NDArray[Kind], sides: Sequence[int]) -> npt.NDArray[Kind]:
    """An array of such sides, in memory that has enough of it."""
    return room[: prod(sides)].reshape(sides)


def _merged(
    windows: Floats, axis: int, width: int, unit: float, room: Floats, room_for_contrasts: Singles, chunks: Chunks
) -> tuple[Floats, Singles]:
    sides = list(windows.shape)
    sides[axis] += width == 1
    means, contrasts = _first(room, sides), _first(room_for_contrasts, sides)
    work = partial(merge, _along(windows, axis), width, unit, _along(means, axis), _along(contrasts, axis))
    chunks.run(work, means.size)
    return means, contrasts


def _narrowed(
    means: Floats, contrasts: Singles, axis: int, side: int, width: int, unit: float, room: Floats, chunks: Chunks
) -> Floats:
    sides = list(means.shape)
    sides[axis] = side + (width > 1)
    windows = _first(room, sides)
    work = partial(narrow, _along(means, axis), _along(contrasts, axis), width, unit, _along(windows, axis))
    chunks.run(work, windows.size)
    return windows


def _times_deviations(contrasts: Singles, sides: tuple[int, ...], widths: list[int], axis: int, power: int) -> None:
    """Of the noise near the ends, relative to that elsewhere, to the power of 1 or −1; 0 where there is none."""
    for other, (side, width) in enumerate(zip(sides, widths, strict=True)):
        # They differ from 1 near the ends only, so an axis that is just long enough has those of a longer one.
        enough = min(side, 4 * width)
        deviations = contrast_deviations(enough, width) if other == axis else window_deviations(enough, width)
        factors = np.where(deviations > 1e-6, np.maximum(deviations, 1e-6) ** power, 0.0).astype(np.float32)
        along, (first, last) = _along(contrasts, other), _ends(factors != 1.0)
        along[:, :first] *= factors[None, :first, None]
        along[:, along.shape[1] - last :] *= factors[None, len(factors) - last :, None]


def _ends(changed: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """How many hold all that is changed: from the beginning, and up to the end, neither beyond the middle."""
    places, middle = np.flatnonzero(changed), len(changed) // 2
    first = int(places[places < middle].max(initial=-1)) + 1
    return first, len(changed) - int(places[places >= middle].min(initial=len(changed)))


def _worth(widths: list[int], axis: int) -> float:
    """What one of a step's overlapping contrasts is worth in independent ones: 1/ΣA², A their autocorrelation."""
    windows = prod(3.0 * width / (2.0 * width * width + 1.0) for width in widths)
    own = widths[axis]
    return worth_of(float(own)) * windows / (3.0 * own / (2.0 * own * own + 1.0))


def _evidence(shape: float) -> Evidence:
    return Evidence.of(*noise_nodes(min(shape, GAUSSIAN_FROM)))
