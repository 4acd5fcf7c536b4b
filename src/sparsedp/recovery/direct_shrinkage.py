"""Shrinkage of cells that were measured directly; with running totals, both looks are combined exactly before it."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import DiscreteLaplaceLaw, NoiseLaw, TicksAndTotalsLaw
from sparsedp.recovery.running_totals import FusedTicks, fuse_totals
from sparsedp.recovery.shrinkage import shrink
from sparsedp.recovery.solution import Solution, Status
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.direct import Direct
from sparsedp.sensing.running_totals import TicksAndTotals


def shrinkage(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """Cells measured directly, each with its own noise, shrunk."""
    if not isinstance(sensing, Direct) or not isinstance(law, DiscreteLaplaceLaw):
        raise InvalidInput("recovery", "'shrinkage'", "it needs direct sensing")
    return shrink(values.astype(np.float64), law)


def fused(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The best linear unbiased estimate of the ticks from both; nothing is shrunk."""
    return Solution(_fused("fused", sensing, values, law).ticks, Status.DIRECT, {})


def fused_shrinkage(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The same, and then shrunk, with the noise that is left on every scale."""
    best = _fused("fused_shrinkage", sensing, values, law)
    assert isinstance(law, TicksAndTotalsLaw)  # noqa: S101  # checked by `_fused`
    return shrink(best.ticks, law.ticks, best.level_variance)


def _fused(name: str, sensing: Sensing, values: Integers, law: NoiseLaw) -> FusedTicks:
    """Totals come every e ticks, e a power of two: they correct the sums of blocks of e ticks, evenly within each."""
    if not isinstance(sensing, TicksAndTotals) or not isinstance(law, TicksAndTotalsLaw):
        raise InvalidInput("recovery", repr(name), "it needs ticks and running totals")
    ticks = values[: sensing.n].astype(np.float64)
    every, blocks = sensing.every, sensing.totals
    levels = (sensing.n - 1).bit_length()
    if blocks == 0:
        return FusedTicks(ticks, np.full(levels, law.ticks.variance), sensing.n * law.ticks.variance)
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
    rest = (sensing.n - blocks * every) * law.ticks.variance
    variances = _by_level(best.level_variance, every, levels, law.ticks.variance)
    return FusedTicks(ticks, variances, best.total_variance + rest)


def _by_level(of_blocks: Floats, every: int, levels: int, tick_variance: float) -> Floats:
    """Noise left in an orthonormal Haar detail of the ticks: as before inside a block, and the blocks' above it."""
    inside = every.bit_length() - 1
    variances = np.full(levels, tick_variance)
    above = of_blocks[: max(levels - inside, 0)] / every
    variances[inside : inside + len(above)] = above
    return variances
