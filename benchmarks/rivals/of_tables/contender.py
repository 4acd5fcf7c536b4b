"""What a rival gives: a marginal for the numbers of its axes, and all cells if it has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import pi, prod, sqrt
from typing import Protocol

import numpy as np

from sparsedp.arrays import Floats, Ints
from studies.tables import summed

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Budget:
    """ε, or ρ of zero-concentrated differential privacy."""

    amount: float
    gaussian: bool

    def __str__(self) -> str:
        return f"{'ρ' if self.gaussian else 'ε'} = {self.amount:g}"

    def deviation(self, share: float) -> float:
        """Of the noise that this part of it puts on sums of which one person changes one by one."""
        return sqrt(0.5 / (share * self.amount)) if self.gaussian else sqrt(2.0) / (share * self.amount)

    def noise(self, share: float, shape: Sequence[int], random: np.random.Generator) -> Floats:
        """As much of it as has that deviation."""
        if self.gaussian:
            return random.normal(scale=self.deviation(share), size=shape)
        return random.laplace(scale=self.deviation(share) / sqrt(2.0), size=shape)


@dataclass(frozen=True)
class Answers:
    """Marginals by their axes (None where it has none), and all cells (likewise)."""

    margin: Callable[[Axes], Floats | None]
    cells: Floats | None = None

    @classmethod
    def of_cells(cls, cells: Floats) -> Answers:
        """Marginals are sums of cells."""
        return cls(lambda axes: summed(cells, axes), cells)


class TableRival(Protocol):
    """Publishes a table afresh at every call."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers | None:
        """None where it has no form for this kind of budget or so few axes."""


@dataclass(frozen=True)
class OnCells:
    """Noise on every cell; marginals are sums of noisy cells."""

    name: str = "noise on cells"

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers:
        """Cells as they are, below zero too: sums have no bias then."""
        return Answers.of_cells(counts + budget.noise(1.0, counts.shape, random))


@dataclass(frozen=True)
class SplitOverMargins:
    """Every marginal of one axis and of two, each with the same share; those of three are not answered."""

    name: str = "split over 1- and 2-way"

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers:
        """Each marginal from its own measurement."""
        every = [axes for order in (1, 2) for axes in combinations(range(counts.ndim), order)]
        noisy = {}
        for axes in every:
            exact = summed(counts, axes)
            noisy[axes] = np.maximum(exact + budget.noise(1.0 / len(every), exact.shape, random), 0.0)
        return Answers(noisy.get)


@dataclass(frozen=True)
class ResidualPlanner:
    """Xiao, He, Zhang and Kifer (NeurIPS 2023): residuals of marginals, with the noise that makes the sum of all
    variances least, in closed form: no unbiased mechanism with Gaussian noise has a lesser one. For all marginals of up
    to `order` axes, each order with the same weight in the mean error, or with its own.
    """

    order: int
    weights: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """With its workload."""
        return f"ResidualPlanner up to {self.order}-way"

    def publish(self, counts: Ints, budget: Budget, random: np.random.Generator) -> Answers | None:
        """Unbiased marginals, consistent with one another."""
        if not budget.gaussian:
            return None
        shape, residuals = counts.shape, {}
        for a, variance in self._variances(shape, budget.amount).items():
            exact = summed(counts, a)
            residuals[a] = _residual(exact + random.normal(scale=sqrt(variance), size=exact.shape))

        def margin(kept: Axes) -> Floats | None:
            if len(kept) > self.order:
                return None
            total = np.zeros([shape[i] for i in kept])
            for a, residual in residuals.items():
                if set(a) <= set(kept):
                    spread = residual.reshape([shape[i] if i in a else 1 for i in kept])
                    total = total + spread / prod(shape[i] for i in kept if i not in a)
            return np.maximum(total, 0.0)

        return Answers(margin)

    def expected(self, shape: tuple[int, ...], rho: float) -> dict[int, float]:
        """The mean absolute error, summed over a marginal's cells, of marginals of each order."""
        variances = self._variances(shape, rho)
        found = {}
        for order in range(1, self.order + 1):
            errors = []
            for b in combinations(range(len(shape)), order):
                summed_up = sum(v * self._weight(shape, a, b) for a, v in variances.items() if set(a) <= set(b))
                errors.append(sqrt(2.0 / pi * summed_up * prod(shape[i] for i in b)))
            found[order] = sum(errors) / len(errors)
        return found

    def _variances(self, shape: tuple[int, ...], rho: float) -> dict[Axes, float]:
        """Of the noise in each residual."""
        axes = range(len(shape))
        wanted = [each for order in range(self.order + 1) for each in combinations(axes, order)]
        of_order = (0.0, *(self.weights or (1.0,) * self.order))
        # One person costs Π(1 − 1/nᵢ) / 2σ² in ρ; a variance of σ² adds weights[A] · σ² to the sum of all variances.
        costs = {a: prod(1.0 - 1.0 / shape[i] for i in a) for a in wanted}
        weights = {
            a: sum(of_order[len(b)] * self._weight(shape, a, b) for b in wanted if set(a) <= set(b)) for a in wanted
        }
        scale = sum(sqrt(costs[a] * weights[a]) for a in wanted) / (2.0 * rho)
        return {a: scale * sqrt(costs[a] / weights[a]) for a in wanted}

    @staticmethod
    def _weight(shape: tuple[int, ...], a: Axes, b: Axes) -> float:
        """What a variance of one in the residual of `a` adds to the sum of variances of `b`, per marginal of its order:
        marginals count alike, as their errors do.
        """
        many = prod(1.0 - 1.0 / shape[i] for i in a) * prod(shape[i] for i in a)
        return many / prod(shape[i] for i in b if i not in a)


def _residual(marginal: Floats) -> Floats:
    """What is left of it without all that marginals of fewer axes say."""
    for axis in range(marginal.ndim):
        marginal = marginal - marginal.mean(axis=axis, keepdims=True)
    return marginal
