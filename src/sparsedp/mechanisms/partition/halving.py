"""With which chance a group of cells is halved, by how uneven it is: exact fractions, and coins of these chances.

A group's score is its unevenness, less a `decay` for every halving above it, and 0 at least. At score 0 the chance is a
quarter, at one decay a half, then it nears 1 as 1 − ½·e^(−RATE·(score/decay − 1)). Between 0 and one decay it rises as
steeply as the proof allows (`private_tree.md`). In between the knots of the table it is a straight line.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Integers
from sparsedp.noise.bernoulli import bernoulli
from sparsedp.noise.probability import Rational
from sparsedp.noise.source import RandomSource

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

ONE_BITS = 62
ONE = 1 << ONE_BITS
"""Chances of the table are whole multiples of 1/ONE."""

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


def halved(scores: Integers, decay: int, source: RandomSource) -> npt.NDArray[np.bool_]:
    """For every score ≥ 0 a coin of its exact chance: whether the group is halved."""
    words = np.zeros(len(scores), np.uint64)
    whole, rest = _chances_of(scores, decay)
    try:
        with source.draw() as stream:
            stream.fill(words)
            words >>= np.uint64(64 - ONE_BITS)
            # The first bit is turned: a source of ones, whose noise is zero, halves what is halved more often than not.
            words ^= np.uint64(ONE >> 1)
            drawn = words.view(np.int64)
            fell = drawn < whole
            for tied in np.flatnonzero(drawn == whole):
                # The coin goes on where its first digits are those of the chance.
                fell[tied] = bernoulli(Rational(Fraction(int(rest[tied]), decay)), stream)
    finally:
        words.fill(0)
    return fell


def _chances_of(scores: Integers, decay: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Whole units of 1/ONE, and the rest in units of 1/(ONE·decay): together the exact chance of each score."""
    table = np.array(chances(), np.int64)
    if decay > 1 << _SPLIT:
        exact = [_chance_of(int(score), decay) for score in scores]
        return np.array([whole for whole, _ in exact], np.int64), np.array([rest for _, rest in exact], np.int64)
    knot, part = np.divmod(np.minimum(scores, DECAYS * decay) * KNOTS, decay)
    step = np.append(np.diff(table), 0)[knot]
    # step·part/decay, without leaving 64 bits: the upper and the lower half of `step` by themselves.
    upper, carried = np.divmod((step >> _SPLIT) * part, decay)
    lower, rest = np.divmod((carried << _SPLIT) + (step & ((1 << _SPLIT) - 1)) * part, decay)
    return table[knot] + (upper << _SPLIT) + lower, rest


def _chance_of(score: int, decay: int) -> tuple[int, int]:
    """The same for one score and any decay."""
    table = chances()
    knot, part = divmod(min(score, DECAYS * decay) * KNOTS, decay)
    step = table[knot + 1] - table[knot] if knot < DECAYS * KNOTS else 0
    whole, rest = divmod(step * part, decay)
    return table[knot] + whole, rest
