"""What every mechanism does: check, debit, sense exactly, add noise once, recover."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.errors import InvalidInput
from sparsedp.measurement import RawMeasurement
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.noise.law import DiscreteLaplaceLaw
from sparsedp.noise.source import RandomSource, protects
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.ledger import Ledger
from sparsedp.progress import stage
from sparsedp.releases.release import Release
from sparsedp.synopsis import Synopsis


class Mechanism(ABC):
    """A way to publish all cells at once. Subclasses choose the sensing and the recovery; the rest is here, once.

    Guarantee of every subclass: the synopsis is ε-differentially private for the stated neighbours, because its
    integers are Φ D plus independent discrete Laplace noise of scale Δ₁/ε, and Δ₁ is the exact L1 sensitivity of
    the realised Φ (`noise/discrete_laplace.md`). Recovery sees the synopsis only.
    """

    name: ClassVar[str]

    @abstractmethod
    def plan(self, cells: int) -> Plan:
        """The public plan for `cells` cells: it may depend on nothing but their number and the settings."""

    def release(
        self,
        counts: npt.ArrayLike,
        *,
        epsilon: validate.Number | Budget,
        contribution: int = 1,
        neighbours: str = "add_remove",
        negative: bool = False,
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Release:
        """Publish the counts once: `measure`, then recover every cell. See `measure` for the arguments."""
        return self.measure(
            counts,
            epsilon=epsilon,
            contribution=contribution,
            neighbours=neighbours,
            negative=negative,
            ledger=ledger,
            sampler=sampler,
            source=source,
        ).recover()

    def measure(
        self,
        counts: npt.ArrayLike,
        *,
        epsilon: validate.Number | Budget,
        contribution: int = 1,
        neighbours: str = "add_remove",
        negative: bool = False,
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Synopsis:
        """The noisy measurement that can be stored and recovered later, elsewhere, without the data.

        `epsilon`: the privacy budget; a float means the decimal it prints as (0.1 is one tenth).
        `contribution`: the most one person can change the counts by, in total: your promise.
        `neighbours`: "add_remove" one person, or "replace_one" (twice the noise).
        `negative`: allow negative entries (sums of signed values).
        `ledger`: checked and debited before any noise is drawn.
        `sampler`: "sparsedp", or "opendp" to draw the noise with that library.
        `source`: leave out; a seeded test source marks the result `private=False`.

        Sums are exact modulo 2⁶⁴: counts whose sums leave 64 bits stay private, but come out wrong.
        """
        cells = validate.counts_vector("counts", counts, negative=negative)
        terms = checked_terms(epsilon, contribution, neighbours, ledger, sampler, source)
        plan = self._plan_in_advance(cells.size, terms)
        terms.debit(f"{self.name}, {cells.size} cells")
        with stage(f"measuring {cells.size:,} cells"):
            if plan is None:
                plan = self._plan_from(cells, terms)
            return _perturb(RawMeasurement(plan, cells), terms)

    def sense(self, counts: npt.ArrayLike, *, negative: bool = False) -> RawMeasurement:
        """Exact sums of one part of the data, to be merged with others' (`+`) and given to `perturb`. PRIVATE."""
        cells = validate.counts_vector("counts", counts, negative=negative)
        return RawMeasurement(self.plan(cells.size), cells)

    def perturb(
        self,
        raw: RawMeasurement,
        *,
        epsilon: validate.Number | Budget,
        contribution: int = 1,
        neighbours: str = "add_remove",
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Synopsis:
        """Add the noise to merged raw measurements. `contribution` is one person's change over all parts together."""
        terms = checked_terms(epsilon, contribution, neighbours, ledger, sampler, source)
        if not isinstance(raw, RawMeasurement):
            raise InvalidInput("raw", f"of type {type(raw).__name__}", "give what `sense` returned")
        sensing = raw.plan.sensing
        if raw.plan != self.plan(sensing.n):
            given = "measured by another mechanism, or with other settings"
            raise InvalidInput("raw", given, "perturb it with the mechanism and seed that sensed it")
        terms.check_scale(sensing.max_column_l1)
        terms.debit(f"{self.name}, {sensing.n} cells")
        return _perturb(raw, terms)

    def _plan_in_advance(self, cells: int, terms: Terms) -> Plan | None:
        """The plan, checked from public facts alone before any debit; None if it takes a paid look at the counts."""
        plan = self.plan(cells)
        terms.check_scale(plan.sensing.max_column_l1)
        return plan

    def _plan_from(self, cells: Integers, terms: Terms) -> Plan:
        """The plan that a paid look at the counts leads to, for mechanisms that have none in advance."""
        return self.plan(cells.size)


def _perturb(raw: RawMeasurement, terms: Terms) -> Synopsis:
    """Φ D plus discrete Laplace noise of scale Δ₁/ε′, where ε′ is what choosing the plan left of ε."""
    plan = raw.plan
    left = terms.epsilon - sum((_epsilon(expense.budget) for expense in plan.choosing), Fraction(0))
    sensitivity = plan.sensing.l1_sensitivity(terms.neighbours.distance)
    scale = terms.sampler.effective_scale(Fraction(sensitivity) / left)
    values = raw.with_noise(terms.sampler, scale, terms.source)
    expenses = (*plan.choosing, Expense("measure", Budget(epsilon=left)))
    guarantee = Guarantee(expenses, terms.neighbours, protects(terms.source))
    return Synopsis(values, plan, DiscreteLaplaceLaw(scale), guarantee)


def _epsilon(budget: Budget) -> Fraction:
    if budget.epsilon is None:
        raise InvalidInput("budget", str(budget), "pure-ε mechanisms are charged in epsilon")
    return budget.epsilon
