"""Layers and Haar details as stored matrices: the slow oracles of the recovery of layers."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.laws import LayersLaw
from sparsedp.sensing.group_sums import GroupSums


def dense_groups(sensing: GroupSums) -> list[Floats]:
    """Each layer's groups as a matrix of zeros and ones over the row."""
    matrix = sensing.materialize().astype(np.float64)
    return np.split(sensing.in_a_row(matrix.T).T, np.cumsum([len(starts) for starts in sensing.starts])[:-1])


def least_squares(groups: list[Floats], law: LayersLaw, upto: int) -> tuple[Floats, Floats]:
    """From the values of the layers 0, …, upto − 1: the estimator of the cells, and the covariance of its cells.

    Cells of one group of the finest layer are told apart by nothing; the pseudo-inverse spreads evenly over them.
    """
    weights = np.concatenate(
        [np.full(len(part), 1 / noise.variance) for part, noise in zip(groups, law.layers, strict=True)]
    )
    kept = np.concatenate(groups[:upto])
    weighted = kept.T * weights[: len(kept)]
    covariance = np.linalg.pinv(weighted @ kept, rcond=1e-11, hermitian=True)
    return covariance @ weighted, covariance


def haar_matrix(levels: int) -> tuple[Floats, list[int]]:
    """All orthonormal details of 2^levels cells, finest first, and the total; and each row's level, from 0."""
    size = 1 << levels
    rows, level_of = [], []
    for level in range(1, levels + 1):
        width = 1 << level
        for start in range(0, size, width):
            row = np.zeros(size)
            row[start : start + width // 2] = width**-0.5
            row[start + width // 2 : start + width] = -(width**-0.5)
            rows.append(row)
            level_of.append(level - 1)
    return np.array([*rows, np.full(size, size**-0.5)]), [*level_of, levels]
