"""Plain inverses: the measurements determine the cells, and nothing is shrunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases.haar import Haar
from sparsedp.bases.identity import Identity
from sparsedp.bases.separable import Separable
from sparsedp.errors import InvalidInput
from sparsedp.laws import ContinualCounterLaw, NoiseLaw
from sparsedp.recovery.solution import Solution, Status
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.direct import Direct
from sparsedp.sensing.integer_haar import IntegerHaar
from sparsedp.sensing.integer_haar_table import IntegerHaarTable
from sparsedp.sensing.running_totals import RunningTotals


def direct(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The noisy cells as they are."""
    if not isinstance(sensing, Direct):
        raise InvalidInput("recovery", "'direct'", "it needs direct sensing")
    return Solution(values.astype(np.float64), Status.DIRECT, {})


def differences(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
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


def inverse_haar(sensing: Sensing, values: Integers, law: NoiseLaw) -> Solution:
    """The inverse of the padded integer Haar transform, cut to the real cells, as in Privelet.

    Row 2^j + b of the sensing is √(N/2^j) times the orthonormal coefficient; row 0 is √N times it. Over a table that
    holds along every ordered axis.
    """
    if isinstance(sensing, IntegerHaarTable):
        axes = list(zip(sensing.shape, sensing.ordered, strict=True))
        table = values.reshape(sensing.padded_shape).astype(np.float64)
        for axis, size in enumerate(sensing.padded_shape):
            if sensing.ordered[axis]:
                table /= _scales(size).reshape([-1 if other == axis else 1 for other in range(len(axes))])
        basis = Separable([Haar(length) if ordered else Identity(length) for length, ordered in axes])
        return Solution(basis.synthesize(table.ravel()), Status.DIRECT, {})
    if not isinstance(sensing, IntegerHaar):
        raise InvalidInput("recovery", "'inverse_haar'", "it needs integer Haar sensing")
    return Solution(Haar(sensing.n).synthesize(values / _scales(sensing.padded_size)), Status.DIRECT, {})


def _scales(size: int) -> Floats:
    """What each row of integer Haar sensing is, times the orthonormal coefficient."""
    scales = np.full(size, np.sqrt(size))
    for level in range(size.bit_length() - 1):
        scales[2**level : 2 ** (level + 1)] = np.sqrt(size / 2**level)
    return scales
