"""The jobs: δ₂S of A = Φ Ψ, from below, against the rows, the cells and the sparsity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases import basis_from
from sparsedp.mechanisms.selection.sparsity_choice import rows_for
from sparsedp.sensing.bernoulli import Bernoulli
from sparsedp.sensing.hadamard import Hadamard
from sparsedp.sensing.public_signs import SignSensing
from studies.paper.data import chance_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- A = Φ Ψ/√k as a stored matrix


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


# ---- sets of columns on which it may fail to be an isometry: random ones, Haar's own families, and a search

SEARCH_ROUNDS = 30


def random_supports(cells: int, size: int, count: int, chance: np.random.Generator) -> Ints:
    """`count` sets of `size` columns, any equally likely."""
    return np.stack([chance.choice(cells, size, replace=False) for _ in range(count)])


def neighbour_supports(cells: int, size: int, count: int, chance: np.random.Generator) -> Ints:
    """Neighbouring finest Haar coefficients: `size` of them in a row."""
    first = cells // 2 + chance.integers(0, cells // 2 - size + 1, count)
    return first[:, None] + np.arange(size)[None, :]


def path_supports(cells: int, size: int, count: int, chance: np.random.Generator) -> Ints:
    """Haar coefficients around single cells: the path from the total to a cell, then others until there are enough."""
    supports = []
    for _ in range(count):
        path: list[int] = []
        while len(path) < size:
            place = int(chance.integers(cells // 2, cells))
            while place and place not in path:
                path.append(place)
                place //= 2
            path = path if 0 in path else [*path, 0]
        supports.append(path[:size])
    return np.array(supports)


FAMILIES = {"random": random_supports, "neighbours": neighbour_supports, "paths": path_supports}


def deviation(columns: Floats, supports: Ints) -> float:
    """The largest |σ² − 1| over the singular values σ of the columns of each support."""
    return float(np.abs(np.linalg.eigvalsh(_products(columns, supports)) - 1).max())


def searched_deviation(columns: Floats, supports: Ints) -> float:
    """The largest |σ² − 1| that a search finds, started from each support in turn.

    The truncated power method: multiply by AᵀA, or by what turns its smallest eigenvalue into the largest, keep the
    largest entries, and again. What it finds is a support, hence a lower bound of δ like every other.
    """
    size = supports.shape[1]
    largest = deviation(columns, supports)
    # No eigenvalue of AᵀA exceeds it by much, so that this times the identity less AᵀA has none far below zero.
    top = _largest_eigenvalue(columns)
    for smallest in (False, True):
        vectors = _extreme_vectors(columns, supports, smallest=smallest)
        for _ in range(SEARCH_ROUNDS):
            products = (vectors @ columns) @ columns.T
            vectors = _truncated(top * vectors - products if smallest else products, size)
        chosen = np.argpartition(np.abs(vectors), -size, axis=1)[:, -size:]
        largest = max(largest, deviation(columns, chosen))
    return largest


def _products(columns: Floats, supports: Ints) -> Floats:
    """A_TᵀA_T for every support T."""
    return np.stack([(chosen := columns[support]) @ chosen.T for support in supports])


def _largest_eigenvalue(columns: Floats) -> float:
    """Of AᵀA, from a few rounds of the power method."""
    vector = np.ones(columns.shape[1])
    for _ in range(SEARCH_ROUNDS):
        vector = (columns @ vector) @ columns
        vector /= np.linalg.norm(vector)
    return float(np.linalg.norm(columns @ vector) ** 2)


def _extreme_vectors(columns: Floats, supports: Ints, *, smallest: bool) -> Floats:
    """On each support, the sparse vector that A stretches most, or least."""
    vectors = np.linalg.eigh(_products(columns, supports))[1][:, :, 0 if smallest else -1]
    full = np.zeros((len(supports), len(columns)))
    np.put_along_axis(full, supports, vectors, axis=1)
    return full


def _truncated(vectors: Floats, size: int) -> Floats:
    """Unit vectors of the `size` largest entries of each."""
    kept = np.argpartition(np.abs(vectors), -size, axis=1)[:, -size:]
    sparse = np.zeros_like(vectors)
    np.put_along_axis(sparse, kept, np.take_along_axis(vectors, kept, axis=1), axis=1)
    sparse /= np.linalg.norm(sparse, axis=1, keepdims=True)
    return sparse


# ---- the jobs

BASES = ("identity", "haar", "cosine")
SPARSITY = 8
CONSTANT = 8
"""C of the rows k = C·S·log₂(n/S) where the cells or the sparsity are varied."""


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """No data set has a part in it. The rows are varied for every pair; the rest for both ensembles in Haar."""
    cells = effort.pick(smoke=2**8, quick=2**11, full=2**12)
    constants = effort.pick(smoke=[1, 2, 4], quick=[1, 2, 4, 8, 16, 28], full=[1, 2, 4, 8, 16, 28])
    exponents = effort.pick(smoke=[8, 9, 10], quick=[9, 10, 11, 12, 13], full=[9, 10, 11, 12, 13])
    sparsities = effort.pick(smoke=[2, 4, 8], quick=[2, 4, 8, 16, 32], full=[2, 4, 8, 16, 32])
    amount = {
        "matrices": effort.pick(smoke=2, quick=2, full=4),
        "supports": effort.pick(smoke=20, quick=200, full=1000),
        "starts": effort.pick(smoke=2, quick=3, full=8),
    }
    sparsity = effort.pick(smoke=4, quick=SPARSITY, full=SPARSITY)
    listed: list[Settings] = [
        _job("rows", ensemble, basis, cells, sparsity, constant, amount)
        for ensemble in ENSEMBLES
        for basis in BASES
        for constant in constants
        if ensemble != "unshuffled" or basis == "haar"
    ]
    for ensemble in ("bernoulli", "hadamard"):
        listed += [_job("cells", ensemble, "haar", 2**e, sparsity, CONSTANT, amount) for e in exponents]
        listed += [_job("sparsity", ensemble, "haar", 2 * cells, s, CONSTANT, amount) for s in sparsities]
    return listed


def _job(
    part: str, ensemble: str, basis: str, cells: int, sparsity: int, constant: int, amount: dict[str, int]
) -> Settings:
    named = {"part": part, "ensemble": ensemble, "basis": basis, "cells": cells, "sparsity": sparsity}
    return {**named, "constant": constant, **amount}


def measure(settings: Settings) -> Found:
    """Lower bounds of δ₂S, one a matrix: on random supports, by search, and in Haar on its own families of supports."""
    cells, sparsity = settings["cells"], settings["sparsity"]
    rows = rows_for(cells, sparsity, Fraction(settings["constant"]))
    families = FAMILIES if settings["basis"] == "haar" else {"random": FAMILIES["random"]}
    found: dict[str, list[float]] = {name: [] for name in (*families, "searched")}
    for number in range(settings["matrices"]):
        columns = columns_of(settings["ensemble"], settings["basis"], cells, rows, seed_of(settings, "matrix", number))
        chance = chance_of(settings, number)
        for name, family in families.items():
            supports = family(cells, 2 * sparsity, settings["supports"], chance)
            found[name].append(deviation(columns, supports))
            if name == "random":
                found["searched"].append(searched_deviation(columns, supports[: settings["starts"]]))
    return {"rows": rows, **found}
