"""Tails in the cosine basis: floats with a proven error, rounded to integers, the sensitivity widened by it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases.base import Basis
from sparsedp.mechanisms.selection.fourier import Roots, compounded_error, fourier
from sparsedp.mechanisms.selection.rounded_tails import ProvenAnalysis, rounded_tails
from sparsedp.mechanisms.selection.scores import TailScores


def cosine_tails(basis: Basis, counts: Integers, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of the orthonormal DCT-II of any length."""
    return rounded_tails(cosine_analysis(basis), counts, candidates, distance)


def cosine_analysis(basis: Basis) -> ProvenAnalysis:
    """The orthonormal DCT-II of `basis.n` cells."""
    n = basis.n
    return ProvenAnalysis(n, n, cosine_coefficients, cosine_relative_error(n), basis.row_sum_bound)


def cosine_relative_error(n: int) -> Fraction:
    """An upper bound of ‖computed − exact‖₂ / ‖D‖₂ for `cosine_coefficients` of n cells."""
    if is_power_of_two(n):
        return Fraction(3, 2) * compounded_error((n - 1).bit_length() + 2)
    size = chirp_size(n)
    stages = (size - 1).bit_length()
    spectrum = 2 * n * compounded_error(2 * stages + 4)
    chirp = (isqrt(size * (2 * n - 1)) + 1) * compounded_error(stages + 3)
    return Fraction(3, 2) * (spectrum + chirp) / isqrt(n)


def cosine_coefficients(signal: Floats) -> Floats:
    """The orthonormal DCT-II of n whole numbers below 2⁵³, within `cosine_relative_error(n)`."""
    n = len(signal)
    roots = Roots(4 * n)
    real, imaginary, turn = _rotated_sums(signal) if is_power_of_two(n) else _chirp_sums(signal, roots)
    turn_real, turn_imaginary = roots.powers(turn)
    coefficients = real * turn_real - imaginary * turn_imaginary
    coefficients[1:] *= np.sqrt(2.0 / n)
    coefficients[0] *= np.sqrt(1.0 / n)
    return coefficients


def _rotated_sums(signal: Floats) -> tuple[Floats, Floats, Integers]:
    """For n = 2^t: the transform of the even cells followed by the odd ones backwards, still to be turned by k/4n."""
    real = np.concatenate([signal[0::2], signal[1::2][::-1]])
    return *fourier(real, np.zeros(len(signal))), np.arange(len(signal), dtype=np.int64)


def _chirp_sums(signal: Floats, roots: Roots) -> tuple[Floats, Floats, Integers]:
    """For any n: Σⱼ Dⱼ ω^(2jk) with ω = exp(−2πi/4n) as a convolution, since 2jk = j² + k² − (k − j)²."""
    n = len(signal)
    size = chirp_size(n)
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


def is_power_of_two(n: int) -> bool:
    """Whether n is 1, 2, 4, …"""
    return n & (n - 1) == 0


def chirp_size(n: int) -> int:
    """The least power of two that holds the convolution of n cells without wrapping."""
    return int(2 ** (2 * n - 2).bit_length())
