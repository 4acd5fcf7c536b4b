"""A shape: the probability of every cell. Counts of any total are drawn from it, the same ones every time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput

CELLS = 4096
SIDE = 64
"""Of a table: 64 × 64 cells."""

COUNTS_SEED = 3

Shape = Floats
"""Probabilities that add up to one: a vector of 4,096 cells or a table of 64 × 64."""


def shape_of(weights: npt.ArrayLike) -> Shape:
    """Non-negative weights, scaled so that they add up to one."""
    weights = np.asarray(weights, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def fitted(counts: Integers) -> Shape:
    """A vector of any length as a shape of 4,096 cells: equal blocks are summed, and empty cells follow the last one.

    The blocks are as short as they can be: a vector of at most 4,096 cells is not summed at all.
    """
    block = -(-counts.size // CELLS)
    blocks = -(-counts.size // block)
    padded = np.zeros(blocks * block, dtype=np.int64)
    padded[: counts.size] = counts
    cells = np.zeros(CELLS, dtype=np.int64)
    cells[:blocks] = padded.reshape(blocks, block).sum(axis=1)
    return shape_of(cells)


def drawn_counts(shape: Shape, total: int) -> Integers:
    """`numpy.random.default_rng(3).multinomial(total, p)`: one draw, the same for everybody who compares."""
    if total < 1:
        raise InvalidInput("total", f"{total}", "give a number of records of at least 1")
    drawn = np.random.default_rng(COUNTS_SEED).multinomial(total, shape.reshape(-1))
    return drawn.reshape(shape.shape).astype(np.int64)
