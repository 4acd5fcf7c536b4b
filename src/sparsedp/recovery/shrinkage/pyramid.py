"""Frames of cells, of pairs, of fours …: each level is computed at a bounded number of shifts a width."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.progress import advance
from sparsedp.recovery.shrinkage.block_seam import between_pairs, pair_sums, remove_from_pairs
from sparsedp.recovery.shrinkage.chunks import Chunks
from sparsedp.recovery.shrinkage.coefficient_noise import GAUSSIAN_FROM, noise_nodes
from sparsedp.recovery.shrinkage.frame import Frame
from sparsedp.recovery.shrinkage.gap_contrasts import mirrored_sums
from sparsedp.recovery.shrinkage.level_prior import LevelPrior, Population, scepticism, vague_weights
from sparsedp.recovery.shrinkage.scale_mixture import Evidence

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
