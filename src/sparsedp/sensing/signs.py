"""Sensings of ±1 entries from a public seed: what they share, and one product for counts and for floats."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Integers, Numbers, float_vector
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.sensing.public_randomness import public_seed
from sparsedp.validate import MAX_CELLS, whole


class SignSensing(Sensing):
    """Φ: `rows` × n, every entry exactly +1 or −1, all of them a function of n, `rows` and the public `seed`."""

    def __init__(self, n: int, rows: int, seed: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self._rows = self._checked_rows(rows)
        self.seed = public_seed(seed)

    def _checked_rows(self, rows: int) -> int:
        return whole("rows", rows, most=self.n, why="there are no more independent measurements than cells")

    @abstractmethod
    def _product(self, cells: Numbers) -> Numbers:
        """Φ · cells: in floating point, or of unsigned integers modulo 2⁶⁴."""

    def apply(self, counts: Integers) -> Integers:
        """Φ D, exact modulo 2⁶⁴."""
        return self._product(exact_counts(counts, self.n).view(np.uint64)).view(np.int64)

    def forward(self, signal: Floats) -> Floats:
        """Φ s in floating point, s of n cells."""
        return self._product(float_vector("signal", signal, self.n))

    @property
    def rows(self) -> int:
        """The number k of measurements."""
        return self._rows

    @property
    def max_column_l1(self) -> int:
        """k: every column has k entries of size one."""
        return self._rows

    @property
    def max_column_l2_squared(self) -> int:
        """k."""
        return self._rows

    def describe(self) -> dict[str, Any]:
        """Name, cells, rows and the public seed: the matrix follows."""
        return {"name": self.name, "n": self.n, "rows": self._rows, "seed": self.seed}
