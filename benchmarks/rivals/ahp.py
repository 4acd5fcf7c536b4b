"""AHP, from its paper (Zhang, Chen, Xu, Meng and Xie, SDM 2014), to be compared with.

Most of ε measures every cell. What is below a threshold is taken for zero; the rest is sorted, and cut greedily into
clusters of cells that are about as high. What is left of ε measures the clusters' sums, which are spread evenly. Where
cells lie does not matter, so tables are taken as they are.

**Do not publish with it**: noise in floating point has known holes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numba
import numpy as np

from sparsedp.arrays import Floats, Ints

OF_CELLS, THRESHOLD = 0.85, 0.35
"""The share of ε for the cells, and their threshold, in ln n scales of their noise: as in the published comparison."""


@dataclass(frozen=True)
class Ahp:
    """As a contender of `studies.accuracy`."""

    name: str = "AHP"

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """All cells, in the counts' shape."""
        row = counts.reshape(-1).astype(np.float64)
        return ahp(row, float(epsilon), np.random.default_rng()).reshape(counts.shape)


def ahp(row: Floats, epsilon: float, random: np.random.Generator) -> Floats:
    """Every cell of a row."""
    n, of_cells, of_clusters = len(row), 1.0 / (OF_CELLS * epsilon), 1.0 / ((1.0 - OF_CELLS) * epsilon)
    seen = row + random.laplace(scale=of_cells, size=n)
    seen[seen <= THRESHOLD * log(n) * of_cells] = 0.0
    order = np.argsort(seen)
    starts = clusters(seen[order], 2.0 * of_clusters**2)
    sizes = np.diff(starts, append=n)
    sums = np.add.reduceat(row[order], starts) + random.laplace(scale=of_clusters, size=len(starts))
    values = np.empty(n)
    values[order] = np.repeat(sums / sizes, sizes)
    return values


@numba.njit(cache=True)
def clusters(row: Floats, variance: float) -> Ints:
    """Where clusters of sorted cells begin: a cell opens one if it would cost more in the last than it might in the
    best that begins with it. Cells cost the squares of what they are off the mean; a cluster, the variance of its own.
    """
    n = len(row)
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        sums[i + 1], squares[i + 1] = sums[i] + row[i], squares[i] + row[i] ** 2
    starts, count, first, cost = np.zeros(n, np.int64), 1, 0, variance
    for cell in range(1, n):
        size = cell + 1 - first
        joined = squares[cell + 1] - squares[first] - (sums[cell + 1] - sums[first]) ** 2 / size + variance / size
        if joined >= cost + _least_cost(row, sums, cell, variance):
            starts[count], first, cost = cell, cell, variance
            count += 1
        else:
            cost = joined
    return starts[:count].copy()


@numba.njit(cache=True)
def _least_cost(row: Floats, sums: Floats, cell: int, variance: float) -> float:
    """Of one cell in a cluster that begins with it: stops where a larger one cannot cost less."""
    n, off, noise, least = len(row), 0.0, variance, variance
    lowest = variance / (n - cell + 1) ** 2
    for end in range(cell + 2, n + 1):
        size = end - cell
        farther = (row[cell] - (sums[end] - sums[cell]) / size) ** 2
        if farther - off >= noise - lowest:
            break
        off, noise = farther, variance / size**2
        least = min(least, off + noise)
    return least
