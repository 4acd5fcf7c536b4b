"""Ticks and running totals combined exactly, and then shrunk like ticks alone."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import NoiseLaw, TicksAndTotalsLaw
from sparsedp.recovery.shrinkage.shrink import shrink
from sparsedp.recovery.solution import Solution, Status
from sparsedp.recovery.ticks_and_totals.fusion import fuse_totals
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.running_totals import TicksAndTotals


def fused(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The best linear unbiased estimate of the ticks from both; nothing is shrunk."""
    ticks, _ = _fuse(*_checked("fused", sensing, law), values)
    return Solution(ticks, Status.DIRECT, {})


def fused_shrinkage(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The same, and then shrunk, with the noise that is left on every scale."""
    layout, laws = _checked("fused_shrinkage", sensing, law)
    ticks, level_variance = _fuse(layout, laws, values)
    return shrink(ticks, laws.ticks, level_variance)


def _checked(name: str, sensing: Sensing, law: NoiseLaw) -> tuple[TicksAndTotals, TicksAndTotalsLaw]:
    if not isinstance(sensing, TicksAndTotals) or not isinstance(law, TicksAndTotalsLaw):
        raise InvalidInput("recovery", repr(name), "it needs ticks and running totals")
    return sensing, law


def _fuse(sensing: TicksAndTotals, law: TicksAndTotalsLaw, values: Integers) -> tuple[Floats, Floats]:
    """The ticks, and the noise that is left in them on every level.

    Totals come every e ticks, e a power of two: they correct the sums of blocks of e ticks, evenly within each.
    """
    ticks = values[: sensing.n].astype(np.float64)
    every, blocks = sensing.every, sensing.totals
    levels = (sensing.n - 1).bit_length()
    if blocks == 0:
        return ticks, np.full(levels, law.ticks.variance)
    complete = ticks[: blocks * every]
    sums = complete.reshape(blocks, every).sum(axis=1)
    best = fuse_totals(
        sums,
        values[sensing.n :].astype(np.float64),
        tick_variance=law.ticks.variance * every,
        noise_term_variance=law.totals.term.variance,
        levels=law.totals.levels,
    )
    complete += np.repeat((best.ticks - sums) / every, every)
    return ticks, _by_level(best.level_variance, every, levels, law.ticks.variance)


def _by_level(of_blocks: Floats, every: int, levels: int, tick_variance: float) -> Floats:
    """Noise left in an orthonormal Haar detail of the ticks: as before inside a block, and the blocks' above it."""
    inside = every.bit_length() - 1
    variances = np.full(levels, tick_variance)
    above = of_blocks[: max(levels - inside, 0)] / every
    variances[inside : inside + len(above)] = above
    return variances
