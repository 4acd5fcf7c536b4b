"""How a previewed release would be made: the mechanism, the budget, who is protected; and the making of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from sparsedp.arrays import Floats, Integers
from sparsedp.domain import Domain
from sparsedp.mechanisms import Mechanism
from sparsedp.mechanisms.named import name_and_settings
from sparsedp.mechanisms.terms import checked_terms
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget


@dataclass(frozen=True)
class Setting:
    """What `sparsedp.release` would be given besides the counts."""

    mechanism: Mechanism
    budget: Budget
    contribution: int
    neighbours: str

    @property
    def made_by(self) -> str:
        """The mechanism in words, with its workload or other settings."""
        return name_and_settings(self.mechanism)

    def budget_at(self, factor: Fraction) -> Budget:
        """The budget under which plain noise is `factor` times narrower: ε grows with the factor, ρ with its square."""
        if self.budget.rho is not None:
            return Budget(rho=self.budget.rho * factor**2)
        assert self.budget.epsilon is not None  # noqa: S101  # a budget has one of the two
        return Budget(epsilon=self.budget.epsilon * factor, delta=self.budget.delta)

    def publish(self, counts: Integers, domain: Domain, source: RandomSource, factor: Fraction) -> Floats:
        """What the real mechanism makes of made-up counts. The noise is repeatable: there is nobody to protect."""
        release = self.mechanism.release(
            counts,
            epsilon=self.budget_at(factor),
            domain=domain,
            contribution=self.contribution,
            neighbours=self.neighbours,
            source=source,
        )
        return release.values

    def plain_noise(self, factor: Fraction) -> float:
        """The standard deviation of noise put directly on a cell: the error of `Laplace`, exactly."""
        terms = checked_terms(
            self.budget_at(factor), None, None, self.contribution, self.neighbours, None, "sparsedp", None
        )
        distance = terms.neighbours.distance
        return sqrt(terms.noise(distance, distance**2).law.variance)
