"""How far a release may be off: what every estimate of its error promises, and the interval that follows from one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.estimation.bounds import Bounds
from sparsedp.sensing.marginals import Layer

HIGHEST_LEVEL = 1 - 1e-9
"""Beyond it the figures are not accurate, and nobody could check the coverage."""


LIKELY, EXPECTED, GUARANTEED = "likely", "expected", "guaranteed"

KINDS = {
    LIKELY: "what the model expects, as far as the noise alone does not make it implausible",
    EXPECTED: "what the model of the counts expects",
    GUARANTEED: "whatever the counts are, by the law of the noise alone",
}
"""Of intervals, and what each is by."""

AGAINST_THE_MODEL = 4
"""A likely interval holds all that the noise alone leaves plausible at a level that fails so many times as often."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that holds the true answer in `level` of all releases like this one.

    The chance is the noise's: the true answer is fixed, and the range is what was drawn. `kind`: whether that is
    "guaranteed", by the law of the noise alone, "expected" by the model that made the estimate, or "likely": the
    model's word, but never against the noise. The estimate is the release's, of a guaranteed interval the unbiased one.
    """

    low: float
    high: float
    estimate: float
    level: float
    kind: str = LIKELY

    def __str__(self) -> str:
        low, high, estimate = (shown_number(number) for number in (self.low, self.high, self.estimate))
        return f"{estimate} [{low}, {high}] at {self.level:.6g}{'' if self.kind == LIKELY else f', {self.kind}'}"


def shown_number(number: float, sign: str = "") -> str:
    """A number as people read it: with six digits, and large ones with all they have before the point."""
    return f"{number:{sign},.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:{sign},.6g}"


class Uncertainty(Protocol):
    """The error of the estimates of all cells, for linear queries: those that weigh the cells and add them up.

    Weights and standard errors have the release's shape. One that knows its law better than by its variance has a
    method `interval` too (`KnowsQuantiles`); one that a file can hold beside `stderr`, a method `describe`
    (`KnowsItself`).
    """

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""

    def stderr(self) -> Floats:
        """The root mean squared error of every cell."""


@runtime_checkable
class KnowsQuantiles(Protocol):
    """An uncertainty that gives intervals of its own."""

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """The low and the high end of the interval around the estimate of Σ weights·cells."""


@runtime_checkable
class KnowsBounds(Protocol):
    """An uncertainty that knows what the noise alone says, whatever the model is."""

    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """Of Σ weights·cells, which the release estimates so; None where only the model is known."""


@runtime_checkable
class KnowsLayers(Protocol):
    """An uncertainty that tells the errors of all sums of a marginal at once."""

    def of_layer(self, layer: Layer) -> Floats:
        """The mean squared errors of the sums, along the axes of the table."""


@runtime_checkable
class KnowsAllCells(Protocol):
    """An uncertainty that gives the intervals of all cells at once."""

    def cell_intervals(self, level: float) -> tuple[Floats, Floats] | None:
        """Their low and their high ends; None if it does not, after all."""


@runtime_checkable
class KnowsLater(Protocol):
    """An uncertainty that stands for another one, which is worked out when it is first asked for."""

    def known(self) -> Uncertainty:
        """The other one."""


@runtime_checkable
class KnowsItself(Protocol):
    """An uncertainty that can be rebuilt from its description and the cells' standard errors."""

    def describe(self) -> dict[str, Any]:
        """A JSON-able description with a `name`."""


class UnknownTogether(InvalidInput):
    """A question about several cells, where only the error of each is known."""


@dataclass(frozen=True, eq=False)
class CellErrors:
    """The standard errors of cells, one by one; how the errors of several cells go together is not known.

    This is what a file keeps of an uncertainty that cannot be described in it. `because`: why there is no more.
    """

    errors: Floats
    because: str = ""

    def variance(self, weights: Floats) -> float:
        """Of one cell, weighted."""
        asked = np.flatnonzero(weights)
        if len(asked) > 1:
            reason = f" ({self.because})" if self.because else ""
            raise UnknownTogether(
                "query",
                f"about {len(asked):,} cells, and this release keeps only the error of each{reason}",
                "ask about one cell, or save the synopsis (`measure(…).save`) and ask what `recover()` gives",
            )
        return float(((weights.flat[asked] * self.errors.flat[asked]) ** 2).sum())

    def stderr(self) -> Floats:
        """As given."""
        return self.errors


def interval_of(
    uncertainty: Uncertainty,
    weights: Floats,
    estimate: float,
    level: float,
    *,
    at_least_zero: bool = False,
    kind: str = LIKELY,
) -> Interval:
    """The interval of one linear query, which the release estimates so; what is known to be at least zero is cut as
    `possible_ends` says.
    """
    known = None if kind == EXPECTED else bounds_of(uncertainty, weights, estimate)
    if kind == GUARANTEED:
        return _guaranteed(known, estimate, level, at_least_zero=at_least_zero)
    low, high = expected_ends(uncertainty, weights, estimate, level)
    if known is not None:
        sure = known.interval(level)
        plausible = known.interval(plausible_level(level)) if plausible_level(level) > 0 else (estimate, estimate)
        if at_least_zero and estimate >= 0:
            sure, plausible = ((max(first, 0.0), max(last, 0.0)) for first, last in (sure, plausible))
        low, high = map(float, likely_ends((low, high), sure, plausible, estimate))
    if at_least_zero:
        low, high = (float(end) for end in possible_ends(low, high, estimate))
    return Interval(low, high, estimate, level, kind)


