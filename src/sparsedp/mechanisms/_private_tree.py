"""Where are the cells flat? A private binary tree: a group is halved while it seems to be uneven (private_tree.md)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Ints
from sparsedp.jit import kernel
from sparsedp.noise.coins import ONE, Chances
from sparsedp.sensing.parts_of_blocks import cut_to_the_first

# How uneven groups of cells are. PRIVATE until noise is added or coins are tossed.
#
# Two measures, both whole numbers, both 0 if all cells are alike:
# - *halves*: the largest difference between the sums of the two halves of any aligned group of 2^k cells within it;
# - *excess*: by how much cells are apart within blocks of 16, the largest and the smallest, the second largest and the
#   second smallest, and so on, each pair by what it is apart beyond a `slack`.
#
# Counts of independent records scatter: the sums of halves by as little as the root of the sum, and pairs of cells by
# less than the slack where counts are small beside the noise. So even counts are seen to be even, however few they are;
# and what is uneven is seen if sums show it, or cells that stand out of the noise.
#
# When one cell changes by 1, each measure of each group that holds it changes by at most 1: a difference of two sums
# does, and the largest of several numbers if each does; one of the sorted cells of one block does, so one pair. And no
# part of a group has more of either than the whole. Cells are first cut to ±2³¹, which brings no two of them further
# apart, so that no sum can leave 64 bits.

MOST_COUNT = 2**31

BLOCK = 16
"""Cells are compared pair by pair within aligned blocks of so many, or of less within smaller groups."""

LANES = 256
"""Blocks that are sorted side by side."""


class Unevenness:
    """Of every aligned group of 2^k cells in a row: the larger of the two measures. O(n) time and memory."""

    def __init__(self, row: Ints, slack: int) -> None:
        cells = np.clip(row, -MOST_COUNT, MOST_COUNT)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(cells)])
        halves, excess, size = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64), 1
        self._of_size = {size: halves}
        while size < len(row):
            size *= 2
            halves = np.maximum(_merged(halves, np.maximum), _differences(before, size))
            excess = block_excesses(cells, size, slack) if size <= BLOCK else _merged(excess, np.add)
            self._of_size[size] = np.maximum(halves, excess)

    def of(self, groups: Ints, size: int) -> Ints:
        """Of the groups of `size` cells, a power of two, with these numbers; the last of the row may have fewer."""
        found: Ints = self._of_size[size][groups]
        return found


def _merged(parts: Ints, merge: np.ufunc) -> Ints:
    """Two by two; the last may be without a second one."""
    merged: Ints = merge.reduceat(parts, np.arange(0, len(parts), 2))
    return merged


def _differences(before: Ints, size: int) -> Ints:
    """Between the halves of every group. Where the row ends within the second half, it is compared with as many cells
    at the end of the first.
    """
    n = len(before) - 1
    middles = np.minimum(np.arange(0, n, size) + size // 2, n)
    ends = np.minimum(middles + size // 2, n)
    differences: Ints = np.abs(before[ends] - 2 * before[middles] + before[2 * middles - ends])
    return differences


def block_excesses(row: Ints, size: int, slack: int) -> Ints:
    """Of every group of `size` cells, a few, by how much pairs of its sorted cells are apart beyond `slack`; the last
    may have fewer cells.
    """
    whole = len(row) // size
    excesses = np.zeros(-(-len(row) // size), np.int64)
    _excesses(row, size, slack, sorting_network(size), excesses)
    if whole < len(excesses):
        rest = np.sort(np.clip(row[whole * size :], -MOST_COUNT, MOST_COUNT))
        pairs = len(rest) // 2
        excesses[whole] = np.maximum(rest[::-1][:pairs] - rest[:pairs] - slack, 0).sum()
    return excesses


@lru_cache(maxsize=8)
def sorting_network(size: int) -> Ints:
    """Which pairs of places to put in order, one after the other, to sort that many cells: Batcher's merge of odd and
    even places. The same steps for all counts.
    """
    pairs: list[tuple[int, int]] = []
    width = 1
    while width < size:
        step = width
        while step:
            for first in range(step % width, size - step, 2 * step):
                for place in range(first, min(first + step, size - step)):
                    if place // (2 * width) == (place + step) // (2 * width):
                        pairs.append((place, place + step))
            step //= 2
        width *= 2
    network = np.array(pairs, np.int64).reshape(-1, 2)
    network.setflags(write=False)
    return network


@kernel
def _excesses(row: Ints, size: int, slack: int, network: Ints, out: Ints) -> None:
    """Of the groups that are whole; `LANES` of them are sorted at once, so that all take the same steps."""
    whole = len(row) // size
    cells = np.empty((size, LANES), np.int64)
    for first in range(0, whole, LANES):
        lanes = min(LANES, whole - first)
        for lane in range(lanes):
            for place in range(size):
                cells[place, lane] = min(max(row[(first + lane) * size + place], -MOST_COUNT), MOST_COUNT)
        for pair in range(len(network)):
            lower, upper = cells[network[pair, 0]], cells[network[pair, 1]]
            for lane in range(lanes):
                least, most = min(lower[lane], upper[lane]), max(lower[lane], upper[lane])
                lower[lane], upper[lane] = least, most
        for place in range(size // 2):
            lower, upper = cells[place], cells[size - 1 - place]
            for lane in range(lanes):
                out[first + lane] += max(upper[lane] - lower[lane] - slack, 0)


# With which chance a group of cells is halved, by how uneven it is: exact fractions.
#
# A group's score is its unevenness, less a `decay` for every halving above it, and 0 at least. At score 0 the chance is
# a quarter, at one decay a half, then it nears 1 as 1 − ½·e^(−RATE·(score/decay − 1)). Between 0 and one decay it rises
# as steeply as the proof allows (`private_tree.md`). In between the knots of the table it is a straight line.

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


def chances_of(scores: Ints, decay: int) -> Chances:
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


# The tree itself. The idea is PrivTree's (Zhang, Xiao, Xie 2016), whose noise does not grow with the depth of the tree,
# applied to how uneven a group is instead of to its count, with coins that ask for less.

Coins = Callable[[Ints], npt.NDArray[np.bool_]]
"""For every score a coin of its own: whether the group is halved, with the chance that `chances_of` gives it."""


def flat_groups(row: Ints, slack: int, decay: int, coins: Coins, least: int = 1) -> Ints:
    """The first cells of the tree's leaves: groups of cells in a row. Groups of at most `least` cells are not halved.

    A node of depth d is halved with the chance that the score max(unevenness − d·decay, 0) has. The coins of a depth
    are tossed together. `slack`: by which cells may be apart unseen.
    """
    n = len(row)
    unevenness = Unevenness(row, slack)
    size = 1 << max(n - 1, 0).bit_length()
    nodes = np.zeros(1, np.int64)
    leaves: list[Ints] = []
    depth = 0
    while size > least:
        nodes = nodes[nodes * size < n]
        halved = coins(np.maximum(unevenness.of(nodes, size) - depth * decay, 0))
        leaves.append(nodes[~halved] * size)
        nodes = np.concatenate([2 * nodes[halved], 2 * nodes[halved] + 1])
        size //= 2
        depth += 1
        if len(nodes) == 0:
            break
    nodes = nodes[nodes * size < n]
    leaves.append(nodes * size)
    return np.sort(np.concatenate(leaves))


# What is cut further of the groups that a private tree chose: functions of these alone, so post-processing.

TOWARDS_AN_END = 3
"""Halvings towards the first or the last cell after which something is taken to be there. Even cells are halved so far
once in about 64 times, a quarter of them at each (`LEAST_ODDS`)."""


def singled(starts: Ints, n: int, most: int) -> Ints:
    """The same groups of n cells, but those of at most `most` cells taken apart into cells: post-processing."""
    return taken_apart(starts, n, np.diff(starts, append=n) <= most)


def down_to_the_ends(starts: Ints, n: int) -> Ints:
    """The same groups of n cells, but the first of them cut by halves, and the first half again, down to the first
    cell, if the tree itself went some way there; and the last of them down to the last cell: post-processing.
    """
    root = 1 << max(n - 1, 0).bit_length()
    most = root >> TOWARDS_AN_END
    last = int(starts[-1])
    if n - last <= most and last & -last <= most:  # by halves, not because the row ends there
        towards = [(n - 1) >> level << level for level in range((n - last - 1).bit_length())]
        starts = np.concatenate([starts, np.unique(np.array(towards, np.int64))])
    first = int(starts[1]) if len(starts) > 1 else root
    return starts if first > most else cut_to_the_first(starts)


def taken_apart(starts: Ints, n: int, which: npt.NDArray[np.bool_]) -> Ints:
    """The same groups of n cells, but some of them taken apart into cells."""
    parts = np.where(which, np.diff(starts, append=n), 1)
    before = np.cumsum(parts) - parts
    return np.repeat(starts - before, parts) + np.arange(int(parts.sum()))
