"""How much of the noise in groups a sum has, exactly: the details of groups of unequal sizes go together.

Where a wide group lies beside small ones, the noise of a wide detail is that of the small ones. Taken for a detail
like any other, it would be felt halfway through the wide group too, where there is none of it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats
from sparsedp.laws import LayersLaw
from sparsedp.sensing.group_sums import GroupSums

LEAST = 1e-300
"""Of a variance that is divided by."""


class BetweenGroups(Protocol):
    """What sums have of the errors of whole groups. `whole`: which details are made of these."""

    whole: npt.NDArray[np.bool_]

    def variance(self, weights: Floats, squares: Floats, shared: Floats) -> float:
        """In Σ weights·cells; `squares`: of the details of the weights, `shared`: the variances of details' errors."""
        ...


class NoiseOfSums:
    """Errors of details, scaled by what the noise of a sum is of that of uncorrelated details."""

    def __init__(self, sensing: GroupSums, law: LayersLaw, noise: Floats, whole: npt.NDArray[np.bool_]) -> None:
        """`noise`: the variance of the noise in every detail."""
        self._sensing, self._law, self._noise, self.whole = sensing, law, noise, whole

    def variance(self, weights: Floats, squares: Floats, shared: Floats) -> float:
        """As `BetweenGroups` says."""
        uncorrelated = float(squares[self.whole] @ self._noise[self.whole])
        share = noise_of_sum(self._sensing, self._law, weights) / uncorrelated if uncorrelated > 0.0 else 1.0
        return share * float(squares[self.whole] @ shared[self.whole])


class PosteriorOfSums:
    """The noise of a sum, each group's scaled by what the posterior leaves of it.

    The total is known no better than what was measured says; what that is more comes from groups as they are unsure.
    """

    def __init__(
        self,
        sensing: GroupSums,
        law: LayersLaw,
        variances: tuple[Floats, Floats],
        of_total: float,
        whole: npt.NDArray[np.bool_],
    ) -> None:
        """`variances`: of each of the finest groups' sums, and those that least squares would leave."""
        left, linear = variances
        sizes = np.diff(sensing.starts[0], append=sensing.n)
        self._sensing, self._law, self.whole = sensing, law, whole
        self._kept = np.repeat(np.sqrt(left / np.maximum(linear, LEAST)), sizes)
        self._unsure = np.repeat(left / max(float(left.sum()), LEAST) / sizes, sizes)
        self._more = max(of_total - noise_of_sum(sensing, law, self._kept), 0.0)

    def variance(self, weights: Floats, squares: Floats, shared: Floats) -> float:
        """As `BetweenGroups` says."""
        more = self._more * float(weights @ self._unsure) ** 2
        return noise_of_sum(self._sensing, self._law, weights * self._kept) + more


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
