"""Empirical-Bayes shrinkage of a row in the translation-invariant Haar frame (shrinkage.md)."""

from __future__ import annotations

from functools import partial
from math import isfinite, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.estimation.shrinkage._chunks import Chunks, chunks_of
from sparsedp.estimation.shrinkage._row_contrasts import (
    BLOCK,
    coefficients,
    leverage,
    mirror,
    mirrored_sums,
    windows,
    zero_of,
)
from sparsedp.estimation.shrinkage._row_levels import (
    BENDS,
    CONTRASTS,
    cells_from_gaps,
    count_magnitudes,
    count_odds,
    count_windows,
    narrow_windows,
    remove_from_level,
    remove_from_windows,
)
from sparsedp.estimation.shrinkage.mixture_prior import (
    CLASSES,
    GAUSSIAN_FROM,
    UNKNOWN,
    Evidence,
    LevelPrior,
    Population,
    gap_deviations,
    noise_nodes,
    removed_share,
    scepticism,
    smooth_chances,
    vague_weights,
    variance_shape,
    worth_of,
)
from sparsedp.jit import kernel
from sparsedp.laws import IndependentLaw
from sparsedp.progress import advance
from sparsedp.solution import Solution, Status

# Between a frame of cells and the frame of their pairs: a coarse level needs no more than a few shifts a width.
#
# Windows are known around the gaps between pairs, every second gap of the cells. The mean of a window around a gap c
# between two of those is the mean of its neighbours' plus what the cells at its two edges differ by from the cells next
# to them: (D(c + half) − D(c − half))/width, D(g) being the contrast of the two cells at gap g, as (left − right)/2.
# That holds for the noise in them as for the cells themselves. D is taken off by the prior of its own, fine, level; so
# if all the noise is removed from the windows around every second gap and from D, it is from those in between too.


@kernel
def pair_sums(sums: Floats, n: int, pairs: int, margin: int) -> Floats:
    """The mirrored sums of pairs of the n cells, with those beyond the end that the sums know of if there are more."""
    zero = zero_of(sums, n)
    out = np.empty(pairs + 1 + 2 * margin)
    for i in range(pairs + 1):
        out[margin + i] = sums[zero + 2 * i]
    mirror(out, margin)
    return out


