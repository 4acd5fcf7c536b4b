"""A = Φ Ψ/√k as a stored matrix, for the ensembles and bases whose isometry is measured."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.bases import basis_from
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard
from sparsedp.sensing.signs import SignSensing


class UnshuffledHadamard(Hadamard):
    """Randomised Hadamard rows without the permutation of the cells, to show what the permutation is for."""

    name = "unshuffled"

    def __init__(self, n: int, rows: int, seed: int) -> None:
        super().__init__(n, rows, seed)
        self._order = np.arange(len(self._order), dtype=np.uint16)


ENSEMBLES: dict[str, type[SignSensing]] = {
    "bernoulli": Bernoulli,
    "hadamard": Hadamard,
    "unshuffled": UnshuffledHadamard,
}


CELLS_AT_A_TIME = 512


def columns_of(ensemble: str, basis: str, cells: int, rows: int, seed: int) -> Floats:
    """The n columns of A = Φ Ψ/√k, each as a row of k numbers: Φ has entries ±1."""
    sensing, psi = ENSEMBLES[ensemble](cells, rows, seed), basis_from(basis, cells)
    columns = np.empty((cells, rows))
    if isinstance(sensing, Bernoulli):
        for first in range(0, cells, CELLS_AT_A_TIME):
            stop = min(first + CELLS_AT_A_TIME, cells)
            columns[first:stop] = sensing.columns(first, stop)
    for row in range(rows):
        signs = sensing.adjoint(np.eye(1, rows, row)[0]) if isinstance(sensing, Hadamard) else columns[:, row]
        columns[:, row] = psi.analyze(np.ascontiguousarray(signs)) / np.sqrt(rows)
    return columns
