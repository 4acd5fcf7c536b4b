"""Details of a kind: alike in level and in the size of their estimate. What errors have they, and what is left?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sparsedp.arrays import Floats, Integers
from sparsedp.recovery.layers.detail_variances import details, level_slices
from sparsedp.recovery.layers.resampling import Resampled

SIZES: Floats = np.array([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8])
"""Kinds end at these estimates, in deviations of the noise."""

LEVEL_COUNT, FINER_COUNT = 4.0, 8.0
"""How many details the mean of the level counts for beside those of one size; and the finer level beside the level."""


@dataclass(frozen=True)
class DetailStrata:
    """`errors`: the mean squared error of each detail of the release; `made_up_errors`: of those of made-up ones.

    `rests`: the mean square of what details like it leave over of the observed ones.
    """

    errors: Floats
    made_up_errors: Floats
    rests: Floats

    @classmethod
    def learn(
        cls, estimate: Floats, noise: Floats, made_up: Resampled, among: npt.NDArray[np.bool_] | None = None
    ) -> DetailStrata:
        """`noise`: the variance in every detail. `among`: which made-up details to learn from, if not from all."""
        own = _sizes(estimate, noise)
        kinds = np.array([_sizes(row, made_up.noise) for row in made_up.estimates])
        counted = np.ones(len(made_up.noise)) if among is None else among.astype(np.float64)
        errors = np.array([details(row) for row in made_up.errors]) ** 2 / made_up.noise * counted
        rests = np.array([details(row) for row in made_up.rests]) ** 2 / made_up.noise * counted
        found = cls(np.empty(len(noise)), np.empty(errors.shape), np.empty(len(noise)))
        found.errors[0] = found.rests[0] = noise[0]
        found.made_up_errors[:, 0] = made_up.noise[0]
        theirs = level_slices(len(made_up.noise))
        finer, left = 1.0, 1.0
        for level, part in enumerate(level_slices(len(noise))):
            # A level that the made-up row is too short for has no details there.
            here = theirs[level] if level < len(theirs) else slice(0, 0)
            seen = kinds[:, here]
            counts = _by_kind(seen, np.broadcast_to(counted[here], seen.shape))
            lean = FINER_COUNT if level else 1.0
            means, finer = _means(_by_kind(seen, errors[:, here]), counts, finer, lean)
            found.errors[part] = noise[part] * means[own[part]]
            found.made_up_errors[:, here] = made_up.noise[here] * means[seen]
            means, left = _means(_by_kind(seen, rests[:, here]), counts, left, lean)
            found.rests[part] = noise[part] * means[own[part]]
        return found


def _sizes(row: Floats, noise: Floats) -> Integers:
    return np.searchsorted(SIZES, np.abs(details(row)) / np.sqrt(noise))


def _by_kind(kinds: Integers, values: Floats) -> Floats:
    return np.bincount(kinds.reshape(-1), values.reshape(-1), len(SIZES) + 1).astype(np.float64)


def _means(sums: Floats, counts: Floats, finer: float, lean: float) -> tuple[Floats, float]:
    """Means by kind, and of the whole level, which leans on the finer one."""
    level = (float(sums.sum()) + lean * finer) / (float(counts.sum()) + lean)
    return (sums + LEVEL_COUNT * level) / (counts + LEVEL_COUNT), level
