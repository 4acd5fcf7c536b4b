"""What every mechanism does: check, debit, sense exactly, add noise once, recover."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Integers
from sparsedp.constraints import Constraints
from sparsedp.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.measurement import RawMeasurement
from sparsedp.mechanisms.calibrated_noise import CalibratedNoise
from sparsedp.mechanisms.terms import WHOLE, Terms, checked_terms
from sparsedp.noise.source import RandomSource
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.progress import stage
from sparsedp.releases.release import Release
from sparsedp.sensing.base import Sensing
from sparsedp.synopsis import Synopsis


class Mechanism(ABC):
    """A way to publish all cells at once. Subclasses choose the sensing and the recovery; the rest is here, once.

    Guarantee of every subclass, for the stated neighbours: under `epsilon` the synopsis is ε-differentially private,
    because its integers are Φ D plus independent discrete Laplace noise of scale Δ₁/ε, and Δ₁ is the exact L1
    sensitivity of the realised Φ (`noise/discrete_laplace.md`). Under `rho` it is ρ-zCDP by discrete Gaussian noise of
    σ² = Δ₂²/(2ρ), Δ₂ being the L2 sensitivity; under `epsilon` and `delta` it is (ε, δ)-private, since it is ρ-zCDP
    for a ρ that gives that (`noise/discrete_gaussian.md`). Recovery sees the synopsis only.
    """

    name: ClassVar[str]

    @abstractmethod
    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """The public plan for `cells` cells: it may depend on nothing but their number, their domain and the settings.

        The cells of a table are numbered row by row, the last axis running fastest.
        """

    def release(
        self,
        counts: npt.ArrayLike,
        *,
        epsilon: validate.Number | Budget | None = None,
        rho: validate.Number | None = None,
        delta: validate.Number | None = None,
        domain: Domain | None = None,
        contribution: int = 1,
        neighbours: str = "add_remove",
        negative: bool = False,
        constraints: Constraints | None = None,
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Release:
        """Publish the counts once: `measure`, then recover every cell. See `measure` for the arguments."""
        return self.measure(
            counts,
            epsilon=epsilon,
            rho=rho,
            delta=delta,
            domain=domain,
            contribution=contribution,
            neighbours=neighbours,
            negative=negative,
            constraints=constraints,
            ledger=ledger,
            sampler=sampler,
            source=source,
        ).recover()

    def measure(
        self,
        counts: npt.ArrayLike,
        *,
        epsilon: validate.Number | Budget | None = None,
        rho: validate.Number | None = None,
        delta: validate.Number | None = None,
        domain: Domain | None = None,
        contribution: int = 1,
        neighbours: str = "add_remove",
        negative: bool = False,
        constraints: Constraints | None = None,
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Synopsis:
        """The noisy measurement that can be stored and recovered later, elsewhere, without the data.

        `epsilon`: the privacy budget of pure ε-differential privacy; a float means the decimal it prints as (0.1 is
        one tenth). A `Budget` of any kind may stand here.
        `rho`: instead, that of ρ-zCDP, with discrete Gaussian noise.
        `delta`: beside `epsilon`, for (ε, δ)-differential privacy: the greatest ρ that gives it is spent.
        `domain`: what the cells are; the counts must have its shape. A table without one gets plain ordered axes.
        `contribution`: the most one person can change the counts by, in total: your promise.
        `neighbours`: "add_remove" one person, or "replace_one" (twice the noise).
        `negative`: allow negative entries (sums of signed values).
        `constraints`: what is publicly known and the release shall obey; public totals make it protect "replace_one".
        `ledger`: checked and debited before any noise is drawn.
        `sampler`: "sparsedp", or "opendp" to draw the noise with that library.
        `source`: leave out; a seeded test source marks the result `private=False`.

        Sums are exact modulo 2⁶⁴: counts whose sums leave 64 bits stay private, but come out wrong.
        """
        cells, domain = cells_and_domain(counts, domain, negative=negative)
        invariant = public_knowledge(constraints, cells.size, domain, negative=negative)
        terms = checked_terms(epsilon, rho, delta, contribution, neighbours, ledger, sampler, source, invariant)
        plan = self._plan_in_advance(cells.size, terms, domain)
        terms.debit(f"{self.name}, {cells.size} cells")
        with stage(f"measuring {cells.size:,} cells"):
            return self._measured(cells, plan, terms, domain, negative=negative, constraints=constraints)

    def sense(self, counts: npt.ArrayLike, *, domain: Domain | None = None, negative: bool = False) -> RawMeasurement:
        """Exact sums of one part of the data, to be merged with others' (`+`) and given to `perturb`. PRIVATE."""
        cells, domain = cells_and_domain(counts, domain, negative=negative)
        return RawMeasurement(replace(self.plan(cells.size, domain), nonnegative=not negative), cells)

    def perturb(
        self,
        raw: RawMeasurement,
        *,
        epsilon: validate.Number | Budget | None = None,
        rho: validate.Number | None = None,
        delta: validate.Number | None = None,
        contribution: int = 1,
        neighbours: str = "add_remove",
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Synopsis:
        """Add the noise to merged raw measurements. `contribution` is one person's change over all parts together."""
        terms = checked_terms(epsilon, rho, delta, contribution, neighbours, ledger, sampler, source)
        if not isinstance(raw, RawMeasurement):
            raise InvalidInput("raw", f"of type {type(raw).__name__}", "give what `sense` returned")
        sensing = raw.plan.sensing
        if raw.plan != replace(self.plan(sensing.n, raw.plan.domain), nonnegative=raw.plan.nonnegative):
            given = "measured by another mechanism, or with other settings"
            raise InvalidInput("raw", given, "perturb it with the mechanism and seed that sensed it")
        noise_for(sensing, terms)
        terms.debit(f"{self.name}, {sensing.n} cells")
        return _perturb(raw, terms)

    def _measured(
        self,
        cells: Integers,
        plan: Plan | None,
        terms: Terms,
        domain: Domain | None,
        *,
        negative: bool,
        constraints: Constraints | None,
    ) -> Synopsis:
        """What is measured once it is paid for: here, Φ D and one noise."""
        if plan is None:
            plan = self._plan_from(cells, terms, domain)
        plan = replace(plan, nonnegative=not negative, constraints=constraints)
        return _perturb(RawMeasurement(plan, cells), terms)

    def _plan_in_advance(self, cells: int, terms: Terms, domain: Domain | None) -> Plan | None:
        """The plan, checked from public facts alone before any debit; None if it takes a paid look at the counts."""
        plan = self.plan(cells, domain)
        noise_for(plan.sensing, terms)
        return plan

    def _plan_from(self, cells: Integers, terms: Terms, domain: Domain | None) -> Plan:
        """The plan that a paid look at the counts leads to, for mechanisms that have none in advance."""
        return self.plan(cells.size, domain)


def cells_and_domain(counts: npt.ArrayLike, domain: Domain | None, *, negative: bool) -> tuple[Integers, Domain | None]:
    """The private cells in a row, and what they are: a table that names no domain gets plain axes, a vector none."""
    validate.yes_or_no("negative", negative)
    if domain is not None and not isinstance(domain, Domain):
        raise InvalidInput("domain", f"of type {type(domain).__name__}", "give a sparsedp.Domain")
    array = validate.counts_array("counts", counts, negative=negative, shape=None if domain is None else domain.shape)
    if domain is None and array.ndim > 1:
        domain = Domain.of_shape(array.shape)
    return array.reshape(-1), domain


def public_knowledge(constraints: Constraints | None, cells: int, domain: Domain | None, *, negative: bool) -> bool:
    """Check constraints against the table before anything is spent; whether they fix sums of the data."""
    if constraints is None:
        return False
    if not isinstance(constraints, Constraints):
        raise InvalidInput("constraints", f"of type {type(constraints).__name__}", "give a sparsedp.Constraints")
    if negative:
        raise InvalidInput("negative", "True beside constraints", "leave it out: constrained cells are non-negative")
    checked = constraints.checked(*((cells,), None) if domain is None else (domain.shape, domain.names))
    if domain is not None and not all(domain.ordered[axis] for axis in checked.monotone):
        raise InvalidInput("monotone", "along an axis of categories", "they have no order; give an ordered axis")
    if any(margin.totals.size == cells for margin in checked.margins):
        raise InvalidInput("constraints", "with a public total for every cell", "leave out what is to be protected")
    return constraints.is_invariant


def noise_for(sensing: Sensing, terms: Terms, share: Fraction = WHOLE) -> CalibratedNoise:
    """The noise that `share` of the budget buys for Φ D; refused, before any debit, if it leaves no room in 64 bits."""
    distance = terms.neighbours.distance
    return terms.noise(sensing.l1_sensitivity(distance), sensing.l2_sensitivity_squared(distance), share)


def _perturb(raw: RawMeasurement, terms: Terms) -> Synopsis:
    """Φ D plus the noise that is bought by what choosing the plan left of the budget."""
    plan = raw.plan
    left = WHOLE - sum((terms.share_of(expense) for expense in plan.choosing), Fraction(0))
    noise = noise_for(plan.sensing, terms, left)
    guarantee = terms.guarantee((*plan.choosing, noise.expense))
    return Synopsis(raw.with_noise(noise), plan, noise.law, guarantee)
