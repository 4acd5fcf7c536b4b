"""Cells with independent errors: what direct measurement leaves, and the one case that a file keeps whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf, isfinite, sqrt
from typing import Any, ClassVar

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import InvalidInput
from sparsedp.noise.gaussian_law import DiscreteGaussianLaw
from sparsedp.noise.law import DiscreteLaplaceLaw, IndependentLaw, noise_law_from
from sparsedp.releases.noise_sums import weighted_sum_quantile
from sparsedp.releases.uncertainty import normal_quantile

NORMAL = 0.03
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
        if abs(excess) * (squares**2).sum() > NORMAL * squares.sum() ** 2:
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
        if not np.allclose(errors**2, law.variance, rtol=1e-9):
            raise InvalidInput("law", "of another variance than the cells'", "give the law of their noise")
        return cls.of_law(law, errors.shape)
