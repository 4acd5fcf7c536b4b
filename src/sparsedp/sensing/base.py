"""What a sensing matrix Φ promises: integer entries, exact sums, and its sensitivity as an exact number.

At the end the plainest one: direct sensing, which measures every cell as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints, float_vector, writeable
from sparsedp.errors import InvalidInput
from sparsedp.validate import MAX_CELLS, whole


class Sensing(ABC):
    """Φ: `rows` × `n`, small integer entries, public, rebuilt exactly from `describe()`.

    `apply` is the only method that private counts go through: integers in, integers out, exact modulo 2⁶⁴.
    `forward` and `adjoint` are the same matrix on floats, for recovery after the noise.
    """

    name: str
    n: int

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number k of measurements."""

    @abstractmethod
    def apply(self, counts: Ints) -> Ints:
        """Φ D, exact modulo 2⁶⁴: a wrapped sum is still a function of the exact sum."""

    @abstractmethod
    def forward(self, signal: Floats) -> Floats:
        """Φ s in floating point, s of n cells."""

    @abstractmethod
    def adjoint(self, values: Floats) -> Floats:
        """Φᵀ y in floating point, y of k values."""

    @abstractmethod
    def materialize(self) -> Ints:
        """Φ as a stored matrix, for tests; built from the definition, not by calling `apply`."""

    @property
    @abstractmethod
    def max_column_l1(self) -> int:
        """maxⱼ ‖φⱼ‖₁: the L1 change of Φ D when one cell changes by one."""

    @property
    @abstractmethod
    def max_column_l2_squared(self) -> int:
        """maxⱼ ‖φⱼ‖₂²."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """A small JSON-able description; `sensing_from` turns it back into an equal Φ."""

    def l1_sensitivity(self, distance: int) -> int:
        """Δ₁: the most ‖Φ(D − D′)‖₁ can be when ‖D − D′‖₁ ≤ distance. Exact, and reached."""
        return distance * self.max_column_l1

    def l2_sensitivity_squared(self, distance: int) -> int:
        """Δ₂²: the most ‖Φ(D − D′)‖₂² can be when ‖D − D′‖₁ ≤ distance. Exact, and reached."""
        return distance**2 * self.max_column_l2_squared

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sensing) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(repr(sorted(self.describe().items())))


def exact_counts(counts: Ints, n: int) -> Ints:
    """Counts as n contiguous int64; the message never quotes a value."""
    array = np.asarray(counts)
    if array.dtype != np.int64 or array.shape != (n,):
        given = f"an array of {array.dtype} of shape {array.shape}"
        raise InvalidInput("counts", given, f"give a vector of {n} int64 counts")
    return writeable(np.ascontiguousarray(array))


class Direct(Sensing):
    """Φ = I: n measurements of n cells, the least noise a pure budget allows on each."""

    name = "direct"

    def __init__(self, n: int) -> None:
        self.n = whole("n", n, most=MAX_CELLS)

    @property
    def rows(self) -> int:
        """n."""
        return self.n

    def apply(self, counts: Ints) -> Ints:
        """A copy of the counts."""
        return exact_counts(counts, self.n).copy()

    def forward(self, signal: Floats) -> Floats:
        """A copy of the signal."""
        return float_vector("signal", signal, self.n).copy()

    def adjoint(self, values: Floats) -> Floats:
        """A copy of the values."""
        return float_vector("values", values, self.n).copy()

    def materialize(self) -> Ints:
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
