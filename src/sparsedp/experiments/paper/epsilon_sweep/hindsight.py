"""The compressive mechanism if the best S were known beforehand. NOT PRIVATE: what a better choice of S could gain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.experiments.paper.epsilon_sweep.contenders import Published
from sparsedp.experiments.paper.outcomes import Settings
from sparsedp.experiments.paper.seeds import noise_of, seed_of
from sparsedp.mechanisms.compressive import Compressive

KNOWN = "compressive known"
SPARSITIES = (1, 2, 4, 8, 16, 32, 64)
LEFT = Fraction(9, 10)
"""Of ε, as if choosing had been paid for: so that nothing differs but S."""


def published_in_hindsight(settings: Settings, counts: Integers) -> list[Published]:
    """The runs at the S whose mean error came out least; CoSaMP, randomised Hadamard rows."""
    every = [_published(settings, counts, sparsity) for sparsity in SPARSITIES]
    means = [np.mean([np.linalg.norm(one.values - counts) for one in runs]) for runs in every]
    return every[int(np.argmin(means))]


def _published(settings: Settings, counts: Integers, sparsity: int) -> list[Published]:
    runs = []
    for run in range(settings["runs"]):
        seed = seed_of(settings, "matrix", sparsity, run)
        mechanism = Compressive(basis=settings["basis"], sparsity=sparsity, recovery="cosamp", seed=seed)
        source = noise_of(settings, sparsity, run)
        synopsis = mechanism.measure(counts, epsilon=LEFT * Fraction(settings["epsilon"]), source=source)
        runs.append(Published(synopsis.recover().values, sparsity, synopsis.sensing.rows))
    return runs
