"""Scores of every candidate S in any basis: ‖x − x_S‖₁ with x = Ψᵀ D, exact or with a proven error.

Guarantee: |score(D) − score(D′)|·step ≤ sensitivity whenever ‖D − D′‖₁ ≤ distance; proof in `tail_scores.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.bases.base import Basis, Identity
from sparsedp.bases.cosine import Cosine
from sparsedp.bases.haar import Haar
from sparsedp.bases.separable import Separable
from sparsedp.bases.wavelet import Wavelet
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.selection._proven_analyses import (
    ProvenAnalysis,
    cosine_analysis,
    has_proven_analysis,
    separable_analysis,
    wavelet_analysis,
)

_IDENTITY_CAP = 2**62
"""Counts beyond it are taken as it: the magnitude of every clamped count is a 64-bit integer."""

_FRACTION_BITS = 20
"""Haar scores keep this many binary digits after the scaled integers."""

_LOW_BITS = 32
_LOW_MASK = np.int64(2**_LOW_BITS - 1)


@dataclass(frozen=True)
class TailScores:
    """scores[i]·step ≈ ‖x − x_S‖₁ for the i-th candidate S; `sensitivity` bounds its change between neighbours.

    Exactly: |scores[i](D) − scores[i](D′)|·step ≤ sensitivity whenever ‖D − D′‖₁ ≤ distance, for every i.
    The scores are private; `step` and `sensitivity` depend on the basis and the distance alone.
    """

    scores: tuple[int, ...] = field(repr=False)
    step: Fraction
    sensitivity: Fraction


def tail_scores(basis: Basis, counts: Ints, candidates: Sequence[int], *, distance: int) -> TailScores:
    """The tail of each candidate sparsity. Counts are private, the rest is public; nothing is refused for its value."""
    if counts.shape != (basis.n,):
        raise InvalidInput("counts", "of another length than the basis", f"give {basis.n} cells")
    distance = validate.whole("distance", distance)
    for sparsity in candidates:
        validate.whole("sparsity", sparsity, most=basis.n, why="the number of cells")
    return tails_in(basis)(counts, candidates, distance)


def tails_in(basis: Basis) -> Callable[[Ints, Sequence[int], int], TailScores]:
    """The scores of a basis; one without a proof is refused, and asking does not take the counts."""
    if isinstance(basis, Identity):
        return lambda *rest: _identity_tails(basis, *rest)
    if isinstance(basis, Haar):
        return lambda *rest: _haar_tails(basis, *rest)
    if isinstance(basis, Cosine):
        return lambda *rest: _rounded_tails(cosine_analysis(basis), *rest)
    if isinstance(basis, Wavelet) and basis.levels == 0:
        # With too few cells for one level it is the identity, and exact.
        return lambda *rest: _identity_tails(basis, *rest)
    if isinstance(basis, Wavelet):
        return lambda *rest: _rounded_tails(wavelet_analysis(basis), *rest)
    if isinstance(basis, Separable) and has_proven_analysis(basis):
        return lambda *rest: _rounded_tails(separable_analysis(basis), *rest)
    given = f"{basis.name!r}, in which no private choice of the sparsity is proven"
    raise InvalidInput("basis", given, 'give sparsity= as a number, such as 32, or basis="haar"')


# ---- exact, for the bases whose coefficients are integers, or integers times √2: identity and Haar


def _identity_tails(basis: Basis, counts: Ints, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of the identity: sums of the cells outside the S largest, in steps of one."""
    largest = LargestFirst(np.abs(_clamped(counts, _IDENTITY_CAP)), max(candidates))
    scores = tuple(largest.sum_of_rest(min(sparsity, len(largest))) for sparsity in candidates)
    return TailScores(scores, Fraction(1), distance * basis.row_sum_bound)


