"""Errors of releases: independent cells, sums and other units of them, and cells that obey public knowledge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, sqrt
from typing import Any, ClassVar

import numpy as np

from sparsedp.arrays import Floats, usual_warnings
from sparsedp.constraints import CheckedConstraints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.bounds import Bound, Bounds, MeasuredSums
from sparsedp.estimation.guaranteed import HaarSums, NestedSums
from sparsedp.estimation.guaranteed_marginals import LatticeSums
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, noise_law_from
from sparsedp.progress import advance, stage
from sparsedp.releases.sums import Sums
from sparsedp.releases.uncertainty import (
    KnowsAllCells,
    KnowsLater,
    KnowsLayers,
    Uncertainty,
    UnknownTogether,
    bounds_of,
    expected_ends,
    likely_ends,
    normal_quantile,
    plausible_level,
)

# Cells with independent errors: what direct measurement leaves, and the one case that a file keeps whole.


_STANDARD = DiscreteGaussianLaw(Fraction(10**6))
"""In place of a normal law: its steps are a thousandth of its deviation."""


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
        return NoiseSum.of((self.law, sizes)).quantile(upper)

    def bounds(self, weights: Floats, estimate: float) -> Bounds:
        """Nothing was shrunk: the estimate has the noise's law. Where only variances are known, it is normal."""
        row = np.asarray(weights, np.float64).reshape(-1)
        if self.law is not None:
            noise = NoiseSum.of((self.law, row))
        else:
            variance = float((row**2 * self.variances.reshape(-1)).sum())
            noise = NoiseSum.of((_STANDARD, np.array([sqrt(variance / _STANDARD.variance)])))
        return Bounds.exactly(Bound(estimate, noise))

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


# What a model expects, beside what was measured: where they disagree, the model gives way.


class MeasuredErrors:
    """The errors that a model `expected`, with the noisy sums that it came from, made ready when they are asked for."""

    def __init__(self, expected: Uncertainty, measured: Callable[[], MeasuredSums | None], cells: Floats) -> None:
        """`cells`: as published, row by row."""
        self.expected, self._measured, self._cells = expected, measured, cells

    def variance(self, weights: Floats) -> float:
        """As the model expects."""
        return self.expected.variance(weights)

    def stderr(self) -> Floats:
        """As the model expects."""
        return self.expected.stderr()

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """As the model expects."""
        return expected_ends(self.expected, weights, estimate, level)

    @usual_warnings()
    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """By the noise alone."""
        measured = self._measured()
        return None if measured is None else measured.bounds(weights)

    def at_once(self, sums: Sums) -> tuple[Floats, NoiseSum] | None:
        """By how much unbiased estimates of the sums are beyond the published ones, and the noise in one of them."""
        measured, layer = self._measured(), sums.layer
        if not isinstance(measured, LatticeSums) or layer is None:
            return None
        known = measured.of_layer(layer)
        return None if known is None else (sums.arranged(known[0]), known[1])

    def cell_intervals(self, level: float) -> tuple[Floats, Floats] | None:
        """The likely intervals of all cells at once, not cut at zero; None where they are to be had one by one only."""
        measured, expected = self._measured(), self.expected
        ends = expected.cell_intervals(level) if isinstance(expected, KnowsAllCells) else None
        if ends is None or not isinstance(measured, NestedSums):
            return None
        guaranteed = measured.cell_ends(level)
        plausible = measured.plausible_cell_ends(self._cells, plausible_level(level))
        if guaranteed is None or plausible is None:
            return None
        flat = (ends[0].reshape(-1), ends[1].reshape(-1))
        low, high = likely_ends(flat, guaranteed, plausible, self._cells)
        return low.reshape(ends[0].shape), high.reshape(ends[0].shape)


