"""How much of the noise in groups a sum has, exactly: the details of groups of unequal sizes go together.

Where a wide group lies beside small ones, the noise of a wide detail is that of the small ones. Taken for a detail
like any other, it would be felt halfway through the wide group too, where there is none of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.noise.law import LayersLaw
from sparsedp.sensing.group_sums import GroupSums

LEAST = 1e-300
"""Of a variance that is divided by."""


@dataclass(frozen=True)
class NoiseOfSums:
    """`noise`: the variance of the noise in every detail; `whole`: which details are made of whole groups."""

    sensing: GroupSums
    law: LayersLaw
    noise: Floats
    whole: npt.NDArray[np.bool_]

    def share(self, weights: Floats, squares: Floats) -> float:
        """The variance of the noise in Σ weights·cells, as a share of what uncorrelated details would make it.

        `squares`: of the details of the weights.
        """
        uncorrelated = float(squares[self.whole] @ self.noise[self.whole])
        return noise_of_sum(self.sensing, self.law, weights) / uncorrelated if uncorrelated > 0.0 else 1.0


def noise_of_sum(sensing: GroupSums, law: LayersLaw, weights: Floats) -> float:
    """The variance of the noise in Σ weights·cells, if cells are spread evenly over their groups.

    With P the precision of the fused sums of the finest groups, u ones and w the weights, what is wanted is w'P⁻¹w.
    P is a diagonal matrix and, for every group of every coarser layer, uu'/variance within that group. Groups are
    nested, so w'P⁻¹w, w'P⁻¹u and u'P⁻¹u of a group follow from those of its parts (Sherman and Morrison 1950).
    """
    starts = sensing.starts[0]
    means = np.add.reduceat(weights, starts) / np.diff(starts, append=sensing.n)
    variance = law.finest.variance
    of_weights, of_both, of_ones = means**2 * variance, means * variance, np.full(len(means), variance)
    for coarser, own in zip(sensing.starts[1:], law.layers[1:], strict=True):
        first = np.searchsorted(starts, coarser)
        of_weights, of_both, of_ones = (np.add.reduceat(part, first) for part in (of_weights, of_both, of_ones))
        both = np.maximum(own.variance + of_ones, LEAST)
        of_weights, starts = of_weights - of_both**2 / both, coarser
        of_both, of_ones = own.variance / both * of_both, own.variance / both * of_ones
    return max(float(of_weights.sum()), 0.0)