def _haar_tails(basis: Basis, counts: Ints, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of Haar: ⌊(A + B√2)·2^f⌋ for the exact scaled tail A + B√2; the sensitivity is widened by one step."""
    levels = (basis.size - 1).bit_length()
    half = (levels + 1) // 2
    whole, root = haar_magnitudes(_clamped(counts, _haar_cap(levels)), levels)
    most = max(candidates)
    wholes, roots = LargestFirst(whole, most), LargestFirst(root, most)
    scores = []
    for sparsity in candidates:
        taken = split_of_largest(wholes.values, roots.values, sparsity)
        tail = wholes.sum_of_rest(taken)
        root_tail = roots.sum_of_rest(min(sparsity - taken, len(roots)))
        scores.append((tail << _FRACTION_BITS) + isqrt(2 * root_tail**2 << 2 * _FRACTION_BITS))
    step = Fraction(1, 2 ** (_FRACTION_BITS + half))
    return TailScores(tuple(scores), step, distance * basis.row_sum_bound + step)


def _haar_cap(levels: int) -> int:
    """Counts beyond it are taken as it: no sum below, nor its scaled difference, then leaves 64 bits."""
    return int(2 ** (61 - levels))


def haar_magnitudes(counts: Ints, levels: int) -> tuple[Ints, Ints]:
    """|x|·2^⌈levels/2⌉ for the Haar coefficients x of `counts`: the integers A, and the B of those that are B√2.

    A coefficient that spans 2^l cells is (left sum − right sum)·2^(−l/2); the first, the total, is total·2^(−levels/2).
    """
    half = (levels + 1) // 2
    parts: tuple[list[Ints], list[Ints]] = ([], [])

    def keep(sums: Ints, level: int) -> None:
        power, odd = divmod(2 * half - level, 2)
        parts[odd].append(np.abs(sums) << power)

    sums = np.zeros(2**levels, dtype=np.int64)
    sums[: len(counts)] = counts
    for level in range(1, levels + 1):
        left, right = sums[0::2], sums[1::2]
        keep(left - right, level)
        sums = left + right
    keep(sums, levels)
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([*parts[0], empty]), np.concatenate([*parts[1], empty])


def split_of_largest(wholes: Ints, roots: Ints, count: int) -> int:
    """How many of the `count` largest among {A} ∪ {B√2} are of the first kind; both lists fall. Compared exactly.

    The least a such that the next whole, wholes[a], is not above the last root taken, roots[count − a − 1]·√2.
    """
    low, high = max(0, count - len(roots)), min(count, len(wholes))
    while low < high:
        middle = (low + high) // 2
        if int(wholes[middle]) ** 2 > 2 * int(roots[count - middle - 1]) ** 2:
            low = middle + 1
        else:
            high = middle
    return low


# ---- from floats with a proven error: clamped counts, a grid, a widened sensitivity


def _rounded_tails(analysis: ProvenAnalysis, counts: Ints, candidates: Sequence[int], distance: int) -> TailScores:
    """Sums of coefficients rounded to a grid. Cap, grid and sensitivity follow from the analysis alone."""
    cap, grid = analysis.cap, analysis.grid_bits
    coefficients = analysis.compute(_clamped(counts, cap).astype(np.float64))
    # Scaling by a power of two and rounding to the nearest integer below 2⁶² are both exact operations.
    magnitudes = np.rint(np.abs(coefficients) * 2.0**grid).astype(np.int64)
    largest = LargestFirst(magnitudes, max(candidates))
    scores = tuple(largest.sum_of_rest(sparsity) for sparsity in candidates)
    step = Fraction(2) ** -grid
    error = analysis.tail_error(cap) + analysis.size * step / 2
    return TailScores(scores, step, distance * analysis.row_sum_bound + 2 * error)


# ---- what both do


def _clamped(counts: Ints, cap: int) -> Ints:
    """Counts moved into [−cap, cap], cell by cell: no two vectors come out further apart in L1 than they went in."""
    return np.clip(counts, -cap, cap)


class LargestFirst:
    """The `most` largest of at most 2³¹ integers in [0, 2⁶³), in falling order, and exact sums of them.

    Sums are carried as two 64-bit halves, so none overflows: 2³¹ halves below 2³² stay below 2⁶³.
    """

    def __init__(self, magnitudes: Ints, most: int) -> None:
        self.total = _exact_sum(magnitudes)
        most = min(most, len(magnitudes))
        if most < len(magnitudes):
            magnitudes = np.partition(magnitudes, len(magnitudes) - most)[len(magnitudes) - most :]
        self.values: Ints = np.sort(magnitudes)[::-1]
        self._high = np.cumsum(self.values >> _LOW_BITS)
        self._low = np.cumsum(self.values & _LOW_MASK)

    def __len__(self) -> int:
        return len(self.values)

    def sum_of_rest(self, count: int) -> int:
        """The sum of all the integers but the `count` largest."""
        if count == 0:
            return self.total
        return self.total - (int(self._high[count - 1]) << _LOW_BITS) - int(self._low[count - 1])


def _exact_sum(magnitudes: Ints) -> int:
    high = int((magnitudes >> _LOW_BITS).sum(dtype=np.int64))
    return (high << _LOW_BITS) + int((magnitudes & _LOW_MASK).sum(dtype=np.int64))
