"""Who is compared, by the names of `drawing.LOOKS`: each publishes all cells under ε-differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.mechanisms import MECHANISMS
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import RandomSource


@dataclass(frozen=True)
class Terms:
    """What a release is asked for: the budget, the basis of those that have one, and all its randomness."""

    epsilon: str
    basis: str
    source: RandomSource
    matrix_seed: int


@dataclass(frozen=True)
class Published:
    """The cells, just as the mechanism releases them; of the compressive ones also the chosen S and its k."""

    values: Floats
    sparsity: int | None = None
    rows: int | None = None


Publish = Callable[[Integers, Terms], Published]


def _mechanism(name: str) -> Publish:
    def publish(counts: Integers, terms: Terms) -> Published:
        return Published(MECHANISMS[name]().release(counts, epsilon=terms.epsilon, source=terms.source).values)

    return publish


def _compressive(recovery: str, sensing: str) -> Publish:
    """S is chosen with 0.1 of ε, and k(S) samples are taken with the rest."""

    def publish(counts: Integers, terms: Terms) -> Published:
        mechanism = Compressive(basis=terms.basis, recovery=recovery, sensing=sensing, seed=terms.matrix_seed)
        synopsis = mechanism.measure(counts, epsilon=terms.epsilon, source=terms.source)
        return Published(synopsis.recover().values, synopsis.plan.recovery.sparsity, synopsis.sensing.rows)

    return publish


def _zeros(counts: Integers, terms: Terms) -> Published:
    """No look at the data at all."""
    return Published(np.zeros(counts.shape))


def _uniform(counts: Integers, terms: Terms) -> Published:
    """The noisy total, at least 0, spread evenly over the cells."""
    noise = discrete_laplace(1 / Fraction(terms.epsilon), 1, terms.source)
    return Published(np.full(counts.shape, max(0, int(counts.sum()) + int(noise[0])) / counts.size))


CONTENDERS: dict[str, Publish] = {
    "compressive": _compressive("cosamp", "bernoulli"),
    "compressive bp": _compressive("basis_pursuit", "bernoulli"),
    "compressive tree": _compressive("auto", "hadamard"),
    "laplace": _mechanism("laplace"),
    "hierarchical": _mechanism("hierarchical"),
    "privelet": _mechanism("privelet"),
    "adaptive": _mechanism("adaptive"),
    "zeros": _zeros,
    "uniform": _uniform,
}
"""The first two are the paper's: i.i.d. signs and its two decoders. The third is the one that this library prefers."""

JUDGED = "compressive"
"""Whom the paper's claims are about: Algorithm 1 with CoSaMP."""
RIVALS = ("laplace", "hierarchical")
"""Whom the paper compares it with."""
FLOOR = "zeros"
