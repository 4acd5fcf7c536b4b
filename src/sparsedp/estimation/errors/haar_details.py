"""Errors by Haar detail: of the noise, and from details to cells and to sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.bases.haar import haar_analyze
from sparsedp.estimation.least_squares import BetweenGroups

if TYPE_CHECKING:
    from sparsedp.estimation.estimator import Fit


# Variances by Haar detail: of the noise in the fused row, and from those of details to those of cells and sums.
#
# Details are those of the aligned orthonormal transform of the row, continued with zeros to a power of two, in heap
# order (`bases/haar.py`): those of 2^j cells are at N/2^j … N/2^(j−1) − 1, and the whole at 0.

LEAST_NOISE = 1e-12
"""No detail is taken to be known better than to this variance: the arithmetic is not."""


def padded(row: Floats) -> Floats:
    """The row, continued with zeros to a power of two, of at least two cells."""
    whole = np.zeros(1 << max(len(row) - 1, 1).bit_length())
    whole[: len(row)] = row
    return whole


def details(row: Floats) -> Floats:
    """The Haar details of a row."""
    whole = padded(row)
    found = np.empty(len(whole))
    haar_analyze(whole, found)
    return found


def level_slices(size: int) -> list[slice]:
    """Where the details of 2, 4, 8, … cells are, finest first."""
    return [slice(size >> level, size >> (level - 1)) for level in range(1, size.bit_length())]


def means_under(row: Floats) -> Floats:
    """The mean of the row over the cells of each detail."""
    means = padded(row)
    size = len(means)
    found = np.empty(size)
    for part in level_slices(size):
        means = 0.5 * (means[::2] + means[1::2])
        found[part] = means
    found[0] = means[0]
    return found


def cell_variances(of_details: Floats, n: int) -> Floats:
    """The variances of the first n cells, if the details are uncorrelated and have these."""
    size = len(of_details)
    found = of_details[:1] / size
    for part in reversed(level_slices(size)):
        width = size // part.start
        found = np.repeat(found + of_details[part] / width, 2)
    return found[:n]


def noise_of_details(fit: Fit) -> Floats:
    """The variance of the noise in every detail of the fused row.

    Groups that were chosen are aligned blocks of a power of two: a detail lies within one, and has the cells' own noise
    (none, if cells were not measured), or is made of whole ones, and has theirs; less, if it is made of whole blocks
    that were measured too.
    """
    n = fit.sensing.n
    size = 1 << max(n - 1, 1).bit_length()
    noise = np.empty(size)
    for level, part in enumerate(level_slices(size)):
        noise[part] = fit.level_variances[level]
    noise[0] = fit.total_variance * n / size
    chosen = next((at for at, layer in enumerate(fit.sensing.groups) if not isinstance(layer, int)), None)
    if chosen is not None:
        groups = fit.layers[chosen]
        sizes = np.diff(groups.starts, append=n)
        within = fit.law.finest.variance if chosen > 0 else 0.0
        across = means_under(np.repeat(groups.variances / sizes, sizes))
        blocks = _precisions_of_blocks(fit, len(fit.level_variances))
        for level, part in enumerate(level_slices(size)):
            noise[part] = across[part] / (1.0 + across[part] * blocks[level])
        noise[within_groups(sizes)] = within
    return np.asarray(np.maximum(noise, LEAST_NOISE))


def within_groups(sizes: Ints) -> npt.NDArray[np.bool_]:
    """Which details lie within one of the groups of so many cells, which are aligned blocks of a power of two."""
    widths = padded(np.repeat(sizes, sizes).astype(np.float64))
    found = np.zeros(len(widths), np.bool_)
    for level, part in enumerate(level_slices(len(widths)), start=1):
        found[part] = widths[:: 1 << level] >= 1 << level
    return found


def _precisions_of_blocks(fit: Fit, levels: int) -> Floats:
    """What the blocks that groups are parts of add to the precision of a detail of each level, finest first."""
    found = np.zeros(levels)
    if fit.sensing.in_parts_of_blocks:
        for size, law in zip(fit.sensing.groups[1:], fit.law.layers[1:], strict=True):
            if isinstance(size, int) and size < fit.sensing.n:
                found[(size - 1).bit_length() :] += size / max(law.variance, LEAST_NOISE)
    return found


# What the error of a release of layers is made of, whatever was measured.

ALONE_WITHIN = 16
"""Errors of single cells are told apart from those of their neighbourhood within aligned blocks of so many."""


@dataclass(frozen=True)
class ErrorModel:
    """In the row's order. `cells`: the mean squared error of each. `ends`: by level, how far below and above intervals
    of cells reach.

    The error of a sum has two independent parts: one whose Haar details are uncorrelated, of variances `shared`, and
    one of each cell by itself, of variances `alone`, which is felt only where weights differ within a block of 16
    cells: a spike that was kept has its own noise on all levels at once, and its neighbours have none. `between`: where
    groups of unequal sizes were measured, what sums have of the details made of whole ones.
    """

    cells: Floats
    shared: Floats
    alone: Floats
    ends: Callable[[float], tuple[Floats, Floats]]
    between: BetweenGroups | None = None

    def variance(self, weights: Floats) -> float:
        """Of Σ weights·cells."""
        squares = details(weights) ** 2
        if self.between is None:
            variance = float(squares @ self.shared)
        else:
            within = ~self.between.whole
            variance = float(squares[within] @ self.shared[within])
            variance += self.between.variance(weights, squares, self.shared)
        starts = np.arange(0, len(weights), ALONE_WITHIN)
        lengths = np.diff(starts, append=len(weights))
        apart = weights - np.repeat(np.add.reduceat(weights, starts) / lengths, lengths)
        return variance + float(apart**2 @ self.alone)


def normal_quantile(level: float) -> float:
    """How many standard deviations on either side hold `level` of a normal variable."""
    return NormalDist().inv_cdf((1 + level) / 2)
