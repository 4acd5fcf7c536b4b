"""The mechanisms whose growth is measured, as calls: counts in, an estimate and the size of what was published out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases.haar import Haar
from sparsedp.mechanisms import MECHANISMS
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.laplace import Laplace
from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants
from sparsedp.noise.source import RandomSource

ROWS_CONSTANT = Fraction(2)
"""C of k = C·S·log₂(n/S), for every decoder alike."""

DECODERS = {"compressive": "cosamp", "compressive bp": "basis_pursuit", "compressive tree": "vamp_tree"}
THRESHOLD = "laplace threshold"
EVERY = (*DECODERS, "laplace", THRESHOLD, "hierarchical", "privelet", "adaptive")


@dataclass(frozen=True)
class Published:
    """The estimate of every cell, and how many noisy numbers it was made of."""

    cells: Floats
    numbers: int


def publish(
    name: str, counts: Integers, *, sparsity: int, epsilon: str | Fraction, seed: int, source: RandomSource
) -> Published:
    """One release by the contender of that name; the compressive ones are told the true sparsity."""
    if name in DECODERS:
        mechanism = compressive(DECODERS[name], sparsity, seed)
        synopsis = mechanism.measure(counts, epsilon=epsilon, source=source)
    elif name == THRESHOLD:
        synopsis = Laplace().measure(counts, epsilon=epsilon, source=source)
        return Published(thresholded(synopsis.values.astype(np.float64), sqrt(synopsis.noise_variance)), counts.size)
    else:
        synopsis = MECHANISMS[name]().measure(counts, epsilon=epsilon, source=source)
    return Published(synopsis.recover().values, synopsis.values.size)


def compressive(decoder: str, sparsity: int, seed: int, sensing: str = "hadamard") -> Compressive:
    """Algorithm 1 with a known S and k = 2·S·log₂(n/S)."""
    constants = SelectionConstants(rows_constant=ROWS_CONSTANT)
    return Compressive(sensing=sensing, sparsity=sparsity, recovery=decoder, constants=constants, seed=seed)


def thresholded(noisy: Floats, deviation: float) -> Floats:
    """The Haar coefficients of noisy cells that exceed σ·ln n, and the total: hard thresholding, known since 1994.

    The difference of two Laplace variables exceeds √2·σ·ln n with a probability of (1 + ln n)/n², so that none of n
    coefficients of noise is likely to.
    """
    basis = Haar(noisy.size)
    coefficients = basis.analyze(noisy)
    small = np.abs(coefficients) <= deviation * log(noisy.size)
    small[0] = False
    coefficients[small] = 0.0
    return basis.synthesize(coefficients)
