"""The scores that the choice of S ranks by: integers, with the most that a neighbour can change them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Integers


@dataclass(frozen=True)
class TailScores:
    """scores[i]·step ≈ ‖x − x_S‖₁ for the i-th candidate S; `sensitivity` bounds its change between neighbours.

    Exactly: |scores[i](D) − scores[i](D′)|·step ≤ sensitivity whenever ‖D − D′‖₁ ≤ distance, for every i.
    The scores are private; `step` and `sensitivity` depend on the basis and the distance alone.
    """

    scores: tuple[int, ...] = field(repr=False)
    step: Fraction
    sensitivity: Fraction


def clamped(counts: Integers, cap: int) -> Integers:
    """Counts moved into [−cap, cap], cell by cell: no two vectors come out further apart in L1 than they went in."""
    return np.clip(counts, -cap, cap)
