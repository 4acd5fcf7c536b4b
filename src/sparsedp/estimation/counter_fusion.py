"""Noisy ticks and a continual counter's totals of them: least squares from both, in O(t) (counter_fusion.md)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from sparsedp.arrays import Floats, Ints, float_vector
from sparsedp.errors import InvalidInput
from sparsedp.estimation.errors.haar_details import details
from sparsedp.estimation.least_squares import Consistent, Layer, drawn_noise, whole_numbers
from sparsedp.jit import kernel
from sparsedp.laws import LayersLaw, TicksAndTotalsLaw
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.validate import whole

# What blocks of ticks know of their noise, and the sweeps that share it: up the dyadic tree and down again.
#
# The letters are those of `counter_fusion.md`: seen from inside, a block [a, b) knows the rest of the series by
# r = (noises of the segments around it) − (tick noise before it), and the rest knows it by Δ = its ticks' noise.


class Block(NamedTuple):
    """r is `centre` up to precision `weight`; given r, Δ is `offset` + follow·(r − centre) up to variance `spread`.

    These four do not depend on the data, so all blocks of a size share them; tick noise has variance 1. No figure is
    ever the difference of two others: `keep` = 1 − follow is carried along for that.
    """

    follow: float
    keep: float
    spread: float
    weight: float


class Segment(NamedTuple):
    """A block behind the noise of its own segment: r inside = r outside + noise.

    With (ζ, ξ) = (r − centre, Δ − its mean given r) outside, inside they are (shrink·ζ + pull·ξ, rest·ξ) on average
    and the first has variance `doubt` around that.
    """

    inside: Block
    outside: Block
    shrink: float
    pull: float
    rest: float
    doubt: float


TICK = Block(1.0, 0.0, 0.0, 1.0)
"""One tick: d = r − Δ exactly, and Δ has variance 1."""

_NOTHING = Block(0.0, 1.0, 0.0, 0.0)
EMPTY = Segment(_NOTHING, _NOTHING, 1.0, 0.0, 0.0, 0.0)
"""No ticks: what lies beyond the last one."""


def segment(inside: Block, noise: float) -> Segment:
    """The block behind noise of that variance."""
    shrink = 1.0 / (1.0 + noise * inside.weight)
    left_open = noise * shrink
    spread = inside.spread + inside.follow * (inside.follow * left_open)
    rest = inside.spread / spread
    keep = (inside.keep + noise * inside.weight) * shrink
    outside = Block(inside.follow * shrink, keep, spread, inside.weight * shrink)
    return Segment(inside, outside, shrink, inside.follow * left_open / spread, rest, left_open * rest)


class Join(NamedTuple):
    """Two neighbours as one block. The gains act on u = what the right one's centre has over the left one's forecast.

    centre = left centre + shift·u, offset = both offsets + lift·u; and going down, see `_split`.
    """

    block: Block
    left: Segment
    right: Segment
    shift: float
    lift: float
    surprise: float
    learn: float
    forget: float
    left_part: float
    right_part: float
    doubt: float

    def gains(self) -> tuple[float, ...]:
        """What the sweeps need, in their order."""
        left, right = self.left, self.right
        return (
            *(self.shift, self.lift, self.surprise, left.outside.keep, self.learn, self.forget),
            *(self.left_part, self.right_part),
            *(left.shrink, left.pull, left.rest, right.shrink, right.pull, right.rest),
        )


GAINS = 14


def join(left: Segment, right: Segment) -> Join:
    """The left block, of at least one tick, and the one after it."""
    (a, g, c, q), (a_right, g_right, c_right, q_right) = left.outside, right.outside
    forget = 1.0 / (1.0 + c * q_right)
    learn = c * q_right * forget
    weight = q + g * g * q_right * forget
    spread = c_right + g_right * g_right * c * forget
    block = Block(a_right + g_right * (a + learn * g), g * g_right * forget, spread, weight)
    shift = g * q_right * forget / weight
    surprise = q / weight
    right_part = c_right / spread
    return Join(
        block=block,
        left=left,
        right=right,
        shift=shift,
        lift=(a * g_right + a_right) * shift - g_right * learn * surprise - a_right,
        surprise=surprise,
        learn=learn,
        forget=forget,
        left_part=g_right * (c * forget / spread),
        right_part=right_part,
        doubt=c * forget * right_part,
    )


@kernel
def increments_given(differences: Floats, joins: Floats, root_shrink: float) -> Floats:
    """The mean of every tick's noise given all `differences` d, in two sweeps and O(t).

    `joins[l, 0]` are the gains of two full blocks of 2^l ticks, `joins[l, 1]` those of the last pair of that level,
    which may be cut short. The root's r is its centre times 1 − root_shrink.
    """
    centre, offset = differences.copy(), np.zeros(len(differences))
    innovations = np.empty(len(differences))
    levels = len(joins)
    used = 0
    blocks = len(differences)
    for level in range(levels):
        pairs = blocks // 2
        u = innovations[used : used + pairs]
        last = (blocks - 1) // 2
        _gather(centre, offset, u, 0, last, joins[level, 0])
        if pairs > last:
            _gather(centre, offset, u, last, pairs, joins[level, 1])
        else:
            centre[last], offset[last] = centre[blocks - 1], offset[blocks - 1]
        used += pairs
        blocks = last + 1
    zeta, xi = centre, offset
    zeta[0], xi[0] = -root_shrink * centre[0], 0.0
    for level in range(levels - 1, -1, -1):
        blocks = (len(differences) - 1 >> level) + 1
        pairs = blocks // 2
        used -= pairs
        u = innovations[used : used + pairs]
        last = (blocks - 1) // 2
        if pairs > last:
            _split(zeta, xi, u, last, pairs, joins[level, 1])
        else:
            shrink, pull, rest = joins[level, 1, 8:11]
            zeta[blocks - 1], xi[blocks - 1] = shrink * zeta[last] + pull * xi[last], rest * xi[last]
        _split(zeta, xi, u, 0, last, joins[level, 0])
    return zeta


@kernel
def _gather(centre: Floats, offset: Floats, u: Floats, start: int, stop: int, gains: Floats) -> None:
    """Blocks 2p and 2p + 1 become block p, in place."""
    shift, lift = gains[0], gains[1]
    for p in range(start, stop):
        u[p] = centre[2 * p + 1] - centre[2 * p] + offset[2 * p]
        centre[p] = centre[2 * p] + shift * u[p]
        offset[p] = offset[2 * p] + offset[2 * p + 1] + lift * u[p]


@kernel
def _split(zeta: Floats, xi: Floats, u: Floats, start: int, stop: int, gains: Floats) -> None:
    """(ζ, ξ) of blocks 2p and 2p + 1, inside their own noise, from those of block p; in place, so from the last p."""
    shift, _, surprise, keep, learn, forget, left_part, right_part = gains[:8]
    left_shrink, left_pull, left_rest, right_shrink, right_pull, right_rest = gains[8:]
    for p in range(stop - 1, start - 1, -1):
        z, x = zeta[p], xi[p]
        news = surprise * u[p] - keep * z
        left_z = z + shift * u[p]
        left_x = left_part * x - learn * news
        right_z = -(forget * news + left_part * x)
        right_x = right_part * x
        zeta[2 * p] = left_shrink * left_z + left_pull * left_x
        xi[2 * p] = left_rest * left_x
        zeta[2 * p + 1] = right_shrink * right_z + right_pull * right_x
        xi[2 * p + 1] = right_rest * right_x


@kernel
def ahead_of_sums(totals: Floats, ticks: Floats) -> Floats:
    """totals − cumsum(ticks), the sum carried in two floats: totals may be 10¹² times their differences."""
    difference = np.empty(len(totals))
    high = 0.0
    low = 0.0
    for i in range(len(totals)):
        grown = high + ticks[i]
        part = grown - high
        low += (high - (grown - part)) + (ticks[i] - part)
        high = grown
        difference[i] = (totals[i] - high) - low
    return difference


# Noisy ticks and noisy running totals of one series, fused: the best linear unbiased estimate, in O(t).

_FAR = 1e100
"""A ratio of variances beyond which the better measurement is the answer to the last digit."""


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
    """Generalised least squares for the series x, measured twice (model and derivation: `counter_fusion.md`).

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


