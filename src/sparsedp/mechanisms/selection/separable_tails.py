"""Tails over tables: Haar along the ordered axes, cells as they are along the others; floats with a proven error."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import prod, sqrt

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases.haar import Haar
from sparsedp.bases.identity import Identity
from sparsedp.bases.separable import Separable
from sparsedp.mechanisms.selection.rounded_tails import ProvenAnalysis, rounded_tails
from sparsedp.mechanisms.selection.scores import TailScores
from sparsedp.mechanisms.selection.wavelet_tails import Taps, filter_bank_relative_error, level_norm, rounded_up

TAP = sqrt(0.5)
"""√½, correctly rounded: within 2⁻⁵³ of it, relatively."""

TAPS: Taps = ((Fraction(TAP), Fraction(TAP)), (-Fraction(TAP), Fraction(TAP)))


def has_proven_tails(basis: Separable) -> bool:
    """Whether every axis has the Haar basis or none."""
    return all(isinstance(axis, Haar | Identity) for axis in basis.bases)


def separable_tails(basis: Separable, counts: Integers, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of Haar coefficients along some axes of a table."""
    return rounded_tails(separable_analysis(basis), counts, candidates, distance)


def separable_analysis(basis: Separable) -> ProvenAnalysis:
    """Axis after axis, the taps taken as the exact numbers that the floats are."""
    levels = [_levels(axis) for axis in basis.bases]
    norm = rounded_up(level_norm(TAPS))
    exact = prod((norm**count for count in levels), start=Fraction(1))
    computed = prod((norm**count + filter_bank_relative_error(TAPS, count) for count in levels), start=Fraction(1))
    # A tap is above √½ by at most 2⁻⁵³ of it, so an entry of L taps by less than L·2⁻⁵² of it.
    row_sum = basis.row_sum_bound * prod((1 + Fraction(count, 2**52) for count in levels), start=Fraction(1))
    return ProvenAnalysis(basis.n, basis.size, partial(_analyze, basis), computed - exact, row_sum)


def _analyze(basis: Separable, signal: Floats) -> Floats:
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
