"""How much work an experiment is given."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Effort(Enum):
    """SMOKE: seconds, so that the suite can run every experiment. QUICK: minutes. FULL: what the documents show."""

    SMOKE = "smoke"
    QUICK = "quick"
    FULL = "full"

    def pick(self, *, smoke: T, quick: T, full: T) -> T:
        """The value that belongs to this effort."""
        return {Effort.SMOKE: smoke, Effort.QUICK: quick, Effort.FULL: full}[self]
