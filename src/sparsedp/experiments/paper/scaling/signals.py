"""Counts with a known number of Haar coefficients, of the same size whatever the number of cells."""

from __future__ import annotations

from math import sqrt

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.bases.haar import Haar

SIZE_BITS = 14
SIZE = 2**SIZE_BITS
"""The size a of every detail coefficient, in records; at ε = 1 it is 500 to 2,000 standard deviations of its noise."""


def sparse_counts(cells: int, sparsity: int, chance: np.random.Generator) -> Integers:
    """Whole, non-negative counts with exactly S Haar coefficients: the total, and S − 1 details of ±a.

    A detail of w cells adds a/√w to one half of them and takes it from the other: whole for w = 4, 16, 64, … up to
    a². The widths are drawn evenly, then the places. Every cell stands at a before, so that none falls below zero:
    one detail of each width takes less than a/2 + a/4 + … from a cell.
    """
    levels = min(cells.bit_length() - 1, 2 * SIZE_BITS) // 2
    coefficients = np.zeros(cells)
    coefficients[0] = SIZE * sqrt(cells)
    while np.count_nonzero(coefficients) < sparsity:
        of_this_width = cells // 4 ** int(chance.integers(1, levels + 1))
        place = of_this_width + int(chance.integers(of_this_width))
        coefficients[place] = coefficients[place] or SIZE * chance.choice([-1.0, 1.0])
    return np.rint(Haar(cells).synthesize(coefficients)).astype(np.int64)


def dense_counts(cells: int, most: int, chance: np.random.Generator) -> Integers:
    """Counts from 0 to `most` that have nothing to do with one another: sparse in no basis."""
    return chance.integers(0, most + 1, cells)
