"""Coefficients in floating point with a proven error: cosine, wavelets, and Haar over tables (`tail_scores.md`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt, prod, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases.base import Basis, Identity
from sparsedp.bases.haar import Haar
from sparsedp.bases.separable import Separable
from sparsedp.bases.wavelet import Wavelet
from sparsedp.jit import kernel

_LARGEST_CAP_BITS = 50
"""Counts up to 2⁵⁰ are exact as floats; no cap is larger."""

ERROR_SHARE = Fraction(1, 64)
"""The cap is the largest power of two that keeps the proven error below this share of one unit's sensitivity."""

_UNDERFLOW = Fraction(1, 2**400)
"""Far above what all the underflowing operations of one analysis can add up to."""

_UNIT_ROUNDOFF = Fraction(1, 2**53)
_STAGE_ERROR = 9 * _UNIT_ROUNDOFF
"""η: the relative error, in L2, of one stage of the transform; also above the error of a root and of a rotation."""

_Taps = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

_NORM_BITS = 80

TAP = sqrt(0.5)
"""√½, correctly rounded: within 2⁻⁵³ of it, relatively."""

_TAPS: _Taps = ((Fraction(TAP), Fraction(TAP)), (-Fraction(TAP), Fraction(TAP)))


@dataclass(frozen=True)
class ProvenAnalysis:
    """A linear map W from n cells to `size` coefficients, and code for it whose error is proven.

    For every D of whole numbers up to 2⁵⁰: ‖compute(D) − W D‖₂ ≤ relative_error·‖D‖₂ (but for underflow), and
    ‖W D‖₂ ≤ (2 − relative_error)·‖D‖₂. Every column of W has L1 norm at most `row_sum_bound`.
    """

    n: int
    size: int
    compute: Callable[[Floats], Floats]
    relative_error: Fraction
    row_sum_bound: Fraction

    def tail_error(self, cap: int) -> Fraction:
        """The most that computing in floats moves a tail, for counts up to `cap`: ‖·‖₁ ≤ √size·‖·‖₂, ‖D‖₂ ≤ cap·√n."""
        return (isqrt(self.size * self.n - 1) + 1) * cap * self.relative_error + _UNDERFLOW

    @property
    def cap(self) -> int:
        """The public bound that counts are clamped to."""
        allowed = int(ERROR_SHARE * self.row_sum_bound / self.tail_error(1))
        return int(2 ** max(0, min(_LARGEST_CAP_BITS, allowed.bit_length() - 1)))

    @property
    def grid_bits(self) -> int:
        """g such that every |coefficient|·2^g stays below 2⁶²: |x| ≤ ‖x‖₂ ≤ 2·cap·√n."""
        return 60 - (self.cap * (isqrt(self.n) + 1)).bit_length()


# ---- cosine: the orthonormal DCT-II of any length


def cosine_analysis(basis: Basis) -> ProvenAnalysis:
    """The orthonormal DCT-II of `basis.n` cells."""
    n = basis.n
    return ProvenAnalysis(n, n, cosine_coefficients, cosine_relative_error(n), basis.row_sum_bound)


def cosine_relative_error(n: int) -> Fraction:
    """An upper bound of ‖computed − exact‖₂ / ‖D‖₂ for `cosine_coefficients` of n cells."""
    if _is_power_of_two(n):
        return Fraction(3, 2) * compounded_error((n - 1).bit_length() + 2)
    size = _chirp_size(n)
    stages = (size - 1).bit_length()
    spectrum = 2 * n * compounded_error(2 * stages + 4)
    chirp = (isqrt(size * (2 * n - 1)) + 1) * compounded_error(stages + 3)
    return Fraction(3, 2) * (spectrum + chirp) / isqrt(n)


