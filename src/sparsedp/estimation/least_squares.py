"""Generalised least squares over nested layers of group sums, and the noise that it leaves in cells and in sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.sensing.group_sums import GroupSums

# How much of the noise in groups a sum has, exactly: the details of groups of unequal sizes go together.
#
# Where a wide group lies beside small ones, the noise of a wide detail is that of the small ones. Taken for a detail
# like any other, it would be felt halfway through the wide group too, where there is none of it.

LEAST = 1e-200
"""Of a variance that is divided by: noise of a huge budget has one that is zero in floating point."""


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


# Layers of group sums made consistent: generalised least squares on the tree of nested groups, and its noise.

WHOLE_UP_TO = 2.0**30
"""Wider noise, and larger counts, are drawn from a continuous law in a bootstrap."""

LARGEST_SUM = 2.0**62
"""Sums beyond are cut there: they have to be whole numbers of 64 bits."""


@dataclass(frozen=True)
class Layer:
    """One layer fused with all finer ones: the estimate of each group's sum, and its variance, from them alone."""

    starts: Ints
    sums: Floats
    variances: Floats


@dataclass(frozen=True)
class Consistent:
    """All that was measured, made consistent: the layers, finest first, and the noise that is left in the cells.

    `level_variances[j − 1]`: of an aligned orthonormal Haar detail of 2^j cells; `total_variance`: of the orthonormal
    sum of all.
    """

    layers: list[Layer]
    level_variances: Floats
    total_variance: float


class Measurement(Protocol):
    """What an estimator knows of how a row was measured, beside the groups: the noise, and what it leaves."""

    @property
    def law(self) -> LayersLaw:
        """The law of the noise in each layer of groups."""

    def consistent(self, sensing: GroupSums, values: Ints) -> Consistent:
        """The best linear unbiased estimate from all values together."""

    def again(self, sensing: GroupSums, truth: Floats, generator: np.random.Generator) -> Ints:
        """Another truth measured in the same way, with fresh noise of the same law: for a bootstrap."""

    def noise_of_sum(self, sensing: GroupSums, weights: Floats, of_details: Floats) -> float:
        """The variance of the noise in Σ weights·cells; `of_details`: that in every Haar detail."""


@dataclass(frozen=True)
class GroupLayers:
    """Sums of nested groups, each layer with independent noise of its own."""

    law: LayersLaw

    def consistent(self, sensing: GroupSums, values: Ints) -> Consistent:
        """One pass up the tree of groups and one down."""
        layers = fuse(sensing, values, self.law)
        return Consistent(layers, *noise_by_level(sensing, self.law, layers))

    def again(self, sensing: GroupSums, truth: Floats, generator: np.random.Generator) -> Ints:
        """Every layer's sums, with noise."""
        values = []
        for starts, noise in zip(sensing.starts, self.law.layers, strict=True):
            sums = truth if len(starts) == len(truth) else np.add.reduceat(truth, starts)
            values.append(sums + drawn_noise(noise, len(starts), generator))
        return whole_numbers(np.concatenate(values))

    def noise_of_sum(self, sensing: GroupSums, weights: Floats, of_details: Floats) -> float:
        """Exactly, by the tree."""
        return noise_of_sum(sensing, self.law, weights)


def whole_numbers(values: Floats) -> Ints:
    """Values of a bootstrap, as they would be published."""
    return np.clip(values, -LARGEST_SUM, LARGEST_SUM).astype(np.int64)


def drawn_noise(law: IndependentLaw, count: int, generator: np.random.Generator) -> Floats:
    """Independent noise of a law: public randomness, for a bootstrap alone."""
    if isinstance(law, DiscreteLaplaceLaw):
        scale = float(law.scale)
        if scale > WHOLE_UP_TO:
            return np.rint(generator.laplace(0.0, scale, count))
        stop = -np.expm1(-1.0 / scale)
        return (generator.geometric(stop, count) - generator.geometric(stop, count)).astype(np.float64)
    return np.rint(generator.normal(0.0, np.sqrt(law.variance), count))


