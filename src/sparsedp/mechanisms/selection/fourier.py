"""A discrete Fourier transform of 2^t numbers with a proven error, and the roots of unity it needs.

Fast libraries are more accurate than they can prove; a score that protects people needs the proof. Every operation
here is a single IEEE addition or multiplication, and `tail_scores.md` counts their roundings:
a root errs by at most 5u, a transform of 2^t numbers by at most ((1 + 9u)^t − 1)·‖result‖₂, with u = 2⁻⁵³.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.jit import kernel

UNIT_ROUNDOFF = Fraction(1, 2**53)
STAGE_ERROR = 9 * UNIT_ROUNDOFF
"""η: the relative error, in L2, of one stage of the transform; also above the error of a root and of a rotation."""


def compounded_error(stages: int) -> Fraction:
    """A rational upper bound of (1 + η)^stages − 1."""
    return stages * STAGE_ERROR / (1 - stages * STAGE_ERROR)


class Roots:
    """The powers of ω = exp(−2πi/order), each within 5u: products of two correctly rounded entries of small tables."""

    def __init__(self, order: int) -> None:
        from mpmath.ctx_mp import MPContext

        self.order = order
        self._shift = (order.bit_length() + 1) // 2
        fine = range(min(order, 1 << self._shift))
        coarse = range(0, order, 1 << self._shift)
        # A context of its own: mpmath's usual one is shared, and another thread could lower its precision meanwhile.
        exact = MPContext()
        exact.prec = 160
        angles = [[exact.mpf(2 * j) / order for j in part] for part in (fine, coarse)]
        self._fine = np.array([[float(exact.cospi(a)), -float(exact.sinpi(a))] for a in angles[0]])
        self._coarse = np.array([[float(exact.cospi(a)), -float(exact.sinpi(a))] for a in angles[1]])

    def powers(self, exponents: Integers) -> tuple[Floats, Floats]:
        """Real and imaginary parts of ω^e for exponents in [0, order)."""
        return _powers(exponents, self._shift, self._fine, self._coarse)


@kernel
def _powers(exponents: Integers, shift: int, fine: Floats, coarse: Floats) -> tuple[Floats, Floats]:
    real, imaginary = np.empty(len(exponents)), np.empty(len(exponents))
    for i in range(len(exponents)):
        a, b = coarse[exponents[i] >> shift], fine[exponents[i] & ((1 << shift) - 1)]
        real[i] = a[0] * b[0] - a[1] * b[1]
        imaginary[i] = a[0] * b[1] + a[1] * b[0]
    return real, imaginary


def fourier(real: Floats, imaginary: Floats) -> tuple[Floats, Floats]:
    """Σⱼ zⱼ exp(−2πi jk/M) for M = len(z) a power of two. The arguments are overwritten."""
    size = len(real)
    root_real, root_imaginary = Roots(size).powers(np.arange(max(1, size // 2), dtype=np.int64))
    scratch = np.empty(size), np.empty(size)
    if _stages(real, imaginary, *scratch, root_real, root_imaginary):
        return scratch
    return real, imaginary


@kernel
def _stages(xr: Floats, xi: Floats, yr: Floats, yi: Floats, wr: Floats, wi: Floats) -> bool:
    """Stockham's radix-2 stages, back and forth between x and y; whether the result is in y."""
    size = len(xr)
    span, stride = size, 1
    swapped = False
    while span > 1:
        half = span // 2
        for p in range(half):
            c, s = wr[p * stride], wi[p * stride]
            near, far, to = stride * p, stride * (p + half), stride * 2 * p
            for q in range(stride):
                ar, ai = xr[near + q], xi[near + q]
                br, bi = xr[far + q], xi[far + q]
                dr, di = ar - br, ai - bi
                yr[to + q] = ar + br
                yi[to + q] = ai + bi
                yr[to + stride + q] = dr * c - di * s
                yi[to + stride + q] = dr * s + di * c
        xr, xi, yr, yi = yr, yi, xr, xi
        swapped = not swapped
        span, stride = half, stride * 2
    return swapped
