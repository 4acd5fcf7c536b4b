"""Scores from coefficients in floating point: clamped counts, a proven error, a grid, a widened sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.mechanisms.selection.magnitudes import LargestFirst
from sparsedp.mechanisms.selection.scores import TailScores, clamped

LARGEST_CAP_BITS = 50
"""Counts up to 2⁵⁰ are exact as floats; no cap is larger."""

ERROR_SHARE = Fraction(1, 64)
"""The cap is the largest power of two that keeps the proven error below this share of one unit's sensitivity."""

UNDERFLOW = Fraction(1, 2**400)
"""Far above what all the underflowing operations of one analysis can add up to."""


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
        return (isqrt(self.size * self.n - 1) + 1) * cap * self.relative_error + UNDERFLOW

    @property
    def cap(self) -> int:
        """The public bound that counts are clamped to."""
        allowed = int(ERROR_SHARE * self.row_sum_bound / self.tail_error(1))
        return int(2 ** max(0, min(LARGEST_CAP_BITS, allowed.bit_length() - 1)))

    @property
    def grid_bits(self) -> int:
        """g such that every |coefficient|·2^g stays below 2⁶²: |x| ≤ ‖x‖₂ ≤ 2·cap·√n."""
        return 60 - (self.cap * (isqrt(self.n) + 1)).bit_length()


def rounded_tails(analysis: ProvenAnalysis, counts: Integers, candidates: Sequence[int], distance: int) -> TailScores:
    """Sums of coefficients rounded to a grid. Cap, grid and sensitivity follow from the analysis alone."""
    cap, grid = analysis.cap, analysis.grid_bits
    coefficients = analysis.compute(clamped(counts, cap).astype(np.float64))
    # Scaling by a power of two and rounding to the nearest integer below 2⁶² are both exact operations.
    magnitudes = np.rint(np.abs(coefficients) * 2.0**grid).astype(np.int64)
    largest = LargestFirst(magnitudes, max(candidates))
    scores = tuple(largest.sum_of_rest(sparsity) for sparsity in candidates)
    step = Fraction(2) ** -grid
    error = analysis.tail_error(cap) + analysis.size * step / 2
    return TailScores(scores, step, distance * analysis.row_sum_bound + 2 * error)
