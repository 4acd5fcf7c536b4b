"""Running totals: the sums of the first 1, 2, …, n cells, alone or behind the cells themselves.

What streams with a continual counter publish. Their noise is calibrated by the counter, not by the L1 norm of these
columns: the counter's proof is `streams/counter.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints, float_vector
from sparsedp.sensing.base import Sensing, exact_counts
from sparsedp.validate import MAX_CELLS, whole


class RunningTotals(Sensing):
    """Φ: n × n, row i is 1 in cells 0 … i: the sum so far."""

    name = "running_totals"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)

    @property
    def rows(self) -> int:
        """n."""
        return self.n

    def apply(self, counts: Ints) -> Ints:
        """Exact sums modulo 2⁶⁴."""
        return np.cumsum(exact_counts(counts, self.n))

    def forward(self, signal: Floats) -> Floats:
        """Cumulative sums."""
        return np.cumsum(float_vector("signal", signal, self.n))

    def adjoint(self, values: Floats) -> Floats:
        """Cumulative sums from the end."""
        return np.cumsum(float_vector("values", values, self.n)[::-1])[::-1].copy()

    def materialize(self) -> Ints:
        """Ones on and below the diagonal."""
        return np.tri(self.n, dtype=np.int64)

    @property
    def max_column_l1(self) -> int:
        """n: the first cell is in every total."""
        return self.n

    @property
    def max_column_l2_squared(self) -> int:
        """n."""
        return self.n

    def describe(self) -> dict[str, Any]:
        """Name and cells."""
        return {"name": self.name, "n": self.n}


class TicksAndTotals(Sensing):
    """Φ: (n + ⌊n/e⌋) × n, every cell as it is, and then the sums of the first e, 2e, 3e, … cells, e = `every`."""

    name = "ticks_and_totals"

    def __init__(self, n: int, every: int = 1) -> None:
        self.n = whole("n", n, most=MAX_CELLS)
        self.every = whole("every", every, most=MAX_CELLS)

    @property
    def totals(self) -> int:
        """How many running totals there are."""
        return self.n // self.every

    @property
    def rows(self) -> int:
        """n + ⌊n/e⌋."""
        return self.n + self.totals

    def apply(self, counts: Ints) -> Ints:
        """The cells and their exact sums modulo 2⁶⁴."""
        cells = exact_counts(counts, self.n)
        return np.concatenate((cells, np.cumsum(cells)[self.every - 1 :: self.every]))

    def forward(self, signal: Floats) -> Floats:
        """The signal and its cumulative sums."""
        cells = float_vector("signal", signal, self.n)
        return np.concatenate((cells, np.cumsum(cells)[self.every - 1 :: self.every]))

    def adjoint(self, values: Floats) -> Floats:
        """Every cell's own value, and those of all totals that hold it."""
        checked = float_vector("values", values, self.rows)
        later = np.cumsum(checked[self.n :][::-1])[::-1]
        cells = checked[: self.n].copy()
        cells[: self.totals * self.every] += np.repeat(later, self.every)
        return cells

    def materialize(self) -> Ints:
        """The identity over every e-th row of the ones on and below the diagonal."""
        totals = np.tri(self.n, dtype=np.int64)[self.every - 1 :: self.every]
        return np.vstack((np.eye(self.n, dtype=np.int64), totals))

    @property
    def max_column_l1(self) -> int:
        """1 + the number of totals: the first cell is in all of them."""
        return 1 + self.totals

    @property
    def max_column_l2_squared(self) -> int:
        """The same: entries are ones."""
        return 1 + self.totals

    def describe(self) -> dict[str, Any]:
        """Name, cells and how many lie between two totals."""
        return {"name": self.name, "n": self.n, "every": self.every}