def cosine_coefficients(signal: Floats) -> Floats:
    """The orthonormal DCT-II of n whole numbers below 2⁵³, within `cosine_relative_error(n)`."""
    n = len(signal)
    roots = Roots(4 * n)
    real, imaginary, turn = _rotated_sums(signal) if _is_power_of_two(n) else _chirp_sums(signal, roots)
    turn_real, turn_imaginary = roots.powers(turn)
    coefficients = real * turn_real - imaginary * turn_imaginary
    coefficients[1:] *= np.sqrt(2.0 / n)
    coefficients[0] *= np.sqrt(1.0 / n)
    return coefficients


def _rotated_sums(signal: Floats) -> tuple[Floats, Floats, Ints]:
    """For n = 2^t: the transform of the even cells followed by the odd ones backwards, still to be turned by k/4n."""
    real = np.concatenate([signal[0::2], signal[1::2][::-1]])
    return *fourier(real, np.zeros(len(signal))), np.arange(len(signal), dtype=np.int64)


def _chirp_sums(signal: Floats, roots: Roots) -> tuple[Floats, Floats, Ints]:
    """For any n: Σⱼ Dⱼ ω^(2jk) with ω = exp(−2πi/4n) as a convolution, since 2jk = j² + k² − (k − j)²."""
    n = len(signal)
    size = _chirp_size(n)
    index = np.arange(n, dtype=np.int64)
    chirp_real, chirp_imaginary = roots.powers(index * index % (4 * n))
    real, imaginary = np.zeros(size), np.zeros(size)
    real[:n], imaginary[:n] = signal * chirp_real, signal * chirp_imaginary
    real, imaginary = fourier(real, imaginary)
    filter_real, filter_imaginary = np.zeros(size), np.zeros(size)
    filter_real[:n], filter_imaginary[:n] = chirp_real, -chirp_imaginary
    filter_real[size - n + 1 :], filter_imaginary[size - n + 1 :] = chirp_real[:0:-1], -chirp_imaginary[:0:-1]
    filter_real, filter_imaginary = fourier(filter_real, filter_imaginary)
    # The inverse transform is the conjugate of the transform of the conjugate, over the size (a power of two: exact).
    product_real = real * filter_real - imaginary * filter_imaginary
    product_imaginary = real * filter_imaginary + imaginary * filter_real
    real, imaginary = fourier(product_real, -product_imaginary)
    return real[:n] / size, -imaginary[:n] / size, (index * index + index) % (4 * n)


def _is_power_of_two(n: int) -> bool:
    """Whether n is 1, 2, 4, …"""
    return n & (n - 1) == 0


def _chirp_size(n: int) -> int:
    """The least power of two that holds the convolution of n cells without wrapping."""
    return int(2 ** (2 * n - 2).bit_length())


# ---- a discrete Fourier transform of 2^t numbers with a proven error, and the roots of unity it needs
#
# Fast libraries are more accurate than they can prove; a score that protects people needs the proof. Every operation
# here is a single IEEE addition or multiplication, and `tail_scores.md` counts their roundings:
# a root errs by at most 5u, a transform of 2^t numbers by at most ((1 + 9u)^t − 1)·‖result‖₂, with u = 2⁻⁵³.


def compounded_error(stages: int) -> Fraction:
    """A rational upper bound of (1 + η)^stages − 1."""
    return stages * _STAGE_ERROR / (1 - stages * _STAGE_ERROR)


@lru_cache(maxsize=4)
def _root_tables(order: int) -> tuple[int, Floats, Floats]:
    """The shift and both tables, kept for the next transform of this length: many digits take long."""
    from mpmath.ctx_mp import MPContext

    shift = (order.bit_length() + 1) // 2
    # A context of its own: mpmath's usual one is shared, and another thread could lower its precision meanwhile.
    exact = MPContext()
    exact.prec = 160

    def table(part: range) -> Floats:
        angles = [exact.mpf(2 * j) / order for j in part]
        found = np.array([[float(exact.cospi(a)), -float(exact.sinpi(a))] for a in angles])
        found.flags.writeable = False
        return found

    return shift, table(range(min(order, 1 << shift))), table(range(0, order, 1 << shift))


