"""Sets of columns on which a matrix may fail to be an isometry: random ones, Haar's own families, and a search."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats, Integers

SEARCH_ROUNDS = 30


def random_supports(cells: int, size: int, count: int, chance: np.random.Generator) -> Integers:
    """`count` sets of `size` columns, any equally likely."""
    return np.stack([chance.choice(cells, size, replace=False) for _ in range(count)])


def neighbour_supports(cells: int, size: int, count: int, chance: np.random.Generator) -> Integers:
    """Neighbouring finest Haar coefficients: `size` of them in a row."""
    first = cells // 2 + chance.integers(0, cells // 2 - size + 1, count)
    return first[:, None] + np.arange(size)[None, :]


def path_supports(cells: int, size: int, count: int, chance: np.random.Generator) -> Integers:
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


def deviation(columns: Floats, supports: Integers) -> float:
    """The largest |σ² − 1| over the singular values σ of the columns of each support."""
    return float(np.abs(np.linalg.eigvalsh(_products(columns, supports)) - 1).max())


def searched_deviation(columns: Floats, supports: Integers) -> float:
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


def _products(columns: Floats, supports: Integers) -> Floats:
    """A_TᵀA_T for every support T."""
    return np.stack([(chosen := columns[support]) @ chosen.T for support in supports])


def _largest_eigenvalue(columns: Floats) -> float:
    """Of AᵀA, from a few rounds of the power method."""
    vector = np.ones(columns.shape[1])
    for _ in range(SEARCH_ROUNDS):
        vector = (columns @ vector) @ columns
        vector /= np.linalg.norm(vector)
    return float(np.linalg.norm(columns @ vector) ** 2)


def _extreme_vectors(columns: Floats, supports: Integers, *, smallest: bool) -> Floats:
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
