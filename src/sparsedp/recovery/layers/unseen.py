"""How much a group of cells may hide: a private tree left it whole, so it saw no more than its decay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.laws import LayersLaw
from sparsedp.recovery.layers.detail_variances import LEAST_NOISE

DECAY = 2.7
"""Of a tree that is not on record, in deviations of the noise that the budget of all layers together would put on one
sum: at the shares of the budget that `mechanisms/adaptive_shares.py` gives them, 2.4 to 2.9 under Laplace noise and 2.2
to 3.7 under Gaussian."""


@dataclass(frozen=True)
class Hidden:
    """What groups of n cells may hide, by the `decay` of the tree that chose them."""

    n: int
    decay: float

    def difference(self, sizes: Integers | int) -> Floats:
        """Between its halves, from which on a group of so many cells would rather have been halved than not: one decay,
        and one for every halving above it.
        """
        halvings = np.log2(np.maximum(self.n / np.asarray(sizes, dtype=np.float64), 1.0))
        return np.asarray(self.decay * (1.0 + halvings))


def hidden_by(law: LayersLaw) -> float:
    """The decay that a tree beside such layers had, about."""
    return DECAY * noise_together(law)


def noise_together(law: LayersLaw) -> float:
    """The deviation of the noise that the budget of all layers together would put on one sum, if it were Laplace's."""
    return float(1.0 / sum(1.0 / max(layer.variance, LEAST_NOISE) ** 0.5 for layer in law.layers))
