"""Plain inverses: the measurements determine the cells, and nothing is shrunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases.base import Identity
from sparsedp.bases.haar import Haar
from sparsedp.bases.separable import Separable
from sparsedp.errors import InvalidInput
from sparsedp.jit import kernel
from sparsedp.laws import ContinualCounterLaw, NoiseLaw
from sparsedp.sensing.base import Direct, Sensing
from sparsedp.sensing.integer_haar import IntegerHaar, IntegerHaarTable
from sparsedp.sensing.running_totals import RunningTotals
from sparsedp.sensing.tree import Tree
from sparsedp.solution import Solution, Status


def direct(sensing: Sensing, values: Ints, law: NoiseLaw) -> Solution:
    """The noisy cells as they are."""
    if not isinstance(sensing, Direct):
        raise InvalidInput("recovery", "'direct'", "it needs direct sensing")
    return Solution(values.astype(np.float64), Status.DIRECT, {})


def differences(sensing: Sensing, values: Ints, law: NoiseLaw) -> Solution:
    """Each noisy running total minus the one before it."""
    if not isinstance(sensing, RunningTotals):
        raise InvalidInput("recovery", "'differences'", "it needs running totals")
    known = DifferenceErrors(sensing.n, law) if isinstance(law, ContinualCounterLaw) else None
    return Solution(np.diff(values, prepend=0).astype(np.float64), Status.DIRECT, {}, known)


@dataclass(frozen=True)
class DifferenceErrors:
    """The errors of differences of a continual counter's totals, exactly.

    Σ w·(Nₜ − Nₜ₋₁) = Σ v·Nₜ with vₜ = wₜ − wₜ₊₁; and Nₜ is one term for ever and, for every level, that of the segment
    of 2^level ticks that t is in. All are independent, so the variance is a term's, times the squares of the sums of v
    over all ticks and over every segment.
    """

    n: int
    law: ContinualCounterLaw

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·ticks."""
        sums = -np.diff(np.asarray(weights, np.float64).reshape(-1), append=0.0)
        squares = float(sums.sum()) ** 2
        for _ in range(self.law.levels):
            squares += float(sums @ sums)
            sums = np.add.reduceat(sums, np.arange(0, len(sums), 2))
        return self.law.term.variance * squares

    def stderr(self) -> Floats:
        """From one tick to the next, on every level on which the segment changes, one term goes and one comes.

        Before the first tick there is no total: it has all terms of its own.
        """
        ticks = np.arange(self.n)
        changed = sum((ticks >> level) != ((ticks - 1) >> level) for level in range(self.law.levels))
        terms = 2.0 * np.asarray(changed, np.float64) if self.law.levels else np.zeros(self.n)
        terms[0] = 1.0 + self.law.levels
        return np.asarray(np.sqrt(self.law.term.variance * terms))


def inverse_haar(sensing: Sensing, values: Ints, law: NoiseLaw) -> Solution:
    """The inverse of the padded integer Haar transform, cut to the real cells, as in Privelet.

    Row 2^j + b of the sensing is √(N/2^j) times the orthonormal coefficient; row 0 is √N times it. Over a table that
    holds along every ordered axis.
    """
    if isinstance(sensing, IntegerHaarTable):
        axes = list(zip(sensing.shape, sensing.ordered, strict=True))
        basis = Separable([Haar(length) if ordered else Identity(length) for length, ordered in axes])
        return Solution(basis.synthesize(values / scales_of_rows(sensing)), Status.DIRECT, {})
    if not isinstance(sensing, IntegerHaar):
        raise InvalidInput("recovery", "'inverse_haar'", "it needs integer Haar sensing")
    return Solution(Haar(sensing.n).synthesize(values / scales_of_rows(sensing)), Status.DIRECT, {})


def scales_of_rows(sensing: IntegerHaar | IntegerHaarTable) -> Floats:
    """What each row of integer Haar sensing is, times the orthonormal coefficient; the squares of these are the rows'.

    Over a table they are products of those along its ordered axes.
    """
    if isinstance(sensing, IntegerHaar):
        return _scales(sensing.padded_size)
    table = np.ones(1)
    for size, ordered in zip(sensing.padded_shape, sensing.ordered, strict=True):
        table = np.multiply.outer(table, _scales(size) if ordered else np.ones(size)).reshape(-1)
    return table


def _scales(size: int) -> Floats:
    """Along one axis."""
    scales = np.full(size, np.sqrt(size))
    for level in range(size.bit_length() - 1):
        scales[2**level : 2 ** (level + 1)] = np.sqrt(size / 2**level)
    return scales


# Least-squares consistency of a noisy tree of sums, in O(n) (Hay, Rastogi, Miklau, Suciu 2010, for every n).


def tree_consistency(sensing: Sensing, values: Ints, law: NoiseLaw) -> Solution:
    """The cells whose sums are nearest, in least squares, to the noisy sums of every node.

    All nodes carry noise of the same variance, so this is the best linear unbiased estimate. It equals least squares
    on the materialised tree, incomplete nodes included: a node that has fewer children than `branching`, or only
    one, is weighted by the children it has.
    """
    if not isinstance(sensing, Tree):
        raise InvalidInput("recovery", "'tree_consistency'", "it needs tree sensing")
    starts = np.array([*sensing.level_starts, sensing.rows])
    return Solution(_fit(values.astype(np.float64), starts, sensing.branching), Status.DIRECT, {})


@kernel
def _fit(sums: Floats, starts: Ints, branching: int) -> Floats:
    """Two passes over the nodes; `starts` are the levels' first rows, the root's first, and then the end.

    Up: `best` is the best estimate of a node's sum from its subtree, `variance` that of its error (noise = 1). The
    children's total, of variance C, and the node's own measurement combine to variance C/(C + 1).
    Down: what the node's final value adds to its children's total is shared in proportion to their variances.
    """
    levels = len(starts) - 1
    best = sums.copy()
    variance = np.ones(len(sums))
    total = np.zeros(len(sums))
    spread = np.zeros(len(sums))
    for level in range(levels - 2, -1, -1):
        for node in range(starts[level], starts[level + 1]):
            first = starts[level + 1] + (node - starts[level]) * branching
            for child in range(first, min(first + branching, starts[level + 2])):
                total[node] += best[child]
                spread[node] += variance[child]
            best[node] = (total[node] + spread[node] * sums[node]) / (spread[node] + 1.0)
            variance[node] = spread[node] / (spread[node] + 1.0)
    for level in range(levels - 1):
        for node in range(starts[level], starts[level + 1]):
            first = starts[level + 1] + (node - starts[level]) * branching
            excess = (best[node] - total[node]) / spread[node]
            for child in range(first, min(first + branching, starts[level + 2])):
                best[child] += variance[child] * excess
    return best[starts[levels - 1] :].copy()
