"""What every mechanism does: check, debit, sense exactly, add noise once, recover."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.measurement import RawMeasurement
from sparsedp.noise.law import DiscreteLaplaceLaw
from sparsedp.noise.samplers import SAMPLERS, NoiseSampler
from sparsedp.noise.source import RandomSource, SystemSource, protects
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.progress import stage
from sparsedp.releases.release import Release
from sparsedp.synopsis import Synopsis

Integers = npt.NDArray[np.int64]

LARGEST_SCALE = 2**55
"""Noise of a larger scale would not leave 64 bits of room for an answer; refused before anything is spent."""


@dataclass(frozen=True)
class Terms:
    """What a caller asked for, checked: the budget, the neighbours, the sampler and the source of randomness."""

    epsilon: Fraction
    neighbours: Neighbours
    sampler: NoiseSampler
    source: RandomSource


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
        epsilon: validate.Number,
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
        epsilon: validate.Number,
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
        """
        cells = validate.counts_vector("counts", counts, negative=negative)
        terms = _terms(epsilon, contribution, neighbours, sampler, source)
        self._check(cells.size, terms)
        if ledger is not None:
            ledger.debit(Budget(epsilon=terms.epsilon), f"{self.name}, {cells.size} cells")
        plan = self._plan_privately(cells, terms)
        with stage(f"measuring {cells.size:,} cells"):
            return _perturb(RawMeasurement(plan, cells), terms)

    def sense(self, counts: npt.ArrayLike, *, negative: bool = False) -> RawMeasurement:
        """Exact sums of one part of the data, to be merged with others' (`+`) and given to `perturb`. PRIVATE."""
        cells = validate.counts_vector("counts", counts, negative=negative)
        return RawMeasurement(self.plan(cells.size), cells)

    def perturb(
        self,
        raw: RawMeasurement,
        *,
        epsilon: validate.Number,
        contribution: int = 1,
        neighbours: str = "add_remove",
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Synopsis:
        """Add the noise to merged raw measurements. `contribution` is one person's change over all parts together."""
        terms = _terms(epsilon, contribution, neighbours, sampler, source)
        if not isinstance(raw, RawMeasurement):
            raise InvalidInput("raw", f"of type {type(raw).__name__}", "give what `sense` returned")
        if raw.plan.mechanism != self.name:
            raise InvalidInput(
                "raw", f"measured by {raw.plan.mechanism}", "perturb it with the mechanism that sensed it"
            )
        sensing = raw.plan.sensing
        check_scale(terms, sensing.l1_sensitivity(terms.neighbours.distance), terms.epsilon)
        if ledger is not None:
            ledger.debit(Budget(epsilon=terms.epsilon), f"{self.name}, {sensing.n} cells")
        return _perturb(raw, terms)

    def _check(self, cells: int, terms: Terms) -> None:
        """Refuse, from public facts alone and before any debit, what could not be published."""
        sensing = self.plan(cells).sensing
        check_scale(terms, sensing.l1_sensitivity(terms.neighbours.distance), terms.epsilon)

    def _plan_privately(self, cells: Integers, terms: Terms) -> Plan:
        """The plan for these counts. Only a mechanism that pays for looking at them overrides this."""
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


def _terms(epsilon: object, contribution: int, neighbours: str, sampler: str, source: RandomSource | None) -> Terms:
    if source is not None and not isinstance(source, RandomSource):
        given = f"of type {type(source).__name__}"
        raise InvalidInput("source", given, "leave it out: private noise takes its bits from the operating system")
    chosen_source = SystemSource() if source is None else source
    chosen_sampler = validate.one_of("sampler", sampler, SAMPLERS)
    chosen_sampler.check(chosen_source)
    return Terms(
        epsilon=validate.positive("epsilon", epsilon),
        neighbours=Neighbours(contribution, neighbours),
        sampler=chosen_sampler,
        source=chosen_source,
    )


def check_scale(terms: Terms, sensitivity: int, epsilon: Fraction) -> None:
    """Refuse noise that would leave no room in 64 bits: a public fact, checked before any debit."""
    if Fraction(sensitivity) / epsilon > LARGEST_SCALE:
        least = float(Fraction(sensitivity, LARGEST_SCALE))
        given = f"{validate.shown(terms.epsilon)}, so small that the noise would not fit 64-bit integers"
        raise InvalidInput("epsilon", given, f"give more than {least:.1e}")


def _epsilon(budget: Budget) -> Fraction:
    if budget.epsilon is None:
        raise InvalidInput("budget", str(budget), "pure-ε mechanisms are charged in epsilon")
    return budget.epsilon
