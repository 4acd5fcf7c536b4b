"""Plain inverses: the measurements determine the cells, and nothing is shrunk."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases.haar import Haar
from sparsedp.bases.identity import Identity
from sparsedp.bases.separable import Separable
from sparsedp.errors import InvalidInput
from sparsedp.noise.law import NoiseLaw
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
    return Solution(np.diff(values, prepend=0).astype(np.float64), Status.DIRECT, {})


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
