"""Errors of releases: independent cells, sums and other units of them, and cells that obey public knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isfinite, log, sqrt
from typing import Any, ClassVar

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.constraints import CheckedConstraints
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, noise_law_from
from sparsedp.progress import advance, stage
from sparsedp.releases.sums import Sums
from sparsedp.releases.uncertainty import (
    KnowsLater,
    KnowsLayers,
    KnowsQuantiles,
    Uncertainty,
    interval_of,
    normal_quantile,
)

# Cells with independent errors: what direct measurement leaves, and the one case that a file keeps whole.

_NORMAL = 0.03
"""A sum of less excess kurtosis is taken as normal: that of a hundred cells with Laplace noise. (One cell has 3.)"""


@dataclass(frozen=True, eq=False)
class IndependentCells:
    """The error of each cell has its own variance and none depends on another's.

    With the `law` of the noise that every cell got, intervals are exact for one cell and for sums of few, and a little
    wide for sums of few with odd weights. Those of many cells, and all where no law is given, are normal.
    """

    variances: Floats
    law: IndependentLaw | None = None

    name: ClassVar[str] = "independent_cells"

    def __post_init__(self) -> None:
        variances = np.asarray(self.variances, dtype=np.float64)
        if not (np.isfinite(variances).all() and (variances >= 0).all()):
            raise InvalidInput("variances", "not finite and at least zero everywhere", "give one for each cell")
        object.__setattr__(self, "variances", variances)

    @classmethod
    def of_law(cls, law: IndependentLaw, shape: tuple[int, ...]) -> IndependentCells:
        """The same noise on every cell."""
        return cls(np.broadcast_to(np.float64(law.variance), shape), law)

    def variance(self, weights: Floats) -> float:
        """Σ weights²·variances."""
        return float((np.asarray(weights) ** 2 * self.variances).sum())

    def stderr(self) -> Floats:
        """The roots of the variances."""
        return np.sqrt(self.variances)

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """Symmetric around the estimate: the noise is."""
        half = self._half_width(np.abs(weights[weights != 0]), sqrt(self.variance(weights)), level)
        return estimate - half, estimate + half

    def _half_width(self, sizes: Floats, deviation: float, level: float) -> float:
        upper = (1 + level) / 2
        if not isfinite(deviation):  # of values beyond all numbers, as a file may hold them
            return inf
        if self.law is None or deviation == 0:
            return normal_quantile(level) * deviation
        if len(sizes) == 1:
            return float(sizes[0]) * self.law.quantile(upper)
        squares = (sizes / sizes.max()) ** 2
        excess = self.law.fourth_moment / self.law.variance**2 - 3
        if abs(excess) * (squares**2).sum() > _NORMAL * squares.sum() ** 2:
            return weighted_sum_quantile(self.law, sizes, upper)
        if squares.min() < 1:
            return normal_quantile(level) * deviation
        # Equal weights make a whole number times the weight: all of it lies within half a step of the normal one.
        weight = float(sizes[0])
        return weight * max(0, ceil(normal_quantile(level) * deviation / weight - 0.5))

    def describe(self) -> dict[str, Any]:
        """The law; the variances are in the file as standard errors."""
        return {"name": self.name, **({} if self.law is None else {"law": self.law.describe()})}

    @classmethod
    def from_description(cls, description: Mapping[str, Any], errors: Floats) -> IndependentCells:
        """The uncertainty that `describe` described, with the standard errors that lay beside it."""
        if "law" not in description:
            return cls(errors**2)
        law = noise_law_from(description["law"])
        if not isinstance(law, DiscreteLaplaceLaw | DiscreteGaussianLaw):
            raise InvalidInput("law", f"{law.name!r}", "give the law of independent noise")
        if not np.allclose(errors, sqrt(law.variance), rtol=5e-10, atol=0.0):
            raise InvalidInput("law", "of another variance than the cells'", "give the law of their noise")
        return cls.of_law(law, errors.shape)


# The law of a weighted sum of independent noise: computed, where few cells are far from a normal law.

_GRID = 128
"""Weights that are no small multiples of one step are rounded up to a grid of this many steps below the greatest."""

_LIGHT = 4
"""Weights of fewer steps of the grid are not rounded up to it."""

_FINEST = 256
"""A wider Laplace law is computed at this scale, over the greatest multiple, and stretched: its steps stay fine."""

_BEYOND = 1e-15
"""The probability of all sums that are left out, on either side."""


def weighted_sum_quantile(law: IndependentLaw, weights: Floats, level: float) -> float:
    """The least x with P(Σ weights·X ≤ x) ≥ level, for weights above zero and a level of at least ½.

    Exact for equal weights up to a scale of 256, and for small multiples of one step up to 256 over the greatest; for
    others a little too large.
    """
    step, margin, light = _common_step(weights), 0, 0.0
    if step is None:
        step, margin = float(weights.max()) / _GRID, 1
        # So far below the greatest, weights are felt only where there are many of them: together they are normal.
        light = law.variance * float(((weights[weights < _LIGHT * step] / step) ** 2).sum())
        weights = weights[weights >= _LIGHT * step]
    multiples = np.ceil(weights / step - 1e-6).astype(np.int64)
    factors, counts = np.unique(multiples, return_counts=True)
    return step * (_sum_quantile(law, factors, counts, level, light) + margin)


def _common_step(weights: Floats) -> float | None:
    """The step that all weights are multiples of, the greatest of at most GRID, if there is one."""
    for parts in range(1, 17):
        multiples = weights * (parts / float(weights.min()))
        if multiples.max() > _GRID:
            return None
        if np.abs(multiples - np.rint(multiples)).max() < 1e-9:
            return float(weights.min()) / parts
    return None


def _sum_quantile(
    law: IndependentLaw, factors: Ints, counts: Ints, level: float, normal_variance: float = 0.0
) -> float:
    """The same for whole factors, each as many times as `counts` says, and a normal variable beside them."""
    finest = max(4, _FINEST // int(factors.max()))
    if isinstance(law, DiscreteLaplaceLaw) and law.scale > finest:
        narrow = DiscreteLaplaceLaw(Fraction(finest))
        stretch = sqrt(law.variance / narrow.variance)
        return stretch * _sum_quantile(narrow, factors, counts, level, normal_variance / stretch**2)
    farthest = _farthest(law, factors, counts) + ceil(sqrt(-2 * log(_BEYOND) * normal_variance))
    size = 1 << (2 * farthest).bit_length()
    # The characteristic function of the sum at the size-th roots of unity, inverted: the probabilities modulo `size`.
    one = _characteristic(law, size)
    places = np.arange(size // 2 + 1)
    whole = np.exp(-normal_variance / 2 * (2 * np.pi * places / size) ** 2)
    for factor, count in zip(factors.tolist(), counts.tolist(), strict=True):
        whole *= one[places * factor % size] ** count
    probabilities = np.fft.irfft(whole, size)
    # P(sum > x) for x = 0, 1, …: summed from the far end, so that small tails keep their digits.
    tails = np.cumsum(probabilities[1 : size // 2 + 1][::-1])[::-1]
    return float(np.count_nonzero(tails > 1 - level))


def _characteristic(law: IndependentLaw, size: int) -> Floats:
    """E exp(2πi·jX/size) for j = 0, …, size − 1: real, for the law is symmetric."""
    cosines = np.cos(2 * np.pi * np.arange(size) / size)
    if isinstance(law, DiscreteGaussianLaw):
        far = law.quantile(1 - _BEYOND)
        cells = np.arange(size)
        return sum((2 * law.pmf(x) * cosines[cells * x % size] for x in range(1, far + 1)), np.full(size, law.pmf(0)))
    ratio = float(np.exp(-float(1 / law.scale)))
    return np.asarray((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 2 * ratio * (1 - cosines)))


def _farthest(law: IndependentLaw, factors: Ints, counts: Ints) -> int:
    """P(sum > farthest) ≤ BEYOND, by Chernoff's bound.

    A discrete Laplace variable has E exp(tX) ≤ 1/(1 − (ts)²), which is taken at t = 1/2s over the greatest factor; a
    discrete Gaussian one has E exp(tX) ≤ exp(t²σ²/2), and the bound is that of a normal sum.
    """
    if isinstance(law, DiscreteGaussianLaw):
        return 1 + ceil(sqrt(-2 * log(_BEYOND) * float(law.variance_parameter) * float((counts * factors**2).sum())))
    greatest = float(factors.max())
    growth = -float((counts * np.log1p(-((factors / (2 * greatest)) ** 2))).sum())
    return 1 + ceil(2 * float(law.scale) * greatest * (growth - log(_BEYOND)))


# The errors of what follows from a release by arithmetic: the same cells in another unit, or sums over whole axes.

_MANY = 128
"""Sums of so many independent errors are normal, and independent again: nothing need be asked of the cells."""


class ScaledErrors:
    """Every cell and every error times `factor`: sums that were measured in steps, told in the value's own unit."""

    def __init__(self, inner: Uncertainty, factor: Fraction) -> None:
        self.inner, self.factor = inner, factor

    def variance(self, weights: Floats) -> float:
        """That of the steps, times factor²."""
        return self.inner.variance(weights) * float(self.factor) ** 2

    def stderr(self) -> Floats:
        """Those of the steps, times the factor."""
        return self.inner.stderr() * float(self.factor)

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """That of the steps, times the factor."""
        factor = float(self.factor)
        found = interval_of(self.inner, weights, estimate / factor, level)
        return found.low * factor, found.high * factor


