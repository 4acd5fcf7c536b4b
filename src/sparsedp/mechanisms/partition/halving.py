"""With which chance a group of cells is halved, by how uneven it is: exact fractions.

A group's score is its unevenness, less a `decay` for every halving above it, and 0 at least. At score 0 the chance is a
quarter, at one decay a half, then it nears 1 as 1 − ½·e^(−RATE·(score/decay − 1)). Between 0 and one decay it rises as
steeply as the proof allows (`private_tree.md`). In between the knots of the table it is a straight line.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.noise.coins import ONE, Chances

KNOTS = 64
"""Of the table, a decay."""

DECAYS = 16
"""Beyond this many decays the chance does not rise any more: less than a millionth is missing to 1."""

LEAST_ODDS = 4
"""A group that is not uneven is halved once in so many times: seldom enough that halving it again and again ends."""

RATE = Decimal("1.06")
"""As steep as leaves may be without costing more than halvings do."""

COST = Fraction(7, 5)
"""Of a change by 1, in units of 1/decay: proven in `private_tree.md`, from this very table."""

_EXACT = Context(prec=50, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, clamp=0, flags=[], traps=[])
_SPLIT = 31


@lru_cache(maxsize=1)
def chances() -> tuple[int, ...]:
    """The chance of halving at every knot, in units of 1/ONE, the knots being decay/KNOTS apart.

    By decimal arithmetic, which is the same on every machine; what the table costs is found from its whole numbers.
    """
    last = DECAYS * KNOTS
    half = Decimal("0.5")
    with localcontext(_EXACT):
        above = {knot: 1 - half * (RATE * (KNOTS - knot) / KNOTS).exp() for knot in range(KNOTS, last + 1)}
        below = []
        for knot in range(KNOTS):
            chance = half * (Decimal(LEAST_ODDS).ln() * (knot - KNOTS) / KNOTS).exp()
            # What the nodes one, two, … decays above may cost, this one may not.
            for higher in range(knot + KNOTS, last, KNOTS):
                chance *= above[(higher // KNOTS + 1) * KNOTS] / above[higher]
            below.append(chance)
        return tuple(int(chance * ONE) for chance in [*below, *above.values()])


def decay_for(distance: int, epsilon: Fraction) -> int:
    """The least whole decay with which the tree is ε-private for neighbours at that distance: COST·distance/ε."""
    exact = COST * distance / epsilon
    return max(1, -(-exact.numerator // exact.denominator))


def chances_of(scores: Integers, decay: int) -> Chances:
    """For every score ≥ 0 the exact chance that the group is halved."""
    table = np.array(chances(), np.int64)
    if decay > 1 << _SPLIT:
        exact = [_chance_of(int(score), decay) for score in scores]
        whole, left = (np.array(parts, np.int64) for parts in zip(*exact, strict=True))
        return Chances(whole, left, decay)
    knot, part = np.divmod(np.minimum(scores, DECAYS * decay) * KNOTS, decay)
    step = np.append(np.diff(table), 0)[knot]
    # step·part/decay, without leaving 64 bits: the upper and the lower half of `step` by themselves.
    upper, carried = np.divmod((step >> _SPLIT) * part, decay)
    lower, rest = np.divmod((carried << _SPLIT) + (step & ((1 << _SPLIT) - 1)) * part, decay)
    return Chances(table[knot] + (upper << _SPLIT) + lower, rest, decay)


def _chance_of(score: int, decay: int) -> tuple[int, int]:
    """The same for one score and any decay."""
    table = chances()
    knot, part = divmod(min(score, DECAYS * decay) * KNOTS, decay)
    step = table[knot + 1] - table[knot] if knot < DECAYS * KNOTS else 0
    whole, rest = divmod(step * part, decay)
    return table[knot] + whole, rest
