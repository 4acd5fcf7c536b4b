"""A parametric bootstrap: what errors the same recovery makes where the truth is known, because it was made up.

The made-up truth is the estimate itself, with the scatter that counts of independent records have around it (Poisson).
It is measured by the same sums with fresh noise of the same law, and recovered in the same way. Of a long row, blocks
are taken. Public randomness from a fixed seed: this is post-processing, and the same synopsis has the same errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.progress import part
from sparsedp.recovery.layers.detail_variances import noise_of_details
from sparsedp.sensing.cell_order import box_of
from sparsedp.sensing.group_sums import GroupSums

if TYPE_CHECKING:
    from sparsedp.recovery.layers.recover import Fit

Refit = Callable[[GroupSums, Integers], "Fit"]
"""The recovery, from sums and their values."""

SEED = 20110
ENOUGH_CELLS, MOST_RUNS = 2**13, 8

LONG_ROW, BLOCK, BLOCKS = 2**18, 2**13, 8
"""Of a longer row, so many blocks of so many cells are recovered again."""

WHOLE_UP_TO = 2.0**30
"""Larger counts scatter like a normal variable."""


@dataclass(frozen=True)
class Resampled:
    """One row a run: the estimates, how far each was above the made-up truth, and how far below the fused value.

    `noise`: the variance in every detail of such a row. `alone`: which of its cells were measured by themselves.
    """

    estimates: Floats
    errors: Floats
    rests: Floats
    noise: Floats
    alone: npt.NDArray[np.bool_]


def resample(fit: Fit, refit: Refit, least_runs: int = 1) -> Resampled:
    """So many runs that there are enough cells to learn from; one, where the row is long."""
    generator = np.random.default_rng(SEED)
    sensing, intensities = fit.sensing, fit.estimate
    if sensing.n > LONG_ROW and sensing.run == sensing.n:
        sensing, intensities = _blocks(sensing, intensities)
    runs = min(MOST_RUNS, max(least_runs, ENOUGH_CELLS // sensing.n))
    estimates, errors, rests = (np.empty((runs, sensing.n)) for _ in range(3))
    for run in range(runs):
        truth = scattered(intensities, generator)
        with part((run + 1) / runs):
            again = refit(sensing, fit.measured.again(sensing, truth, generator))
        estimates[run] = again.estimate
        errors[run] = again.estimate - truth
        rests[run] = again.fused - again.estimate
    alone = alone_in_groups(again.layers[0].starts, sensing.n)
    return Resampled(estimates, errors, rests, noise_of_details(again), alone)


def alone_in_groups(starts: Integers, n: int) -> npt.NDArray[np.bool_]:
    """Which cells are groups by themselves."""
    sizes = np.diff(starts, append=n)
    return np.asarray(np.repeat(sizes == 1, sizes))


def scattered(intensities: Floats, generator: np.random.Generator) -> Floats:
    """Counts with these means: Poisson; where a mean is negative, the opposite of Poisson."""
    size = np.abs(intensities)
    few = size <= WHOLE_UP_TO
    drawn = generator.poisson(np.where(few, size, 0.0)).astype(np.float64)
    if not few.all():
        drawn[~few] = np.rint(generator.normal(size[~few], np.sqrt(size[~few])))
    return np.asarray(np.copysign(drawn, intensities))


def _blocks(sensing: GroupSums, row: Floats) -> tuple[GroupSums, Floats]:
    """Blocks of the row one after the other, and the same sums of them; groups are cut at their ends.

    The row's last block may be shorter. (Not of a table: there blocks are boxes, and what is left at its end is none.)
    """
    blocks = sensing.n // BLOCK if sensing.is_table else -(-sensing.n // BLOCK)
    firsts = _sampled(sensing.starts[0], blocks) * BLOCK
    cells = np.concatenate([np.arange(first, min(first + BLOCK, sensing.n)) for first in firsts])
    layers: list[int | list[int]] = []
    for layer, starts in zip(sensing.groups, sensing.starts, strict=True):
        if isinstance(layer, int):
            layers.append(layer)
            continue
        cut = [
            np.unique(np.append(starts[(starts >= first) & (starts < first + BLOCK)] - first, 0)) + at * BLOCK
            for at, first in enumerate(firsts)
        ]
        firsts_of_groups = np.concatenate(cut)
        layers.append(1 if len(firsts_of_groups) == len(cells) else firsts_of_groups.tolist())
    if not sensing.is_table:
        return GroupSums(len(cells), layers), row[cells]
    # Each is a box of the table; boxes side by side here are none there, so they are told apart as unordered ones are.
    box = box_of(sensing.ordered_sides, BLOCK)
    return GroupSums(len(cells), layers, (BLOCKS, *box), (False, *(True for _ in box))), row[cells]


def _sampled(starts: Integers, blocks: int) -> Integers:
    """Which blocks to recover again: those with the most groups, as many others evenly spread, in their order.

    What was measured finely in few places has to be among them.
    """
    groups = np.bincount(starts // BLOCK, minlength=blocks)[:blocks]
    finest = np.argsort(-groups, kind="stable")[: BLOCKS // 2]
    others = np.setdiff1d(np.arange(blocks), finest)
    spread = others[np.linspace(0, len(others) - 1, BLOCKS - len(finest)).astype(np.int64)]
    return np.sort(np.concatenate([finest, spread]))
