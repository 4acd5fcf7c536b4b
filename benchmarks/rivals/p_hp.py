"""P-HPartition, from its paper (Acs, Castelluccia and Chen, ICDM 2012), to be compared with.

Half of ε finds a partition: the cells are cut in two again and again, each time where the exponential mechanism says,
by the L1 distance of the cells from the means of their parts and the noise that the parts' sums will get; and at last
the mechanism draws one of all partitions met on the way. The other half measures the parts' sums, which are spread
evenly. Tables are laid in a row along the Hilbert curve. (The authors' own code lists a partition once more for every
cut that was not made, which draws it a little more often.)

**Do not publish with it**: noise in floating point has known holes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numba
import numpy as np

from rivals.curve import along_the_curve
from sparsedp.arrays import Floats, Ints

MOST_PARTS = 2000
SENSITIVITY = 2.0
"""Of the distance, when one cell changes by 1."""


@dataclass(frozen=True)
class Php:
    """As a contender of `studies.accuracy`."""

    name: str = "P-HP"

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """All cells, in the counts' shape; of tables, square ones of a power of two only."""
        random = np.random.default_rng()
        return along_the_curve(counts, lambda row: php(row.astype(np.float64), float(epsilon), random))


def php(row: Floats, epsilon: float, random: np.random.Generator) -> Floats:
    """Every cell of a row, none below zero."""
    n, noise = len(row), 2.0 / epsilon
    cuts, costs = _cuts(row, noise, epsilon / 4.0, random)
    chosen = _drawn(-np.array(costs), epsilon / 4.0, random)
    starts = np.array([0, *sorted(cuts[:chosen])])
    sizes = np.diff(starts, append=n)
    sums = np.add.reduceat(row, starts) + random.laplace(scale=noise, size=len(starts))
    return np.repeat(np.maximum(sums / sizes, 0.0), sizes)


def _cuts(row: Floats, noise: float, epsilon: float, random: np.random.Generator) -> tuple[list[int], list[float]]:
    """Where the row was cut, one after the other, and what it cost before each cut and after the last."""
    deepest = int(np.log2(len(row)))
    cost = float(np.abs(row - row.mean()).sum()) + noise
    waiting, cuts, costs = deque([(0, len(row), 1, cost)] if deepest > 1 else []), list[int](), [cost]
    while waiting and len(cuts) < MOST_PARTS:
        start, end, depth, own = waiting.popleft()
        lower, upper = distances_of_halves(row[start:end])
        gains = np.concatenate([[0.0], own - lower - upper - 2.0 * noise])
        place = _drawn(gains, epsilon / deepest, random)
        if place == 0:
            continue
        cuts.append(start + place)
        cost -= float(gains[place])
        costs.append(cost)
        halves = ((start, start + place, lower[place - 1]), (start + place, end, upper[place - 1]))
        for first, last, distance in halves:
            if last - first > 1 and depth + 1 < deepest:
                waiting.append((first, last, depth + 1, float(distance) + noise))
    return cuts, costs


def _drawn(scores: Floats, epsilon: float, random: np.random.Generator) -> int:
    """Of the exponential mechanism: which of some scores, the larger the likelier."""
    chances = np.cumsum(np.exp((scores - scores.max()) * (epsilon / (2.0 * SENSITIVITY))))
    return int(np.searchsorted(chances, random.random() * chances[-1]))


@numba.njit(cache=True)
def distances_of_halves(row: Floats) -> tuple[Floats, Floats]:
    """The L1 distances from their means of the cells before every place but the first, and from there on."""
    n = len(row)
    lower, upper = np.zeros(n - 1), np.zeros(n - 1)
    total, before = row.sum(), 0.0
    for place in range(1, n):
        before += row[place - 1]
        first, second = before / place, (total - before) / (n - place)
        for i in range(place):
            lower[place - 1] += abs(row[i] - first)
        for i in range(place, n):
            upper[place - 1] += abs(row[i] - second)
    return lower, upper
