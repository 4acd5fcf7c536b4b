"""Errors where groups of cells were measured: between groups the noise, within them what nobody saw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.errors.bootstrap import DetailStrata, Resampled
from sparsedp.estimation.errors.cells import FAINT, model_of_cells
from sparsedp.estimation.errors.haar_details import (
    LEAST_NOISE,
    ErrorModel,
    cell_variances,
    details,
    level_slices,
    normal_quantile,
    padded,
    within_groups,
)
from sparsedp.estimation.groups import noise_together
from sparsedp.estimation.least_squares import BetweenGroups, NoiseOfSums, PosteriorOfSums
from sparsedp.estimation.tree_posterior import cells_of_whole_blocks

if TYPE_CHECKING:
    from sparsedp.estimation.estimator import Fit


# The errors of a recovery that measured groups of cells only: between groups the noise, within them what nobody saw.
#
# A private tree leaves a group whole if it seems to be uneven by less than one decay of the tree, and one more for
# every halving above. So what is hidden is up to that, beside what independent records scatter by; and it is never more
# than twice the group's sum. How it is spread within the group nobody knows. Parts of a grid are cut by their counts,
# whether they are even or not: what they hide is a share of these.

TELLING_CELLS = 32
"""Cells of a group whose unevenness says how far its cells may be off."""

SMOOTH = 0.9
"""Structure within groups is rather smooth than rough: details of 2^j cells have 2^(SMOOTH·j) times the variance."""

MOST_OFF = 2.0
"""In means of a group's cells: what they are off by at most."""

SLOPED = 0.23
"""Of the variance within a group, what is left where the groups on both sides foretold a slope."""

FLAT = 1e-9
"""A slope that raises cells by a lesser share of themselves is none."""

BETWEEN = 1.8
"""Bootstrap samples have the groups that the tree chose for another one, and err less than it: so much in variance."""

MISFIT_IN_ROWS, MISFIT_IN_TABLES = 1.3, 1.7
"""What errors of sums over groups are more than the posterior says, in variance: its prior does not know how sums
divide, and where it is wrong it is so in groups side by side. (Single groups err as it says, nearly.) The parts of
tables are chosen by sums of which the posterior then makes use."""

HIDDEN_IN_ROWS, HIDDEN_IN_TABLES = 7.0, 14.0
"""How much more sums vary by what groups hide than uncorrelated details would make them. A range cuts a group where it
ends, and what is hidden there is one hump on all levels; a box cuts groups all along its edge, and they err alike."""

OF_MEAN, OF_JUMP = 0.6, 1.0
"""What the cells of a part of a grid are off by, beyond scatter: shares of their mean, and of how far parts side by
side are apart, whichever is less."""

TEXTURE, SMALL_TEXTURE = 0.5, 0.35
"""What differs from cell to cell is not seen at all where it is below the noise of a cell: a share of the cells' mean,
or of so many deviations of the noise on one sum, if that is less."""

KEPT = 2.0
"""In deviations of its noise: a cell that was measured by itself and came out further from 0 has it, or more."""

RUNS = 8
"""Of the bootstrap, at least: there are few groups to learn from. In long rows there are more."""

MANY_CELLS = 2**16


