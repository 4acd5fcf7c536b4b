"""What a release was recovered from, as far as a release needs to know: it can be packed, and recovered again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.errors import SparsedpError
from sparsedp.files.columns_file import Packed
from sparsedp.releases.claimed_size import UNUSABLE
from sparsedp.releases.uncertainty import CellErrors, Uncertainty, interval_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

MOST_EMBEDDED = 16 * 2**20
"""A packed synopsis of more bytes does not travel in the file of a release: every reader reads it with the footer."""

SAME = 1e-6
"""Recoveries of one synopsis on two machines may differ by so much of the largest cell, and are the same."""


class Recoverable(Protocol):
    """A synopsis, or the bytes of one."""

    @property
    def digest(self) -> str:
        """That of its file."""

    def packed(self) -> Packed:
        """A file of it, in memory."""

    def recover(self, recovery: str | None = None) -> Release:
        """Estimate every cell, by the planned recovery or another."""


class RecoveredErrors:
    """The errors of a release from a file: those of its cells are in it; for all else it is recovered again.

    That happens once, and only when such a question is asked. If the recovery does not give the values that the file
    holds, the errors of its cells are all that is known, and a question that needs more is told why.
    """

    def __init__(self, recover: Callable[[], Release], values: Floats, errors: Floats) -> None:
        self._recover, self._values, self._cells = recover, values, errors

    @cached_property
    def _found(self) -> Uncertainty:
        try:
            again = self._recover()
        except (SparsedpError, *UNUSABLE):
            return CellErrors(self._cells, "the synopsis in its file cannot be recovered by this version")
        known = again.uncertainty
        if known is None:
            return CellErrors(self._cells)
        if again.shape != self._values.shape or not self._same(again.values):
            return CellErrors(self._cells, "the synopsis in its file gives other values than the file has")
        return known

    def _same(self, values: Floats) -> bool:
        return same(values, self._values)

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""
        return self._found.variance(weights)

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """As before the release was saved."""
        found = interval_of(self._found, weights, estimate, level)
        return found.low, found.high

    def stderr(self) -> Floats:
        """As the file has them."""
        return self._cells


def same(values: Floats, others: Floats) -> bool:
    """Whether two machines may have made these of one synopsis."""
    apart = float(np.abs(values - others).max(initial=0.0))
    return apart <= SAME * max(1.0, float(np.abs(others).max(initial=0.0)))