# Noisy ticks and a continual counter's totals of them, as the estimator needs to know them.


@dataclass(frozen=True)
class CellsAndTotals:
    """Cells in a row, each with noise of its own, and behind them the counter's totals after every e of them.

    Totals come every e ticks, e a power of two: they correct the sums of blocks of e ticks, evenly within each.
    """

    noise: TicksAndTotalsLaw
    every: int

    @property
    def law(self) -> LayersLaw:
        """Of the cells' own noise."""
        return LayersLaw((self.noise.ticks,))

    def consistent(self, sensing: GroupSums, values: Ints) -> Consistent:
        """Least squares from both (`counter_fusion.md`)."""
        n, every, of_tick = sensing.n, self.every, self.noise.ticks.variance
        blocks = n // every
        ticks = values[:n].astype(np.float64)
        by_level, of_total = np.full(max(n - 1, 1).bit_length(), of_tick), n * of_tick
        if blocks:
            complete = ticks[: blocks * every]
            sums = complete.reshape(blocks, every).sum(axis=1)
            best = fuse_totals(
                sums,
                values[n:].astype(np.float64),
                tick_variance=of_tick * every,
                noise_term_variance=self.noise.totals.term.variance,
                levels=self.noise.totals.levels,
            )
            complete += np.repeat((best.ticks - sums) / every, every)
            # A detail within a block has the ticks' own noise, one of whole blocks theirs.
            inside = every.bit_length() - 1
            above = best.level_variance[: max(len(by_level) - inside, 0)] / every
            by_level[inside : inside + len(above)] = above
            of_total = best.total_variance + (n - blocks * every) * of_tick
        return Consistent([Layer(np.arange(n), ticks, np.full(n, of_tick))], by_level, of_total / n)

    def again(self, sensing: GroupSums, truth: Floats, generator: np.random.Generator) -> Ints:
        """The counter's noise is one term for ever, and one for every segment of 2^l totals that holds the present."""
        ticks = truth + drawn_noise(self.noise.ticks, sensing.n, generator)
        totals = np.cumsum(truth)[self.every - 1 :: self.every]
        term, place = self.noise.totals.term, np.arange(len(totals))
        totals = totals + drawn_noise(term, 1, generator)
        for level in range(self.noise.totals.levels):
            segment = place >> level
            totals += drawn_noise(term, int(segment[-1]) + 1 if len(place) else 0, generator)[segment]
        return whole_numbers(np.concatenate((ticks, totals)))

    def noise_of_sum(self, sensing: GroupSums, weights: Floats, of_details: Floats) -> float:
        """By details, whose noise is nearly uncorrelated: that of each level is its mean."""
        return float(details(weights) ** 2 @ of_details)
