"""Google's differential-privacy library through `python-dp`: its Laplace mechanism takes one number at a time."""

from __future__ import annotations

import numpy as np
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

from peers.contender import CELLS, Contender, Run
from sparsedp.arrays import Floats, Ints

GUARANTEE = (
    "pure ε as documented: geometric noise on a grid of 2⁻⁴⁰ of its scale, rounded to integers; its probabilities are "
    "floats; the sensitivity is the caller's promise"
)


def noisy_cells(counts: Ints, epsilon: str) -> Run:
    def run() -> Floats:
        mechanism = LaplaceMechanism(float(epsilon), 1.0)
        return np.array([mechanism.add_noise(count) for count in counts.tolist()], np.float64)

    return run


CONTENDERS = (Contender("Google DP", "LaplaceMechanism.add_noise, cell by cell", CELLS, GUARANTEE, noisy_cells),)
