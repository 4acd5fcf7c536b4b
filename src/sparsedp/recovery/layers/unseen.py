"""How much a group of cells may hide: a private look left it whole, so it did not see more than its own noise."""

from __future__ import annotations

from math import log

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.noise.law import LayersLaw
from sparsedp.recovery.layers.detail_variances import LEAST_NOISE

LOOK = 6.0
"""The deviation of the look's noise, in those that the budget of all layers together would put on one sum."""


def unseen_deviation(law: LayersLaw, n: int, sizes: Integers | int) -> Floats:
    """Σ|cell − median| from which on a group of so many cells would have been halved: a noise, and a step for every
    halving above it.
    """
    together = 1.0 / sum(1.0 / max(layer.variance, LEAST_NOISE) ** 0.5 for layer in law.layers)
    halvings = np.log2(np.maximum(n / np.asarray(sizes, dtype=np.float64), 1.0))
    return np.asarray(LOOK * together * (1.0 + log(2.0) * halvings))
