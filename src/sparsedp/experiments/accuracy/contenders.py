"""Who is compared: the modes of `Adaptive`, every other mechanism here, and two ways to publish next to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import MECHANISMS, Mechanism
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SystemSource


class Contender(Protocol):
    """Something that publishes all cells, afresh at every call."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def publish(self, counts: Integers, epsilon: str) -> Floats:
        """An ε-differentially private estimate of every cell, in the counts' shape."""


@dataclass(frozen=True)
class Configured:
    """A mechanism of this library by its registered name, with settings; made anew for every release."""

    name: str
    mechanism: str
    settings: tuple[tuple[str, Any], ...] = ()

    def publish(self, counts: Integers, epsilon: str) -> Floats:
        """What the mechanism releases; one that takes vectors only is given a table row after row."""
        given = counts if counts.ndim == 1 or takes_tables(self) else counts.reshape(-1)
        return self.make().release(given, epsilon=epsilon).values.reshape(counts.shape)

    def make(self) -> Mechanism:
        """A fresh mechanism, with public randomness of its own where it has any."""
        return MECHANISMS[self.mechanism](**dict(self.settings))

    @property
    def exists(self) -> bool:
        """Whether this version of the library has the mechanism."""
        return self.mechanism in MECHANISMS


@cache
def takes_tables(contender: Configured) -> bool:
    """Whether the mechanism publishes tables as such."""
    try:
        contender.make().release(np.zeros((2, 2), dtype=np.int64), epsilon=1)
    except InvalidInput:
        return False
    return True


@dataclass(frozen=True)
class Zeros:
    """Publish zeros: no look at the data at all."""

    name: str = "zeros"

    def publish(self, counts: Integers, epsilon: str) -> Floats:
        """No records anywhere."""
        return np.zeros(counts.shape)


@dataclass(frozen=True)
class Uniform:
    """Publish the total alone, with all of ε, and spread it evenly over the cells."""

    name: str = "uniform"

    def publish(self, counts: Integers, epsilon: str) -> Floats:
        """The noisy total over the number of cells, at least 0."""
        noise = discrete_laplace(1 / Fraction(epsilon), 1, SystemSource())
        total = max(0, int(counts.sum()) + int(noise[0]))
        return np.full(counts.shape, total / counts.size)


MODES = ("any", "cells", "ranges")
OURS: Mapping[str, Configured] = {
    mode: Configured(f"adaptive {mode}", "adaptive", (("workload", mode),)) for mode in MODES
}
"""Our mechanism in each mode."""

RIVALS: tuple[Configured, ...] = (
    Configured("laplace", "laplace"),
    Configured("hierarchical", "hierarchical"),
    Configured("hierarchical, by 16", "hierarchical", (("branching", 16),)),
    Configured("privelet", "privelet"),
    Configured("compressive", "compressive", (("basis", "haar"), ("sparsity", "auto"))),
    Configured("compressive, cosine", "compressive", (("basis", "cosine"), ("sparsity", "auto"))),
)
"""Every other mechanism here, with the settings that the other tables of this project have."""

BYSTANDERS: tuple[Contender, ...] = (Zeros(), Uniform())