class Roots:
    """The powers of ω = exp(−2πi/order), each within 5u: products of two correctly rounded entries of small tables."""

    def __init__(self, order: int) -> None:
        self.order = order
        self._shift, self._fine, self._coarse = _root_tables(order)

    def powers(self, exponents: Ints) -> tuple[Floats, Floats]:
        """Real and imaginary parts of ω^e for exponents in [0, order)."""
        return _powers(exponents, self._shift, self._fine, self._coarse)


@kernel
def _powers(exponents: Ints, shift: int, fine: Floats, coarse: Floats) -> tuple[Floats, Floats]:
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
    if _fourier_stages(real, imaginary, *scratch, root_real, root_imaginary):
        return scratch
    return real, imaginary


@kernel
def _fourier_stages(xr: Floats, xi: Floats, yr: Floats, yi: Floats, wr: Floats, wi: Floats) -> bool:
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


# ---- the orthogonal wavelets of PyWavelets: a filter bank in floats, its error proven from the filter's taps


def wavelet_analysis(basis: Wavelet) -> ProvenAnalysis:
    """The periodised filter bank of `basis`, its taps taken as the exact numbers that the floats are."""
    taps = filter_taps(basis.name)
    low, high = (np.array([float(tap) for tap in band]) for band in taps)
    compute = partial(_filter_bank, low=low, high=high, levels=basis.levels, size=basis.size)
    error = filter_bank_relative_error(taps, basis.levels)
    row_sum = basis.row_sum_bound + row_sum_rounding(taps, basis.levels)
    return ProvenAnalysis(basis.n, basis.size, compute, error, row_sum)


def filter_taps(name: str) -> _Taps:
    """The analysis filters (low, high) as exact rationals."""
    import pywt

    wavelet = pywt.Wavelet(name)
    return tuple(map(Fraction, wavelet.dec_lo)), tuple(map(Fraction, wavelet.dec_hi))


def filter_bank_relative_error(taps: _Taps, levels: int) -> Fraction:
    """An upper bound of ‖computed − exact‖₂ / ‖D‖₂: (ν + γρ)^levels − ν^levels, as `tail_scores.md` derives it."""
    length = len(taps[0])
    gamma = length * _UNIT_ROUNDOFF / (1 - length * _UNIT_ROUNDOFF)
    norm = _rounded_up(level_norm(taps))
    local = _rounded_up(gamma * absolute_norm(taps))
    return (norm + local) ** levels - norm**levels


def row_sum_rounding(taps: _Taps, levels: int) -> Fraction:
    """An upper bound of the rounding error in `Wavelet.row_sum_bound`: γ times the sums of magnitudes.

    The margin it has covers the shorter filters; the longest, on billions of cells, need this.
    """
    length = len(taps[0])
    operations = (levels + 1) * (length + 2) + levels
    gamma = operations * _UNIT_ROUNDOFF / (1 - operations * _UNIT_ROUNDOFF)
    smooth, detail = (_rounded_up(max(_magnitude(band[0::2]), _magnitude(band[1::2]))) for band in taps)
    return _rounded_up(gamma * (sum(detail * smooth**level for level in range(levels)) + smooth**levels))


