"""How far a release is from the truth. The answers depend on the raw counts: they are for the owner only."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

RANGES = 2000


def cell_error(truth: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> float:
    """‖D − D*‖₂, the error of the paper."""
    return float(np.linalg.norm(truth - values))


def range_error(truth: npt.NDArray[np.int64], values: npt.NDArray[np.float64], *, seed: int = 0) -> float:
    """The root mean square error of the sums over 2,000 random ranges of cells; in a table, over random boxes.

    Both ends of a range are uniform, on every axis; the ranges follow from the shape and the public seed alone.
    """
    shape = truth.shape
    sums = np.zeros([size + 1 for size in shape])
    sums[tuple(slice(1, None) for _ in shape)] = values - truth
    for axis in range(truth.ndim):
        np.cumsum(sums, axis=axis, out=sums)
    corners, signs = _corners(shape, seed)
    boxes = signs @ sums.reshape(-1)[corners]
    return float(np.sqrt(np.mean(boxes**2)))


@lru_cache(maxsize=16)
def _corners(shape: tuple[int, ...], seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Where in the cumulated sums the 2ᵈ corners of every box are (2ᵈ × 2,000), and the sign that each one has."""
    generator = np.random.default_rng(seed)
    corners, signs = np.zeros((1, RANGES), dtype=np.int64), np.ones(1)
    for size in shape:
        bounds = np.sort(generator.integers(0, size + 1, size=(RANGES, 2)), axis=1)
        corners = np.concatenate([corners * (size + 1) + bounds[:, end] for end in (0, 1)])
        signs = np.concatenate([-signs, signs])
    return corners, signs
