"""What blocks of ticks know of their noise, and the sweeps that share it: up the dyadic tree and down again.

The letters are those of `fusion.md`: seen from inside, a block [a, b) knows the rest of the series by
r = (noises of the segments around it) − (tick noise before it), and the rest knows it by Δ = its ticks' noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel


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
