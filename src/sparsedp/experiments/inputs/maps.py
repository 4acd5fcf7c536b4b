"""Synthetic shapes in two dimensions, 64 × 64 cells."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.experiments.inputs.shape import SIDE, Shape, shape_of

BLOBS = 8
STREETS = 5


def blobs() -> Shape:
    """Eight round towns of different sizes on empty land."""
    generator = np.random.default_rng(5)
    down, across = _unit()[:, None], _unit()[None, :]
    land = np.zeros((SIDE, SIDE))
    for _ in range(BLOBS):
        (row, column), width = generator.uniform(0.1, 0.9, 2), np.exp(generator.uniform(np.log(0.01), np.log(0.1)))
        records = np.exp(generator.uniform(0, np.log(10)))
        land += records / width**2 * np.exp(-((down - row) ** 2 + (across - column) ** 2) / (2 * width**2))
    return shape_of(land)


def streets() -> Shape:
    """Five streets a way, one cell wide and unevenly busy, and an avenue across; a tenth of the records off them."""
    generator = np.random.default_rng(6)
    town = np.zeros((SIDE, SIDE))
    town[generator.choice(SIDE, STREETS, replace=False), :] += np.exp(generator.uniform(0, np.log(10), STREETS))[
        :, None
    ]
    town[:, generator.choice(SIDE, STREETS, replace=False)] += np.exp(generator.uniform(0, np.log(10), STREETS))[
        None, :
    ]
    town[np.arange(SIDE), np.arange(SIDE)] += 5
    return 0.9 * shape_of(town) + 0.1 * shape_of(np.ones((SIDE, SIDE)))


def product() -> Shape:
    """Two axes that have nothing to do with each other: a power law down, two humps across."""
    law = 1 / np.arange(1.0, SIDE + 1)
    humps = np.exp(-(((_unit() - 0.25) / 0.1) ** 2)) + 0.5 * np.exp(-(((_unit() - 0.7) / 0.15) ** 2))
    return shape_of(np.outer(law, humps))


def _unit() -> Floats:
    return (np.arange(SIDE) + 0.5) / SIDE