@kernel
def remove_from_pairs(
    sums: Floats, n: int, centre: float, deviations: Floats, tables: Floats, out: Floats, start: int, stop: int
) -> None:
    """The noise in the contrast of the two cells of each pair: `out[i]` at gap 2i + 1, start ≤ 2i + 1 < stop."""
    contrasts, bends, classes = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    unit = deviations[0] * sqrt(0.5)
    for begin in range(start, stop, BLOCK):
        end = min(begin + BLOCK, stop)
        coefficients(sums, n, centre, 1, deviations, begin, end, contrasts, bends, classes)
        for gap in range(begin + 1, end, 2):
            value = contrasts[gap - begin]
            share = removed_share(tables[classes[gap - begin]], value)
            out[gap // 2] = share * value * unit * sqrt(leverage(gap, n, 1))


@kernel
def between_pairs(means: Floats, details: Floats, level: int, n: int, out: Floats, start: int, stop: int) -> None:
    """Noise in the windows of 2^level cells around each gap of n cells, from that around the gaps between pairs.

    `means` are in units of a pair's sum, `out` in those of a cell; `details` are those of `remove_from_pairs`.
    """
    half = 1 << (level - 1)
    for gap in range(start, stop):
        if gap % 2 == 0:
            out[gap] = 0.5 * means[gap // 2]
        else:
            edges = _mirrored(details, gap + half, n) - _mirrored(details, gap - half, n)
            out[gap] = 0.25 * (means[gap // 2] + means[gap // 2 + 1]) + edges / (1 << level)


@kernel
def _mirrored(details: Floats, gap: int, n: int) -> float:
    if gap < 0:
        return float(-details[-gap // 2])
    if gap > n:
        return float(-details[(2 * n - gap) // 2])
    return float(details[gap // 2])


# One frame of cells (or of sums of blocks of cells): its levels' priors, and the noise in them.

Weights: TypeAlias = tuple[Floats, Floats]


class Frame:
    """`sums` are the `mirrored_sums` of n cells less the `centre` of each, `variances[j − 1]` is that of an aligned
    detail of 2^j of them.
    """

    def __init__(self, sums: Floats, n: int, centre: float, variances: Floats, chunks: Chunks) -> None:
        self.sums, self.n, self.centre, self.variances, self._chunks = sums, n, centre, variances, chunks

    def deviations(self, level: int) -> Floats:
        """Of the noise in the level's details at each gap: one period, or more than one if it is short."""
        found = np.empty(max(1 << (level - 1), BLOCK))
        gap_deviations(level, self.variances, found)
        return found

    def learn(self, level: int, evidence: Evidence, finer: Weights, doubt: float) -> LevelPrior:
        """Fit a level; `finer`: the weights on the level below, of contrasts and of bends."""
        worth = worth_of(2.0**level)
        given = self.sums, self.n, self.centre, level, self.deviations(level)
        counts = worth * np.sum(self._chunks.run(partial(count_magnitudes, *given), self.n + 1), axis=0)
        own = Population.learn(counts[CONTRASTS], evidence, finer[CONTRASTS], doubt)
        if not counts[BENDS].any():
            return LevelPrior(own, Population(finer[BENDS], own.tables), np.zeros(CLASSES))
        bent = Population.learn(counts[BENDS], evidence, finer[BENDS], doubt)
        odds = self._chunks.run(partial(count_odds, *given, own.tables, bent.tables), self.n + 1)
        return LevelPrior(own, bent, smooth_chances(worth * np.sum(odds, axis=0)))

    def learn_windows(self, level: int, evidence: Evidence, finer: Floats, doubt: float) -> Population:
        """Fit the coarsest windows, whose neighbourhood are unknown and which follow no trend."""
        counts = worth_of(2.0**level) * count_windows(self._windows(level))
        return Population.learn(counts, evidence, finer[UNKNOWN:1], doubt)

    def remove_from_windows(self, level: int, prior: Population) -> Floats:
        """The noise in the means of the coarsest windows around each gap."""
        out = np.empty(self.n + 1)
        remove_from_windows(self._windows(level), level, self.deviations(level), prior.tables[0], out)
        return out

    def _windows(self, level: int) -> Floats:
        values = np.empty(self.n + 1)
        windows(self.sums, level, self.deviations(level), values)
        return values

    def remove(self, level: int, prior: LevelPrior, means: Floats) -> Floats:
        """The noise in the level's contrasts; `means`: that in the windows around each gap."""
        out = np.empty(self.n + 1)
        work = partial(
            remove_from_level, self.sums, self.n, self.centre, level, self.deviations(level),
            prior.contrasts.tables, prior.bends.tables, prior.smooth, means, out,
        )  # fmt: skip
        self._chunks.run(work, self.n + 1)
        return out

    def narrow(self, level: int, means: Floats, differences: Floats) -> Floats:
        """The noise in windows half as wide."""
        out = np.empty(self.n + 1)
        self._chunks.run(partial(narrow_windows, means, differences, level, out), self.n + 1)
        return out

    def cells(self, means: Floats, differences: Floats) -> Floats:
        """The noise in every cell, from that in level 1."""
        out = np.empty(self.n)
        self._chunks.run(partial(cells_from_gaps, means, differences, out), self.n)
        return out


# Frames of cells, of pairs, of fours …: each level is computed at a bounded number of shifts a width.

ALL_SHIFTS = 1 << 15
"""Up to this many cells every level is computed at every gap."""

COARSEST = 1 << 12
"""If there are more, blocks are doubled until there are no more blocks than this."""

FINE_LEVELS = 5
"""Levels of a frame before blocks are doubled: coarser ones are computed at 2⁵ shifts a width."""


LEARNT_LEVELS = 3
"""The same for what priors are learnt from: neighbours that overlap by more teach hardly anything new."""


class Pyramid:
    """Level 1 … `levels` of the cells − centre, and above them the coarsest windows against the mean of all."""

    def __init__(self, cells: Floats, centre: float, variances: Floats, chunks: Chunks) -> None:
        n = len(cells)
        self.levels, self._chunks, self._doubt = len(variances), chunks, scepticism(n)
        self.doublings = _doublings(n)
        whole = _whole_blocks(n, self.doublings)
        fine, coarse = 1 << (FINE_LEVELS - 1), 1 << (self.levels - self.doublings - 1)
        sums = mirrored_sums(cells, centre, max(fine, whole - n) if self.doublings else coarse)
        self._frames = [Frame(sums, n, centre, variances, chunks)]
        for doubling in range(1, self.doublings + 1):
            blocks = whole >> doubling
            sums = pair_sums(sums, n, blocks, fine if doubling < self.doublings else coarse)
            width = 2.0**doubling
            self._frames.append(Frame(sums, blocks, width * centre, width * variances[doubling:], chunks))
            n = blocks

    def _stage(self, level: int, fine: int) -> int:
        """The frame that computes a level; in it, blocks of 2^stage cells, this is the level − stage."""
        return min(max(level - fine, 0), self.doublings)

    def learn(self, cell_shape: float, fused: npt.NDArray[np.bool_]) -> tuple[list[LevelPrior], Population]:
        """Priors of all levels, from fine to coarse: the fine ones have many coefficients and teach the coarse ones.

        `cell_shape` is the `variance_shape` of the noise; where it is `fused`, it is taken for Gaussian.
        """
        gaussian = Evidence.of(*noise_nodes(GAUSSIAN_FROM))
        priors: list[LevelPrior] = []
        finer = vague_weights(), vague_weights()
        for level in range(1, self.levels + 1):
            shape = 2.0**level * cell_shape
            known = fused[level - 1] or shape >= GAUSSIAN_FROM
            evidence = gaussian if known else Evidence.of(*noise_nodes(shape))
            stage = self._stage(level, LEARNT_LEVELS)
            prior = self._frames[stage].learn(level - stage, evidence, finer, self._doubt)
            finer = prior.contrasts.weights, prior.bends.weights
            priors.append(prior)
            advance(0.5 * level / self.levels)
        stage = self.doublings
        return priors, self._frames[stage].learn_windows(self.levels - stage, evidence, finer[0], self._doubt)

    def remove(self, priors: list[LevelPrior], coarsest: Population) -> Floats:
        """The noise in every cell, from coarse to fine."""
        stage = self.doublings
        frame = self._frames[stage]
        means = frame.remove_from_windows(self.levels - stage, coarsest)
        for level in range(self.levels, 0, -1):
            if stage != self._stage(level, FINE_LEVELS):
                stage -= 1
                frame = self._frames[stage]
                means = self._between_pairs(stage, means, priors[stage])
            differences = frame.remove(level - stage, priors[level - 1], means)
            if level > 1:
                means = frame.narrow(level - stage, means, differences)
            advance(1.0 - 0.5 * level / self.levels)
        return frame.cells(means, differences)

    def _between_pairs(self, stage: int, means: Floats, prior: LevelPrior) -> Floats:
        """From the gaps of the frame of pairs to all gaps of the frame; `prior`: of the contrasts between its cells."""
        frame = self._frames[stage]
        details, out = np.empty((frame.n + 1) // 2), np.empty(frame.n + 1)
        work = partial(
            remove_from_pairs, frame.sums, frame.n, frame.centre, frame.deviations(1), prior.contrasts.tables, details
        )
        self._chunks.run(work, frame.n + 1)
        self._chunks.run(partial(between_pairs, means, details, FINE_LEVELS, frame.n, out), frame.n + 1)
        return out


def _doublings(n: int) -> int:
    doublings = 0
    while n > ALL_SHIFTS and -(-n >> doublings) > COARSEST:
        doublings += 1
    return doublings


def _whole_blocks(n: int, doublings: int) -> int:
    """How many cells the blocks cover: all are whole, so if need be the cells go on, as the mirror image.

    Then by enough for the windows that the cells' own frame takes over from that of pairs: to these, they end at n.
    """
    block = 1 << doublings
    return n if n % block == 0 else -(-(n + (1 << (FINE_LEVELS - 1))) // block) * block


# Empirical-Bayes shrinkage in the translation-invariant Haar frame: the recovery of noisy counts (shrinkage.md).


def shrink_row(observed: Floats, law: IndependentLaw, level_variance: Floats | None = None) -> Solution:
    """The counts' posterior mean, given each count plus independent noise of `law`; the total is kept.

    The cells are in order: a time series, or a histogram of an ordered quantity. `level_variance[j − 1]`, for every
    j up to ⌈log₂ n⌉, is the variance of the noise in an orthonormal Haar detail of 2^j cells, if it is not the law's;
    where it is less, the noise is taken for Gaussian.
    O(n) time beyond 2¹⁵ cells, on two threads; memory for about ten vectors of n. No constraint is imposed: cells may
    come out negative.
    """
    observed = float_vector("observed", observed, np.size(observed))
    n = len(observed)
    if n == 0 or not np.isfinite(observed).all():
        raise InvalidInput("observed", "empty or not finite", "give at least one noisy count")
    if n == 1 or law.variance == 0.0:
        return Solution(observed.copy(), Status.DIRECT, {"levels": 0, "removed": 0.0})
    levels = (2 * n).bit_length() - 1
    variances = _level_variances(n, levels, law, level_variance)
    if not isfinite(law.variance):
        return Solution(np.full(n, observed.mean()), Status.DIRECT, {"levels": 0, "removed": 1.0})
    with chunks_of(n + 1) as chunks:
        # Whole numbers stay whole, and their sums exact, if what is taken off is whole.
        pyramid = Pyramid(observed, float(round(float(observed.mean()))), variances, chunks)
        priors, coarsest = pyramid.learn(variance_shape(law), variances < law.variance)
        removed = pyramid.remove(priors, coarsest)
    removed -= removed.mean()  # the coarsest windows overlap, and each was shrunk on its own
    stats = {
        "levels": levels,
        "removed": float(np.linalg.norm(removed)) / sqrt(n * law.variance),
        "signal_share": [prior.signal_share() for prior in priors],
    }
    return Solution(observed - removed, Status.DIRECT, stats)


def _level_variances(n: int, levels: int, law: IndependentLaw, given: Floats | None) -> Floats:
    """One for each of the frame's levels; those of windows wider than the cells take the coarsest that is given."""
    if given is None:
        return np.full(levels, law.variance)
    needed = (n - 1).bit_length()
    array = np.asarray(given, np.float64)
    if array.ndim != 1 or len(array) < needed:
        raise InvalidInput("level_variance", f"of shape {array.shape}", f"give {needed} variances, finest first")
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InvalidInput("level_variance", "not positive everywhere", "give the variance of the noise on each level")
    return array[np.minimum(np.arange(levels), needed - 1)] if needed else np.full(levels, law.variance)
