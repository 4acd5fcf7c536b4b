"""DAWA, from its paper (Li, Hay, Miklau and Wang, PVLDB 7(5), 2014), to be compared with.

Half of ε finds a partition into buckets: every stretch of 2^k cells, at every place, has a cost, the L1 distance of its
cells from their mean, with Laplace noise; and so has every bucket, the noise that its sum will get. The cheapest
partition is found by dynamic programming. The other half of ε measures the buckets' sums, which are spread evenly.
Tables are laid in a row along the Hilbert curve. Left out is that sums over several buckets may be measured too, as a
given workload needs them: without it its errors are the published ones, of ranges as well (docs/published.md).

Noisy costs are cut at zero: only so are its errors those that are published for it, or near them (docs/published.md).
**Do not publish with it**: we know of no proof that covers cut costs, and noise in floating point has known holes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numba
import numpy as np

from rivals.curve import along_the_curve
from sparsedp.arrays import Floats, Ints

PARTITION = 0.5
"""The share of ε for the partition."""


@dataclass(frozen=True)
class Dawa:
    """As a contender of `studies.accuracy`."""

    name: str = "DAWA"

    def publish(self, counts: Ints, epsilon: str) -> Floats:
        """All cells, in the counts' shape; square tables of a power of two only."""
        random = np.random.default_rng()
        return along_the_curve(counts, lambda row: dawa(row, float(epsilon), random))


def dawa(row: Ints, epsilon: float, random: np.random.Generator) -> Floats:
    """Every cell of a row."""
    n, bucket_noise = len(row), 1.0 / ((1.0 - PARTITION) * epsilon)
    costs = _deviations(row.tobytes()).copy()
    widths = 2.0 ** np.arange(len(costs))
    # One record changes the cost of a stretch of w cells by 2 − 2/w at most, and one cell alone costs nothing.
    scales = (2.0 - 1.0 / widths - 1.0 / n) / (PARTITION * epsilon)
    costs[1:] += random.laplace(size=costs[1:].shape) * scales[1:, None]
    starts = cheapest_partition(np.maximum(costs, 0.0) + bucket_noise)
    sizes = np.diff(starts, append=n)
    sums = np.add.reduceat(row, starts) + random.laplace(scale=bucket_noise, size=len(starts))
    return np.asarray(np.repeat(sums / sizes, sizes))


@lru_cache(maxsize=2)
def _deviations(row: bytes) -> Floats:
    """They do not depend on the noise: computed once for many runs."""
    found: Floats = deviations(np.frombuffer(row, np.int64).astype(np.float64))
    return found


@numba.njit(cache=True)
def deviations(row: Floats) -> Floats:
    """`[k, i]`: the L1 distance from their mean of the 2^k cells that end with cell i; 0 where they do not fit."""
    n, levels = len(row), 0
    while 1 << levels <= n:
        levels += 1
    found, sums = np.zeros((levels, n)), np.zeros(n + 1)
    for i in range(n):
        sums[i + 1] = sums[i] + row[i]
    for level in range(1, levels):
        width = 1 << level
        for last in range(width - 1, n):
            mean = (sums[last + 1] - sums[last + 1 - width]) / width
            for i in range(last + 1 - width, last + 1):
                found[level, last] += abs(row[i] - mean)
    return found


@numba.njit(cache=True)
def cheapest_partition(costs: Floats) -> Ints:
    """Where the buckets begin that cost least together; `costs[k, i]` is that of the 2^k cells that end with cell i."""
    levels, n = costs.shape
    least, begins = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    for end in range(1, n + 1):
        least[end] = np.inf
        for level in range(levels):
            if 1 << level > end:
                break
            cost = least[end - (1 << level)] + costs[level, end - 1]
            if cost <= least[end]:
                least[end], begins[end] = cost, end - (1 << level)
    starts, count, end = np.empty(n, np.int64), 0, n
    while end > 0:
        end = int(begins[end])
        starts[count] = end
        count += 1
    return starts[:count][::-1].copy()
