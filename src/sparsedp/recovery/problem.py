"""The noisy linear problem that every sparse decoder solves: y = A x + e with A = Φ Ψ / √k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from sparsedp.arrays import Floats, float_vector
from sparsedp.bases.base import Basis
from sparsedp.bases.haar import Haar
from sparsedp.bases.haar_transform import haar_analyze, haar_synthesize
from sparsedp.sensing.base import Sensing
from sparsedp.sensing.hadamard import Hadamard


@dataclass(frozen=True)
class SparseProblem:
    """Find the sparse x with A x ≈ y. Columns of A have unit norm on average (±1/√k entries, as in the paper).

    `observed` is the noisy integers divided by √k; `noise_variance` and `noise_fourth_moment` are those of each
    entry of e, from the law that was drawn, in the same units. `sparsity` is the S the synopsis was planned for.

    Where the basis pads the cells, Ψ is cut to the real ones: what x says of the padding does not matter, so a signal
    that is high at its last cell need not be coded as one that drops to zero behind it.

    One thread at a time: the products share memory.
    """

    sensing: Sensing
    basis: Basis
    observed: Floats
    noise_variance: float
    noise_fourth_moment: float
    sparsity: int

    @property
    def size(self) -> int:
        """The number of unknown coefficients."""
        return self.basis.size

    @property
    def row_orthogonal(self) -> bool:
        """Whether A Aᵀ = (size/k)·I exactly: Hadamard rows on all their columns, and an orthonormal Ψ."""
        return isinstance(self.sensing, Hadamard) and self.sensing.padded_size == self.basis.n == self.basis.size

    def forward(self, coefficients: Floats) -> Floats:
        """A x."""
        room = self._room
        if room is None:
            values = self.sensing.forward(self.basis.synthesize(coefficients))
        else:
            haar_synthesize(float_vector("coefficients", coefficients, self.size), room.cells)
            values = room.sensing.forward_within(room.cells, room.work)
        values /= sqrt(self.sensing.rows)
        return values

    def adjoint(self, values: Floats) -> Floats:
        """Aᵀ y."""
        scaled = values / sqrt(self.sensing.rows)
        room = self._room
        if room is None:
            return self.basis.analyze(self.sensing.adjoint(scaled))
        coefficients = np.empty(self.size)
        room.sensing.adjoint_into(scaled, room.work, room.cells)
        haar_analyze(room.padded, coefficients)
        return coefficients

    @cached_property
    def _room(self) -> _Room | None:
        """Memory that the products of the usual pair, Hadamard and Haar, use again and again; None for the others."""
        if isinstance(self.sensing, Hadamard) and isinstance(self.basis, Haar):
            padded = np.zeros(self.size)
            return _Room(self.sensing, np.empty(self.sensing.padded_size), padded, padded[: self.sensing.n])
        return None


@dataclass(frozen=True)
class _Room:
    sensing: Hadamard
    work: Floats
    padded: Floats
    cells: Floats  # the first n of `padded`; the rest stays zero