class MarginalErrors:
    """The errors of the sums of cells: a question about such sums is one about the cells themselves."""

    def __init__(self, inner: Uncertainty, sums: Sums) -> None:
        """`inner` are the errors of the cells, and `sums` which of them each sum adds up."""
        self._inner, self._sums = inner, sums

    def variance(self, weights: Floats) -> float:
        """Of Σ weights·sums."""
        return self._inner.variance(self._sums.spread(weights))

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """As for the cells that are added up."""
        found = interval_of(self._inner, self._sums.spread(weights), estimate, level)
        return found.low, found.high

    def stderr(self) -> Floats:
        """One question for each sum, so many times what one costs; unless the errors know those of all sums at once."""
        if isinstance(self._inner, IndependentCells):
            return np.sqrt(_summed_variances(self._inner, self._sums))
        known = errors_at_once(self._inner, self._sums)
        if known is not None:
            return known
        errors = np.zeros(self._sums.lengths)
        asked = np.zeros(self._sums.lengths)
        with stage(f"estimating the errors of {errors.size:,} sums"):
            for number, place in enumerate(np.ndindex(*self._sums.lengths)):
                advance(number / errors.size)
                asked[place] = 1.0
                errors[place] = self.variance(asked) ** 0.5
                asked[place] = 0.0
        return errors


