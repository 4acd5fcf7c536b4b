"""Exact tails for the bases whose coefficients are integers, or integers times √2: identity and Haar."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.bases.base import Basis
from sparsedp.mechanisms.selection.magnitudes import LargestFirst
from sparsedp.mechanisms.selection.scores import TailScores, clamped

IDENTITY_CAP = 2**62
"""Counts beyond it are taken as it: the magnitude of every clamped count is a 64-bit integer."""

FRACTION_BITS = 20
"""Haar scores keep this many binary digits after the scaled integers."""


def identity_tails(basis: Basis, counts: Integers, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of the identity: sums of the cells outside the S largest, in steps of one."""
    largest = LargestFirst(np.abs(clamped(counts, IDENTITY_CAP)), max(candidates))
    scores = tuple(largest.sum_of_rest(min(sparsity, len(largest))) for sparsity in candidates)
    return TailScores(scores, Fraction(1), distance * basis.row_sum_bound)


def haar_tails(basis: Basis, counts: Integers, candidates: Sequence[int], distance: int) -> TailScores:
    """Scores of Haar: ⌊(A + B√2)·2^f⌋ for the exact scaled tail A + B√2; the sensitivity is widened by one step."""
    levels = (basis.size - 1).bit_length()
    half = (levels + 1) // 2
    whole, root = haar_magnitudes(clamped(counts, haar_cap(levels)), levels)
    most = max(candidates)
    wholes, roots = LargestFirst(whole, most), LargestFirst(root, most)
    scores = []
    for sparsity in candidates:
        taken = split_of_largest(wholes.values, roots.values, sparsity)
        tail = wholes.sum_of_rest(taken)
        root_tail = roots.sum_of_rest(min(sparsity - taken, len(roots)))
        scores.append((tail << FRACTION_BITS) + isqrt(2 * root_tail**2 << 2 * FRACTION_BITS))
    step = Fraction(1, 2 ** (FRACTION_BITS + half))
    return TailScores(tuple(scores), step, distance * basis.row_sum_bound + step)


def haar_cap(levels: int) -> int:
    """Counts beyond it are taken as it: no sum below, nor its scaled difference, then leaves 64 bits."""
    return int(2 ** (61 - levels))


def haar_magnitudes(counts: Integers, levels: int) -> tuple[Integers, Integers]:
    """|x|·2^⌈levels/2⌉ for the Haar coefficients x of `counts`: the integers A, and the B of those that are B√2.

    A coefficient that spans 2^l cells is (left sum − right sum)·2^(−l/2); the first, the total, is total·2^(−levels/2).
    """
    half = (levels + 1) // 2
    parts: tuple[list[Integers], list[Integers]] = ([], [])

    def keep(sums: Integers, level: int) -> None:
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


def split_of_largest(wholes: Integers, roots: Integers, count: int) -> int:
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
