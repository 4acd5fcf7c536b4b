"""Tails in the orthogonal wavelets of PyWavelets: a filter bank in floats, its error proven from the filter's taps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import isqrt

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases.wavelet import Wavelet
from sparsedp.jit import kernel
from sparsedp.mechanisms.selection.exact_tails import identity_tails
from sparsedp.mechanisms.selection.fourier import UNIT_ROUNDOFF
from sparsedp.mechanisms.selection.rounded_tails import ProvenAnalysis, rounded_tails
from sparsedp.mechanisms.selection.scores import TailScores

Taps = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

NORM_BITS = 80


def wavelet_tails(basis: Wavelet, counts: Integers, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of a wavelet basis; with too few cells for one level it is the identity, and exact."""
    if basis.levels == 0:
        return identity_tails(basis, counts, candidates, distance)
    return rounded_tails(wavelet_analysis(basis), counts, candidates, distance)


def wavelet_analysis(basis: Wavelet) -> ProvenAnalysis:
    """The periodised filter bank of `basis`, its taps taken as the exact numbers that the floats are."""
    taps = filter_taps(basis.name)
    low, high = (np.array([float(tap) for tap in band]) for band in taps)
    compute = partial(filter_bank, low=low, high=high, levels=basis.levels, size=basis.size)
    error = filter_bank_relative_error(taps, basis.levels)
    row_sum = basis.row_sum_bound + row_sum_rounding(taps, basis.levels)
    return ProvenAnalysis(basis.n, basis.size, compute, error, row_sum)


def filter_taps(name: str) -> Taps:
    """The analysis filters (low, high) as exact rationals."""
    import pywt

    wavelet = pywt.Wavelet(name)
    return tuple(map(Fraction, wavelet.dec_lo)), tuple(map(Fraction, wavelet.dec_hi))


def filter_bank_relative_error(taps: Taps, levels: int) -> Fraction:
    """An upper bound of ‖computed − exact‖₂ / ‖D‖₂: (ν + γρ)^levels − ν^levels, as `tail_scores.md` derives it."""
    length = len(taps[0])
    gamma = length * UNIT_ROUNDOFF / (1 - length * UNIT_ROUNDOFF)
    norm = rounded_up(level_norm(taps))
    local = rounded_up(gamma * absolute_norm(taps))
    return (norm + local) ** levels - norm**levels


def row_sum_rounding(taps: Taps, levels: int) -> Fraction:
    """An upper bound of the rounding error in `Wavelet.row_sum_bound`: γ times the sums of magnitudes.

    The margin it has covers the shorter filters; the longest, on billions of cells, need this.
    """
    length = len(taps[0])
    operations = (levels + 1) * (length + 2) + levels
    gamma = operations * UNIT_ROUNDOFF / (1 - operations * UNIT_ROUNDOFF)
    smooth, detail = (rounded_up(max(magnitude(band[0::2]), magnitude(band[1::2]))) for band in taps)
    return rounded_up(gamma * (sum(detail * smooth**level for level in range(levels)) + smooth**levels))


def level_norm(taps: Taps) -> Fraction:
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


def absolute_norm(taps: Taps) -> Fraction:
    """ρ: an upper bound of the operator norm of one level with its entries replaced by their magnitudes."""
    row = max(magnitude(band) for band in taps)
    column = max(sum(magnitude(band[parity::2]) for band in taps) for parity in (0, 1))
    return Fraction(isqrt(int(row * column * 2**40)) + 1, 2**20)


def magnitude(taps: Sequence[Fraction]) -> Fraction:
    """Σ |tap|."""
    return sum((abs(tap) for tap in taps), Fraction(0))


def rounded_up(number: Fraction) -> Fraction:
    """The next multiple of 2^−80 that is not below, so that powers stay small."""
    return Fraction(-(-(number.numerator << NORM_BITS) // number.denominator), 1 << NORM_BITS)


def filter_bank(signal: Floats, *, low: Floats, high: Floats, levels: int, size: int) -> Floats:
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
