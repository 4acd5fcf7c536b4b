"""How much privacy is lost at least, measured: an attack's scores on runs under D and under its neighbour D′."""

from __future__ import annotations

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.audits._evidence import bound_epsilon, lower_bound

ONE_SIDE = 5e-4
"""How often one limit may fail: 99.9 % of all bounds hold."""


def epsilon_lower_bound(scores: Floats, other_scores: Floats) -> float:
    """Whatever ε holds is at least this, with 99.9 % confidence."""
    return lower_bound(scores, other_scores, bound_epsilon, ONE_SIDE)


def most_measurable(runs: int) -> float:
    """The bound of an attack that is always right, on as many runs under each."""
    return epsilon_lower_bound(np.zeros(runs), np.ones(runs))