def _guaranteed(known: Bounds | None, estimate: float, level: float, *, at_least_zero: bool) -> Interval:
    if known is None:
        remedy = "ask for kind='expected' if there is one: random projections do not determine sums of cells, and a "
        raise InvalidInput("kind", "'guaranteed'", f"{remedy}file without its synopsis does not say what was measured")
    low, high = known.interval(level)
    unbiased = min(max(estimate, low), high) if known.exact is None else known.exact.value
    if at_least_zero:
        low, high = (float(end) for end in possible_ends(low, high, unbiased))
    return Interval(low, high, unbiased, level, GUARANTEED)


def bounds_of(uncertainty: Uncertainty, weights: Floats, estimate: float) -> Bounds | None:
    """What the noise alone says of Σ weights·cells, which the release estimates so."""
    return uncertainty.bounds(weights, estimate) if isinstance(uncertainty, KnowsBounds) else None


def expected_ends(uncertainty: Uncertainty, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
    """The ends of the interval that the model expects."""
    if isinstance(uncertainty, KnowsQuantiles):
        return uncertainty.interval(weights, estimate, level)
    half = normal_quantile(level) * sqrt(uncertainty.variance(weights))
    return estimate - half, estimate + half


def plausible_level(level: float) -> float:
    """Of what the noise alone leaves so plausible that no model may leave it out; 0 for nothing."""
    return max(0.0, 1.0 - AGAINST_THE_MODEL * (1.0 - level))


def likely_ends(
    expected: tuple[npt.ArrayLike, npt.ArrayLike],
    guaranteed: tuple[npt.ArrayLike, npt.ArrayLike],
    plausible: tuple[npt.ArrayLike, npt.ArrayLike],
    estimate: npt.ArrayLike,
) -> tuple[Floats, Floats]:
    """What the model expects and what the noise leaves plausible, together, within what it guarantees.

    An estimate that is a little outside of that, as one in twenty is, is held with what is plausible, where both are
    not wider than what is guaranteed; one that is far outside is not.
    """
    low = np.clip(np.minimum(expected[0], plausible[0]), guaranteed[0], guaranteed[1])
    high = np.clip(np.maximum(expected[1], plausible[1]), guaranteed[0], guaranteed[1])
    below, above = np.minimum(plausible[0], estimate), np.maximum(plausible[1], estimate)
    outside = (np.asarray(estimate) < guaranteed[0]) | (np.asarray(estimate) > guaranteed[1])
    held = outside & (above - below <= np.subtract(guaranteed[1], guaranteed[0]))
    return np.where(held, below, low), np.where(held, above, high)


def possible_ends(low: npt.ArrayLike, high: npt.ArrayLike, estimate: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The ends of intervals of what is at least zero, cut there; where noise took the estimate below zero, cut at it.

    Values that are possible are left in, so that intervals hold as often as before, and each holds its own estimate.
    """
    return np.asarray(np.maximum(low, np.minimum(estimate, 0.0))), np.asarray(np.maximum(high, 0.0))


def normal_quantile(level: float) -> float:
    """How many standard deviations on either side hold `level` of a normal variable."""
    return NormalDist().inv_cdf((1 + level) / 2)


def checked_kind(kind: object) -> str:
    """Which interval is meant."""
    validate.one_of("kind", kind, KINDS)
    return str(kind)


def checked_level(level: validate.Number) -> float:
    """The share of intervals that hold the truth, between 0 and 1."""
    number = float(validate.share("level", level))
    if number > HIGHEST_LEVEL:
        raise InvalidInput("level", f"{level}", "give at most 0.999999999: further out nothing can be said")
    return number


def kept_in_file(uncertainty: Uncertainty | None) -> dict[str, Any]:
    """What a file says of an uncertainty, beside the column of standard errors."""
    from sparsedp.releases.error_models import ScaledErrors

    if isinstance(uncertainty, ScaledErrors):
        return {
            name: {**described, "step": str(uncertainty.factor)}
            for name, described in kept_in_file(uncertainty.inner).items()
        }
    return {"uncertainty": uncertainty.describe()} if isinstance(uncertainty, KnowsItself) else {}


def uncertainty_from(description: Mapping[str, Any] | None, errors: Floats) -> Uncertainty:
    """The uncertainty that a file describes, of which the standard errors are left in any case."""
    from sparsedp.releases.error_models import IndependentCells, ScaledErrors

    if not isinstance(description, Mapping) or description.get("name") != IndependentCells.name:
        return CellErrors(errors)
    if "step" not in description:
        return IndependentCells.from_description(description, errors)
    step = validate.positive("step", description["step"])
    return ScaledErrors(IndependentCells.from_description(description, errors / float(step)), step)
