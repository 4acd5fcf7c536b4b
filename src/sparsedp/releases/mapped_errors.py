"""The errors of what follows from a release by arithmetic: the same cells in another unit, or sums over whole axes."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.progress import advance, stage
from sparsedp.releases.independent_cells import IndependentCells
from sparsedp.releases.uncertainty import Uncertainty, interval_of

MANY = 128
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
    """The errors of sums over all axes but `kept`: a question about such sums is one about the cells themselves."""

    def __init__(self, inner: Uncertainty, shape: tuple[int, ...], kept: tuple[int, ...]) -> None:
        """`shape` is the table's; `kept`, the numbers of its axes that are left, in the order of the sums' axes."""
        self._inner, self._shape, self._kept = inner, shape, kept

    def variance(self, weights: Floats) -> float:
        """Of Σ weights·sums."""
        return self._inner.variance(self._of_cells(weights))

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """As for the cells that are added up."""
        found = interval_of(self._inner, self._of_cells(weights), estimate, level)
        return found.low, found.high

    def stderr(self) -> Floats:
        """One question for each sum, unless errors are independent: so many times what one question costs."""
        if isinstance(self._inner, IndependentCells):
            whole = np.broadcast_to(self._inner.variances, self._shape)
            return np.sqrt(summed(whole, self._kept))
        sums = tuple(self._shape[axis] for axis in self._kept)
        errors = np.zeros(sums)
        asked = np.zeros(sums)
        with stage(f"estimating the errors of {errors.size:,} sums"):
            for number, place in enumerate(np.ndindex(*sums)):
                advance(number / errors.size)
                asked[place] = 1.0
                errors[place] = self.variance(asked) ** 0.5
                asked[place] = 0.0
        return errors

    def _of_cells(self, weights: Floats) -> Floats:
        """A sum's weight is that of each of its cells."""
        in_order = np.asarray(weights, np.float64).reshape([self._shape[axis] for axis in self._kept])
        in_order = in_order.transpose(np.argsort(self._kept))
        lengths = [length if axis in self._kept else 1 for axis, length in enumerate(self._shape)]
        return np.ascontiguousarray(np.broadcast_to(in_order.reshape(lengths), self._shape))


def summed(cells: Floats, kept: tuple[int, ...]) -> Floats:
    """The sums over all axes but the kept ones, which come in the order they are named in."""
    dropped = tuple(axis for axis in range(cells.ndim) if axis not in kept)
    return np.ascontiguousarray(cells.sum(axis=dropped).transpose(np.argsort(np.argsort(kept))))


def marginal_errors(errors: Uncertainty, shape: tuple[int, ...], kept: tuple[int, ...]) -> Uncertainty:
    """The errors of the sums that a marginal is made of."""
    if isinstance(errors, ScaledErrors):
        return ScaledErrors(marginal_errors(errors.inner, shape, kept), errors.factor)
    each = prod(length for axis, length in enumerate(shape) if axis not in kept)
    if isinstance(errors, IndependentCells) and each >= MANY:
        return IndependentCells(summed(np.broadcast_to(errors.variances, shape), kept))
    return MarginalErrors(errors, shape, kept)


def cost(errors: Uncertainty, cells: int) -> int:
    """How many cells one question is about, as far as its price goes; `cells` are those of the whole table."""
    if isinstance(errors, ScaledErrors):
        return cost(errors.inner, cells)
    return errors.variances.size if isinstance(errors, IndependentCells) else cells