def runs_of_groups(n: int) -> int:
    """How many bootstrap samples of n cells to learn the errors of groups from, at least."""
    return min(RUNS, -(-MANY_CELLS // n))


def model_of_groups(fit: Fit, noise: Floats, samples: Callable[[], Resampled]) -> ErrorModel:
    """Between groups from their posterior or, if there is none, from bootstrap samples; within them from what the tree
    says. `noise`: of every detail.
    """
    n = fit.sensing.n
    sizes = np.diff(fit.layers[0].starts, append=n)
    widths = padded(np.repeat(sizes, sizes).astype(np.float64))
    scatter = padded(np.maximum(np.abs(fit.estimate), np.repeat(_faint(fit, sizes), sizes)))
    extra = padded(np.repeat(_extra(fit, sizes), sizes))
    inside, of_groups = within_groups(sizes), np.zeros(n)
    between: BetweenGroups = NoiseOfSums(fit.sensing, fit.law, noise, ~inside)
    if fit.joint is None:
        single = _between(fit, noise, samples())
        shared = BETWEEN * single
    else:
        single, shared = np.zeros(len(noise)), np.zeros(len(noise))
        variances, linear = fit.joint.variances(fit.layers[0].starts, fit.layers[0].starts + sizes)
        of_groups = np.repeat(variances / sizes.astype(np.float64) ** 2, sizes)
        misfit = MISFIT_IN_TABLES if fit.sensing.is_table else MISFIT_IN_ROWS
        of_total = len(noise) * _of_total(fit, noise)
        between = PosteriorOfSums(fit.sensing, fit.law, (misfit * variances, linear), of_total, ~inside)
    together = HIDDEN_IN_TABLES if fit.sensing.is_table else HIDDEN_IN_ROWS
    for level, part in enumerate(level_slices(len(shared)), start=1):
        first = slice(0, None, 1 << level)
        hidden = extra[first] * _share_of_level(level, widths[first])
        single[part] = np.where(inside[part], scatter[first] + hidden, single[part])
        shared[part] = np.where(inside[part], scatter[first] + together * hidden, shared[part])
    texture = np.repeat(_texture(fit, sizes), sizes)
    cells = cell_variances(single, n) + of_groups + texture
    cells = np.maximum(cells, np.repeat(_noise_of_kept_cells(fit, sizes), sizes))

    @lru_cache(maxsize=8)
    def ends(level: float) -> tuple[Floats, Floats]:
        half = normal_quantile(level) * np.sqrt(cells)
        return half, half

    return ErrorModel(cells, shared, texture, ends, between)


def _extra(fit: Fit, sizes: Ints) -> Floats:
    """For each group, the variance of its cells beyond what independent records scatter by."""
    means = np.abs(np.add.reduceat(fit.estimate, fit.layers[0].starts)) / sizes
    jumps = np.abs(np.diff(means))
    beside = np.maximum(np.append(jumps, 0.0), np.append(0.0, jumps))
    if fit.sensing.in_parts_of_blocks:
        return np.where(sizes > 1, np.minimum(OF_MEAN * means, OF_JUMP * beside) ** 2, 0.0)
    distance = fit.hidden.difference(sizes) / sizes
    # Of few cells that says little: they differ no more from one another than groups side by side do, or than many.
    many = fit.hidden.difference(TELLING_CELLS) / TELLING_CELLS
    distance = np.minimum(np.minimum(distance, np.maximum(beside, many)), MOST_OFF * means)
    hidden = np.maximum(distance**2 - means / sizes, 0.0) * np.where(_sloped(fit), SLOPED, 1.0)
    return np.asarray(np.where(sizes > 1, hidden, 0.0))


def _faint(fit: Fit, sizes: Ints) -> Floats:
    """For each group of several cells, the mean that they may have though the group's sum is not seen."""
    return np.asarray(np.where(sizes > 1, FAINT * np.sqrt(fit.layers[0].variances) / sizes, 0.0))


def _noise_of_kept_cells(fit: Fit, sizes: Ints) -> Floats:
    """For each group that is a single cell and stands out of the noise, the variance of that; 0 for others."""
    groups = fit.layers[0]
    kept = (sizes == 1) & (np.abs(groups.sums) > KEPT * np.sqrt(groups.variances))
    return np.asarray(np.where(kept, groups.variances, 0.0))


def _sloped(fit: Fit) -> npt.NDArray[np.bool_]:
    """In which groups the estimate rises or falls, because the groups on both sides do."""
    starts = fit.layers[0].starts
    highest, lowest = np.maximum.reduceat(fit.estimate, starts), np.minimum.reduceat(fit.estimate, starts)
    return np.asarray(highest - lowest > FLAT * np.maximum(np.abs(highest), np.abs(lowest)))


def _texture(fit: Fit, sizes: Ints) -> Floats:
    """For each group, the variance of its cells that is each cell's own, beyond the scatter of independent records."""
    means = np.abs(np.add.reduceat(fit.estimate, fit.layers[0].starts)) / sizes
    small = SMALL_TEXTURE * noise_together(fit.law)
    return np.asarray(np.where(sizes > 1, (TEXTURE * np.minimum(means, small)) ** 2, 0.0))


def _share_of_level(level: int, widths: Floats) -> Floats:
    """The variance of a detail of 2^level cells in a group of so many, if its cells have variance 1."""
    ratio = 2.0 ** (SMOOTH - 1.0)
    depth = np.log2(np.maximum(widths, 2.0))
    return np.asarray(2.0 ** (SMOOTH * level) * (1.0 - ratio) / (ratio * (1.0 - ratio**depth)))


def _between(fit: Fit, noise: Floats, samples: Resampled) -> Floats:
    """The mean squared error of details that are made of whole groups."""
    learned = DetailStrata.learn(fit.estimate, noise, samples, samples.noise > LEAST_NOISE)
    learned.errors[0] = _of_total(fit, noise)
    return learned.errors


def _of_total(fit: Fit, noise: Floats) -> float:
    """The mean squared error of the detail that is the sum of all: its noise, and how far it was moved."""
    return float(noise[0] + details(fit.fused - fit.estimate)[0] ** 2)


# The errors of a recovery that measured the cells of some blocks, and other blocks whole or in parts.
#
# Cells of blocks that were measured cell by cell err as measured cells do; all others as those of flat groups do, also
# where a group is a single cell, on the way to a table's first one.


def in_dense_blocks(fit: Fit) -> bool:
    """Whether all cells of some blocks of the layer above were measured, and others of these whole or in parts."""
    if not fit.sensing.in_parts_of_blocks:
        return False
    parts, blocks = (layer.starts for layer in fit.layers[:2])
    return bool(cells_of_whole_blocks(parts, blocks, fit.sensing.n).any())


def model_of_dense_blocks(fit: Fit, noise: Floats, samples: Resampled) -> ErrorModel:
    """Details within groups, and their cells, from what flat groups hide; all others from what is measured."""
    sizes = np.diff(fit.layers[0].starts, append=fit.sensing.n)
    parts, blocks = (layer.starts for layer in fit.layers[:2])
    whole = np.repeat(~cells_of_whole_blocks(parts, blocks, fit.sensing.n), sizes)
    measured = model_of_cells(fit, noise, samples)
    # The posterior does not say what the cells of busy blocks leave of their noise, and sums have both.
    flat = model_of_groups(replace(fit, joint=None), noise, lambda: samples)

    @lru_cache(maxsize=8)
    def ends(level: float) -> tuple[Floats, Floats]:
        (below, above), (flat_below, flat_above) = measured.ends(level), flat.ends(level)
        return np.where(whole, flat_below, below), np.where(whole, flat_above, above)

    return ErrorModel(
        np.where(whole, flat.cells, measured.cells),
        np.where(within_groups(sizes), flat.shared, measured.shared),
        np.where(whole, flat.alone, measured.alone),
        ends,
        flat.between,
    )