def level_norm(taps: _Taps) -> Fraction:
    """ν: an upper bound of the operator norm of one level, 1 but for the taps' own decimals."""
    length = len(taps[0])
    worst = Fraction(0)
    for band in taps:
        row = Fraction(0)
        for other in taps:
            for lag in range(-(length // 2) * 2, length, 2):
                overlap = range(max(0, -lag), min(length, length - lag))
                row += abs(sum((band[i] * other[i + lag] for i in overlap), Fraction(0)))
        worst = max(worst, row)
    return max(Fraction(1), (1 + worst) / 2)


def absolute_norm(taps: _Taps) -> Fraction:
    """ρ: an upper bound of the operator norm of one level with its entries replaced by their magnitudes."""
    row = max(_magnitude(band) for band in taps)
    column = max(sum(_magnitude(band[parity::2]) for band in taps) for parity in (0, 1))
    return Fraction(isqrt(int(row * column * 2**40)) + 1, 2**20)


def _magnitude(taps: Sequence[Fraction]) -> Fraction:
    """Σ |tap|."""
    return sum((abs(tap) for tap in taps), Fraction(0))


def _rounded_up(number: Fraction) -> Fraction:
    """The next multiple of 2^−80 that is not below, so that powers stay small."""
    return Fraction(-(-(number.numerator << _NORM_BITS) // number.denominator), 1 << _NORM_BITS)


def _filter_bank(signal: Floats, *, low: Floats, high: Floats, levels: int, size: int) -> Floats:
    """Approximation first, then details, coarsest first; as PyWavelets lays a periodised signal out."""
    smooth = np.zeros(size)
    smooth[: len(signal)] = signal
    coefficients = np.empty(size)
    for _ in range(levels):
        half = len(smooth) // 2
        smooth = _one_level(smooth, low, high, coefficients[half : 2 * half])
    coefficients[: len(smooth)] = smooth
    return coefficients


@kernel
def _one_level(cells: Floats, low: Floats, high: Floats, detail: Floats) -> Floats:
    """smooth[i] = Σⱼ low[j]·cells[2i + F/2 − j], detail likewise, places modulo the length."""
    size, taps = len(cells), len(low)
    wrapped = np.empty(size + taps)
    for i in range(size + taps):
        wrapped[i] = cells[(i + taps // 2 - taps + 1) % size]
    smooth = np.empty(size // 2)
    for i in range(size // 2):
        first, second = 0.0, 0.0
        for j in range(taps):
            value = wrapped[2 * i + taps - 1 - j]
            first += low[j] * value
            second += high[j] * value
        smooth[i] = first
        detail[i] = second
    return smooth


# ---- tables: Haar along the ordered axes, cells as they are along the others


def has_proven_analysis(basis: Separable) -> bool:
    """Whether every axis has the Haar basis or none."""
    return all(isinstance(axis, Haar | Identity) for axis in basis.bases)


def separable_analysis(basis: Separable) -> ProvenAnalysis:
    """Axis after axis, the taps taken as the exact numbers that the floats are."""
    levels = [_levels(axis) for axis in basis.bases]
    norm = _rounded_up(level_norm(_TAPS))
    exact = prod((norm**count for count in levels), start=Fraction(1))
    computed = prod((norm**count + filter_bank_relative_error(_TAPS, count) for count in levels), start=Fraction(1))
    # A tap is above √½ by at most 2⁻⁵³ of it, so an entry of L taps by less than L·2⁻⁵² of it.
    row_sum = basis.row_sum_bound * prod((1 + Fraction(count, 2**52) for count in levels), start=Fraction(1))
    return ProvenAnalysis(basis.n, basis.size, partial(_analyze_table, basis), computed - exact, row_sum)


def _analyze_table(basis: Separable, signal: Floats) -> Floats:
    table = signal.reshape(basis.shape)
    for place, axis in enumerate(basis.bases):
        if isinstance(axis, Haar):
            table = np.moveaxis(_haar_rows(np.moveaxis(table, place, 0), axis.size), 0, place)
    return table.reshape(-1)


def _haar_rows(cells: Floats, size: int) -> Floats:
    """Haar along the first axis, in heap order: each number is two products and their sum."""
    smooth = np.zeros((size, *cells.shape[1:]))
    smooth[: len(cells)] = cells
    coefficients = np.empty(smooth.shape)
    while len(smooth) > 1:
        half = len(smooth) // 2
        left, right = smooth[0::2] * TAP, smooth[1::2] * TAP
        coefficients[half : 2 * half] = left - right
        smooth = left + right
    coefficients[:1] = smooth
    return coefficients


def _levels(axis: object) -> int:
    return axis.size.bit_length() - 1 if isinstance(axis, Haar) else 0