def errors_at_once(errors: Uncertainty, sums: Sums) -> Floats | None:
    """The errors of all sums of a marginal; None where only one after the other can be asked for."""
    if isinstance(errors, ScaledErrors):
        inner = errors_at_once(errors.inner, sums)
        return None if inner is None else inner * float(errors.factor)
    if isinstance(errors, KnowsLater):
        return errors_at_once(errors.known(), sums)
    layer = sums.layer
    if not isinstance(errors, KnowsLayers) or layer is None:
        return None
    return np.sqrt(sums.arranged(errors.of_layer(layer)))


def _summed_variances(errors: IndependentCells, sums: Sums) -> Floats:
    return sums.of(np.broadcast_to(errors.variances, sums.shape))


def marginal_errors(errors: Uncertainty, sums: Sums) -> Uncertainty:
    """The errors of the sums that a marginal is made of."""
    if isinstance(errors, ScaledErrors):
        return ScaledErrors(marginal_errors(errors.inner, sums), errors.factor)
    if isinstance(errors, IndependentCells) and sums.fewest >= _MANY:
        return IndependentCells(_summed_variances(errors, sums))
    return MarginalErrors(errors, sums)


def cost(errors: Uncertainty, cells: int) -> int:
    """How many cells one question is about, as far as its price goes; `cells` are those of the whole table."""
    if isinstance(errors, ScaledErrors):
        return cost(errors.inner, cells)
    return errors.variances.size if isinstance(errors, IndependentCells) else cells


# The error of a release that obeys public knowledge: what is known exactly has none.

_ROUNDS = 50
"""Several margins are taken off in turn, so often; what is left is then far below any error."""


class ConstrainedErrors:
    """The error of the unconstrained estimate, without what structural zeros and public totals say for certain.

    Imposing constraints moves an estimate towards the truth, so this is on the wide side.
    """

    def __init__(self, unconstrained: Uncertainty, known: CheckedConstraints) -> None:
        self._inner, self._known = unconstrained, known

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""
        unknown = self._unknown(weights)
        return self._inner.variance(unknown) if unknown.any() else 0.0

    def stderr(self) -> Floats:
        """The root mean squared error of every cell; zero where a cell can only be zero."""
        return np.where(self._known.free, self._inner.stderr(), 0.0)

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """Of one cell as without constraints; of others, normal; of what is known, the estimate itself."""
        unknown = self._unknown(weights)
        if not unknown.any():
            return estimate, estimate
        if np.count_nonzero(weights) == 1 and isinstance(self._inner, KnowsQuantiles):
            return self._inner.interval(weights, estimate, level)
        half = normal_quantile(level) * sqrt(self._inner.variance(unknown))
        return estimate - half, estimate + half

    def _unknown(self, weights: Floats) -> Floats:
        """The weights without the part that public totals and zeros answer."""
        free = self._known.free
        left = np.where(free, np.asarray(weights, np.float64).reshape(free.shape), 0.0)
        most = float(np.abs(left).max(initial=0.0))
        for _ in range(_ROUNDS if len(self._known.margins) > 1 else 1):
            for margin in self._known.margins:
                cells = np.maximum(margin.of(free.astype(np.float64)), 1.0)
                left -= np.where(free, margin.over(left.ndim, margin.of(left) / cells), 0.0)
        left[np.abs(left) < 1e-9 * most] = 0.0
        return left
