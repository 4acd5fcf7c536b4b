"""Noisy ticks and noisy running totals of one series, fused: the best linear unbiased estimate, in O(t)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.recovery.ticks_and_totals.fusion_kernels import (
    EMPTY,
    GAINS,
    TICK,
    Block,
    Join,
    Segment,
    ahead_of_sums,
    increments_given,
    join,
    segment,
)
from sparsedp.validate import whole

_FAR = 1e100
"""A ratio of variances beyond which the better look is the answer to the last digit."""


@dataclass(frozen=True)
class FusedTicks:
    """The estimate of the ticks, and the noise that is left in it.

    `level_variance[j − 1]` is the variance of an orthonormal Haar detail over 2^j ticks from a multiple of 2^j on,
    averaged over the details of that size that fit (`tick_variance` if none does); `total_variance` that of the sum.
    """

    ticks: Floats
    level_variance: Floats
    total_variance: float


def fuse_totals(
    ticks: Floats, totals: Floats, *, tick_variance: float, noise_term_variance: float, levels: int
) -> FusedTicks:
    """Generalised least squares for the series x, from two looks at it (model and derivation: `fusion.md`).

    `ticks` are x plus independent noise. `totals` are the running totals of x plus the noise of a continual counter:
    one term for ever and, for every l < levels, one for each segment of 2^l ticks; all independent and alike.
    No unbiased linear estimate of any sum of ticks has less variance. Ticks and totals that agree are left as they are.
    """
    if np.size(ticks) == 0:
        raise InvalidInput("ticks", "empty", "give at least one tick")
    ticks = float_vector("ticks", ticks, np.size(ticks))
    totals = float_vector("totals", totals, len(ticks))
    covered = 2 ** whole("levels", levels, least=0, most=62)
    if len(ticks) > covered:
        raise InvalidInput("levels", f"{levels}", f"{len(ticks)} ticks need at least {(len(ticks) - 1).bit_length()}")
    for argument, variance in (("tick_variance", tick_variance), ("noise_term_variance", noise_term_variance)):
        if not 0.0 <= variance < inf:
            raise InvalidInput(argument, f"{variance!r}", "give a finite number, zero or more")
    noise = min(max(noise_term_variance / tick_variance, 1.0 / _FAR), _FAR) if tick_variance > 0.0 else _FAR

    joins, root = _joins(len(ticks), noise)
    # The segments that hold all the ticks cannot be told from the term that is there for ever.
    around = noise * (1 + levels - len(joins))
    root_shrink = 1.0 / (1.0 + around * root.weight)
    gains = np.array([[pair.gains() for pair in pairs] for pairs in joins]).reshape(len(joins), 2, GAINS)
    increments = increments_given(ahead_of_sums(totals, ticks), gains, root_shrink)
    open_root = np.diag([around * root_shrink, root.spread])
    total = root.spread + root.follow * (root.follow * around * root_shrink)
    return FusedTicks(
        ticks - increments, tick_variance * _detail_variances(len(ticks), joins, open_root), tick_variance * total
    )


def _joins(ticks: int, noise: float) -> tuple[list[tuple[Join, Join]], Block]:
    """For each level, how two full blocks join and how its last blocks do; and the block of all ticks."""
    full = last = TICK
    joins = []
    blocks = ticks
    while blocks > 1:
        whole_segment, last_segment = segment(full, noise), segment(last, noise)
        both = join(whole_segment, whole_segment)
        end = join(last_segment, EMPTY) if blocks % 2 else join(whole_segment, last_segment)
        joins.append((both, end))
        full, last = both.block, end.block
        blocks = (blocks + 1) // 2
    return joins, last


def _detail_variances(ticks: int, joins: list[tuple[Join, Join]], root: Floats) -> Floats:
    """Variances in units of the tick's; `root` is the covariance of (ζ, ξ) in the block of all ticks.

    Children's covariances are affine in their parent's, so the mean over the full blocks of a level gives the next.
    """
    variances = np.ones(len(joins))
    fits = ticks >> len(joins)
    full, cut = (root, None) if fits else (np.zeros((2, 2)), root)
    for level in range(len(joins) - 1, -1, -1):
        both, end = joins[level]
        if fits:
            variances[level] = _detail_variance(both, full) / 2.0 ** (level + 1)
        full = fits * (_left(both, full) + _right(both, full))
        fits *= 2
        if cut is not None:
            # Of the cut block's children the right one is never full, and there is one only where the left one is.
            left = _left(end, cut)
            if ticks >> level > fits:
                full, fits = full + left, fits + 1
                cut = _right(end, cut) if ticks % 2**level else None
            else:
                cut = left
        full = full / fits
    return variances


def _detail_variance(pair: Join, covariance: Floats) -> float:
    """Variance of left sum − right sum of two full blocks."""
    a, g, _, _ = pair.left.outside
    row = np.array([a + g * (pair.learn - a * pair.forget), pair.left_part * (1.0 + a) - pair.right_part])
    return float(row @ covariance @ row + 4.0 * pair.doubt)


def _left(pair: Join, covariance: Floats) -> Floats:
    g = pair.left.outside.keep
    split = np.array([[1.0, 0.0], [pair.learn * g, pair.left_part]])
    return _inside(pair.left, split @ covariance @ split.T + pair.doubt * np.outer((0.0, 1.0), (0.0, 1.0)))


def _right(pair: Join, covariance: Floats) -> Floats:
    g, g_right = pair.left.outside.keep, pair.right.outside.keep
    split = np.array([[pair.forget * g, -pair.left_part], [0.0, pair.right_part]])
    return _inside(pair.right, split @ covariance @ split.T + pair.doubt * np.outer((1.0, g_right), (1.0, g_right)))


def _inside(part: Segment, covariance: Floats) -> Floats:
    inward = np.array([[part.shrink, part.pull], [0.0, part.rest]])
    own = np.array([1.0, -part.inside.follow])
    return np.asarray(inward @ covariance @ inward.T + part.doubt * np.outer(own, own), np.float64)
