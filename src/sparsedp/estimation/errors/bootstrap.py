"""The parametric bootstrap: an estimate measured and estimated again, and what is learnt from its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.errors.haar_details import details, level_slices, noise_of_details
from sparsedp.estimation.least_squares import WHOLE_UP_TO
from sparsedp.progress import part
from sparsedp.sensing.cell_order import box_of
from sparsedp.sensing.group_sums import GroupSums

if TYPE_CHECKING:
    from sparsedp.estimation.estimator import Fit


# A parametric bootstrap: what errors the same recovery makes where the truth is known, because it was made up.
#
# The bootstrap sample is the estimate itself, with the scatter that counts of independent records have around it
# (Poisson). It is measured by the same sums with fresh noise of the same law, and recovered in the same way. Of a long
# row, blocks are taken. Public randomness from a fixed seed: this is post-processing, and the same synopsis has the
# same errors.

Refit = Callable[[GroupSums, Ints], "Fit"]
"""The recovery, from sums and their values."""

SEED = 20110
ENOUGH_CELLS, MOST_RUNS = 2**13, 8

LONG_ROW, BOOTSTRAP_BLOCK, BOOTSTRAP_BLOCKS = 2**18, 2**13, 8
"""Of a longer row, so many blocks of so many cells are recovered again."""


@dataclass(frozen=True)
class Resampled:
    """One row a run: the estimates, how far each was above the bootstrap sample, and how far below the fused value.

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


def alone_in_groups(starts: Ints, n: int) -> npt.NDArray[np.bool_]:
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
    blocks = sensing.n // BOOTSTRAP_BLOCK if sensing.is_table else -(-sensing.n // BOOTSTRAP_BLOCK)
    firsts = _sampled(sensing.starts[0], blocks) * BOOTSTRAP_BLOCK
    cells = np.concatenate([np.arange(first, min(first + BOOTSTRAP_BLOCK, sensing.n)) for first in firsts])
    layers: list[int | list[int]] = []
    for layer, starts in zip(sensing.groups, sensing.starts, strict=True):
        if isinstance(layer, int):
            layers.append(layer)
            continue
        within = [starts[(starts >= first) & (starts < first + BOOTSTRAP_BLOCK)] - first for first in firsts]
        cut = [np.unique(np.append(those, 0)) + at * BOOTSTRAP_BLOCK for at, those in enumerate(within)]
        firsts_of_groups = np.concatenate(cut)
        layers.append(1 if len(firsts_of_groups) == len(cells) else firsts_of_groups.tolist())
    if not sensing.is_table:
        return GroupSums(len(cells), layers), row[cells]
    # Each is a box of the table; boxes side by side here are none there, so they are told apart as unordered ones are.
    box = box_of(sensing.ordered_sides, BOOTSTRAP_BLOCK)
    return GroupSums(len(cells), layers, (BOOTSTRAP_BLOCKS, *box), (False, *(True for _ in box))), row[cells]


def _sampled(starts: Ints, blocks: int) -> Ints:
    """Which blocks to recover again: those with the most groups, as many others evenly spread, in their order.

    What was measured finely in few places has to be among them.
    """
    groups = np.bincount(starts // BOOTSTRAP_BLOCK, minlength=blocks)[:blocks]
    finest = np.argsort(-groups, kind="stable")[: BOOTSTRAP_BLOCKS // 2]
    others = np.setdiff1d(np.arange(blocks), finest)
    spread = others[np.linspace(0, len(others) - 1, BOOTSTRAP_BLOCKS - len(finest)).astype(np.int64)]
    return np.sort(np.concatenate([finest, spread]))


# Details of a kind: alike in level and in the size of their estimate. What errors have they, and what is left?

SIZES: Floats = np.array([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8])
"""Kinds end at these estimates, in deviations of the noise."""

LEVEL_COUNT, FINER_COUNT = 4.0, 8.0
"""How many details the mean of the level counts for beside those of one size; and the finer level beside the level."""


@dataclass(frozen=True)
class DetailStrata:
    """`errors`: the mean squared error of each detail of the release; `bootstrap_errors`: of those of bootstrap ones.

    `rests`: the mean square of what details like it leave over of the observed ones.
    """

    errors: Floats
    bootstrap_errors: Floats
    rests: Floats

    @classmethod
    def learn(
        cls, estimate: Floats, noise: Floats, samples: Resampled, among: npt.NDArray[np.bool_] | None = None
    ) -> DetailStrata:
        """`noise`: the variance in every detail. `among`: which bootstrap details to learn from, if not from all."""
        own = _sizes(estimate, noise)
        kinds = np.array([_sizes(row, samples.noise) for row in samples.estimates])
        counted = np.ones(len(samples.noise)) if among is None else among.astype(np.float64)
        errors = np.array([details(row) for row in samples.errors]) ** 2 / samples.noise * counted
        rests = np.array([details(row) for row in samples.rests]) ** 2 / samples.noise * counted
        found = cls(np.empty(len(noise)), np.empty(errors.shape), np.empty(len(noise)))
        found.errors[0] = found.rests[0] = noise[0]
        found.bootstrap_errors[:, 0] = samples.noise[0]
        theirs = level_slices(len(samples.noise))
        finer, left = 1.0, 1.0
        for level, span in enumerate(level_slices(len(noise))):
            # A level that the bootstrap row is too short for has no details there.
            here = theirs[level] if level < len(theirs) else slice(0, 0)
            seen = kinds[:, here]
            counts = _by_kind(seen, np.broadcast_to(counted[here], seen.shape))
            lean = FINER_COUNT if level else 1.0
            means, finer = _means(_by_kind(seen, errors[:, here]), counts, finer, lean)
            found.errors[span] = noise[span] * means[own[span]]
            found.bootstrap_errors[:, here] = samples.noise[here] * means[seen]
            means, left = _means(_by_kind(seen, rests[:, here]), counts, left, lean)
            found.rests[span] = noise[span] * means[own[span]]
        return found


def _sizes(row: Floats, noise: Floats) -> Ints:
    return np.searchsorted(SIZES, np.abs(details(row)) / np.sqrt(noise))


def _by_kind(kinds: Ints, values: Floats) -> Floats:
    return np.bincount(kinds.reshape(-1), values.reshape(-1), len(SIZES) + 1).astype(np.float64)


def _means(sums: Floats, counts: Floats, finer: float, lean: float) -> tuple[Floats, float]:
    """Means by kind, and of the whole level, which leans on the finer one."""
    level = (float(sums.sum()) + lean * finer) / (float(counts.sum()) + lean)
    return (sums + LEVEL_COUNT * level) / (counts + LEVEL_COUNT), level
