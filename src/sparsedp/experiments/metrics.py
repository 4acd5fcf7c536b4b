"""How far a release is from the truth. The answers depend on the raw counts: they are for the owner only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RANGES = 2000


def cell_error(truth: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> float:
    """‖D − D*‖₂, the error of the paper."""
    return float(np.linalg.norm(truth - values))


def range_error(truth: npt.NDArray[np.int64], values: npt.NDArray[np.float64], *, seed: int = 0) -> float:
    """The root mean square error of the sums over 2,000 random ranges of cells."""
    bounds = np.random.default_rng(seed).integers(0, truth.size + 1, size=(RANGES, 2))
    sums = np.concatenate(([0.0], np.cumsum(values - truth)))
    return float(np.sqrt(np.mean((sums[bounds[:, 1]] - sums[bounds[:, 0]]) ** 2)))
