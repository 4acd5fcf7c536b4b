"""Direct sensing: every cell is measured as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Integers, float_vector
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole


class Direct(Sensing):
    """Φ = I: n measurements of n cells, the least noise a pure budget allows on each."""

    name = "direct"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)

    @property
    def rows(self) -> int:
        """n."""
        return self.n

    def apply(self, counts: Integers) -> Integers:
        """A copy of the counts."""
        return exact_counts(counts, self.n).copy()

    def forward(self, signal: Floats) -> Floats:
        """A copy of the signal."""
        return float_vector("signal", signal, self.n).copy()

    def adjoint(self, values: Floats) -> Floats:
        """A copy of the values."""
        return float_vector("values", values, self.n).copy()

    def materialize(self) -> Integers:
        """The identity matrix."""
        return np.eye(self.n, dtype=np.int64)

    @property
    def max_column_l1(self) -> int:
        """1."""
        return 1

    @property
    def max_column_l2_squared(self) -> int:
        """1."""
        return 1

    def describe(self) -> dict[str, Any]:
        """Name and cells."""
        return {"name": self.name, "n": self.n}