def fuse(sensing: GroupSums, values: Ints, law: LayersLaw) -> list[Layer]:
    """Per layer, finest first, the best linear unbiased estimate of every group's sum from all layers together.

    Groups are nested, so one pass up and one pass down is exact (Hay et al. 2010, for unequal groups and noises): a
    group's own value and the sum of its parts are two independent estimates, weighed by their variances; what the
    layers above change is spread over the parts in proportion to their variances. The variances returned are those of
    the pass up: of a group given its own value and the finer ones.
    """
    layers: list[Layer] = []
    for starts, measured, noise in zip(
        sensing.starts, sensing.split(values.astype(np.float64)), law.layers, strict=True
    ):
        variances = np.full(len(starts), noise.variance)
        if not layers:
            layers.append(Layer(starts, measured, variances))
            continue
        first = np.searchsorted(layers[-1].starts, starts)
        below, spread = np.add.reduceat(layers[-1].sums, first), np.add.reduceat(layers[-1].variances, first)
        weight = spread / np.maximum(spread + variances, LEAST)
        layers.append(Layer(starts, below + weight * (measured - below), spread * (1.0 - weight)))
    for finer, coarser in zip(reversed(layers[:-1]), reversed(layers[1:]), strict=True):
        first = np.searchsorted(finer.starts, coarser.starts).astype(np.int64)
        parts = np.diff(first, append=len(finer.starts))
        change = coarser.sums - np.add.reduceat(finer.sums, first)
        spread = np.add.reduceat(finer.variances, first)
        finer.sums[...] += finer.variances * np.repeat(change / np.maximum(spread, LEAST), parts)
    return layers


def chosen_groups(sensing: GroupSums, fused: list[Layer]) -> Layer | None:
    """The layer of groups that a private tree chose, whose sums are kept: the tree says that they differ.

    Beside the cells, stored synopses have one, and the total of few records in which a tree found very many groups.
    """
    for layer, described in zip(fused, sensing.groups, strict=True):
        if not isinstance(described, int):
            refuse_unaligned(layer.starts, sensing.n)
            return layer
    return None


def refuse_unaligned(starts: Ints, n: int) -> None:
    """The leaves of a tree of halves are runs of 2^k cells that begin at a multiple of 2^k, but for the row's end."""
    sizes = np.diff(starts)
    last = 1 << max(n - int(starts[-1]) - 1, 0).bit_length()
    if (sizes & (sizes - 1)).any() or (starts[:-1] % sizes).any() or starts[-1] % last:
        raise InvalidInput("layers", "groups that are not aligned halves", "give the synopsis as it was made")


def noise_by_level(sensing: GroupSums, law: LayersLaw, fused: list[Layer]) -> tuple[Floats, float]:
    """The variance of the noise of the fused cells: of an aligned orthonormal detail of each level, and of the total.

    Exact where the layers are blocks of 2^k cells. Where groups were chosen, the mean over the row: within a group
    the cells' own; across groups, that of the groups' sums.
    """
    n = sensing.n
    levels = max(n - 1, 1).bit_length()
    total_variance = float(fused[-1].variances.sum()) / n
    if all(isinstance(layer, int) for layer in sensing.groups):
        precision = np.zeros(levels + 1)
        for size, noise in zip(sensing.groups, law.layers, strict=True):
            width = min(int(size), n)
            precision[min((width - 1).bit_length(), levels) :] += width / max(noise.variance, LEAST)
        return 1.0 / precision[:levels], min(total_variance, 1.0 / float(precision[-1]))
    chosen = chosen_groups(sensing, fused) or fused[0]
    sizes = np.diff(chosen.starts, append=n)
    share = sizes / n
    within = law.finest.variance if len(fused[0].starts) == n else 0.0
    # A detail of 2^level cells is across groups of fewer, and within those of as many.
    smaller = np.frexp(sizes.astype(np.float64))[1]
    across = np.bincount(smaller, share * chosen.variances / sizes, levels + 2).cumsum()
    inside = 1.0 - np.bincount(smaller, share, levels + 2).cumsum()
    variances = (across + within * inside)[1 : levels + 1]
    return np.maximum(variances, 1e-9 * max(float(variances.max()), 1e-9)), total_variance