class NoiseErrors:
    """The errors of an estimate without bias, which are the noise's own."""

    def __init__(self, measured: Callable[[], MeasuredSums | None], shape: tuple[int, ...]) -> None:
        self._measured, self._shape = measured, shape

    def _noise(self, weights: Floats) -> NoiseSum:
        measured = self._measured()
        known = None if measured is None else measured.bounds(weights).exact
        if known is None:
            raise UnknownTogether("query", "of cells that were not measured", "ask for sums that were")
        return known.noise

    def variance(self, weights: Floats) -> float:
        """Of the noise."""
        return self._noise(weights).variance

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """By the law of the noise."""
        reach = self._noise(weights).quantile((1 + level) / 2)
        return estimate - reach, estimate + reach

    def stderr(self) -> Floats:
        """Of every cell."""
        measured = self._measured()
        if not isinstance(measured, NestedSums | HaarSums):
            raise UnknownTogether("release", "of other sums", "ask for single queries")
        return np.sqrt(measured.cell_variances()).reshape(self._shape)


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
        low, high = expected_ends(self.inner, weights, estimate / factor, level)
        return low * factor, high * factor

    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """Those of the steps, times the factor."""
        factor = float(self.factor)
        known = bounds_of(self.inner, weights, estimate / factor)
        return None if known is None else known.moved(factor)


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
        return expected_ends(self._inner, self._sums.spread(weights), estimate, level)

    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """As for the cells that are added up."""
        return bounds_of(self._inner, self._sums.spread(weights), estimate)

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
    if isinstance(errors, MeasuredErrors):
        return errors_at_once(errors.expected, sums)
    layer = sums.layer
    if not isinstance(errors, KnowsLayers) or layer is None:
        return None
    return np.sqrt(sums.arranged(errors.of_layer(layer)))


def likely_at_once(errors: Uncertainty, sums: Sums, values: Floats, level: float) -> tuple[Floats, Floats] | None:
    """The likely intervals of all sums of a marginal, around these values; None where `errors_at_once` has none."""
    known = errors_at_once(errors, sums)
    if known is None:
        return None
    half = normal_quantile(level) * known
    beyond, noise = _measured_at_once(errors, sums) or (None, None)
    if beyond is None or noise is None:
        return values - half, values + half
    centre, reach = values + beyond, noise.quantile((1 + level) / 2)
    guaranteed, plausible = (centre - reach, centre + reach), (values, values)
    if plausible_level(level) > 0:
        reach = noise.quantile((1 + plausible_level(level)) / 2)
        plausible = (centre - reach, centre + reach)
    return likely_ends((values - half, values + half), guaranteed, plausible, values)


def _measured_at_once(errors: Uncertainty, sums: Sums) -> tuple[Floats, NoiseSum] | None:
    """By how much the unbiased estimates of the sums are beyond the published ones, and the noise in one of them."""
    if isinstance(errors, ScaledErrors):
        inner, factor = _measured_at_once(errors.inner, sums), float(errors.factor)
        return None if inner is None else (inner[0] * factor, inner[1].times(factor))
    if isinstance(errors, KnowsLater):
        return _measured_at_once(errors.known(), sums)
    return errors.at_once(sums) if isinstance(errors, MeasuredErrors) else None


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

    Imposing constraints moves an estimate towards the truth, so this is on the wide side. `cells` are those that obey.
    """

    def __init__(self, unconstrained: Uncertainty, known: CheckedConstraints, cells: Floats) -> None:
        self._inner, self._known, self._cells = unconstrained, known, cells

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
        if np.count_nonzero(weights) == 1:
            return expected_ends(self._inner, weights, estimate, level)
        half = normal_quantile(level) * sqrt(self._inner.variance(unknown))
        return estimate - half, estimate + half

    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """Of what is unknown, beside what the cells say of the rest, which is known."""
        unknown = self._unknown(weights)
        if not unknown.any():
            return Bounds.exactly(Bound(estimate, NoiseSum(())))
        left = float((unknown * self._cells.reshape(unknown.shape)).sum())
        known = bounds_of(self._inner, unknown, left)
        return None if known is None else known.moved(1.0, estimate - left)

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
