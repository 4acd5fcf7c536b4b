"""What every mechanism does: check, debit, sense exactly, add noise once, recover."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy.typing as npt

from sparsedp import validate
from sparsedp.arrays import Ints, usual_warnings
from sparsedp.axes.domain import RECORDS, Declared, Domain, Quantity
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.measurement import RawMeasurement
from sparsedp.mechanisms.terms import WHOLE, CalibratedNoise, Terms, checked_terms
from sparsedp.noise.source import RandomSource
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense
from sparsedp.privacy.ledger import Ledger, Spend
from sparsedp.privacy.neighbours import Counted
from sparsedp.progress import stage
from sparsedp.releases.cut import Cut
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
    felt: ClassVar[float] = 1.0
    """About how much of the noise that a cell would have by itself is left in it, in a table that has nothing special;
    what a bound is chosen by (`ingest/contributions.md`)."""

    @property
    def chosen(self) -> str:
        """What the caller chose, as text: the same in every run, by which an interrupted order is known again."""
        return repr(self)

    @abstractmethod
    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """The public plan for `cells` cells: it may depend on nothing but their number, their domain and the settings.

        The cells of a table are numbered row by row, the last axis running fastest.
        """

    def release(
        self,
        counts: npt.ArrayLike | Counts,
        *,
        epsilon: validate.Number | Budget | None = None,
        rho: validate.Number | None = None,
        delta: validate.Number | None = None,
        domain: Declared | None = None,
        contribution: int | None = None,
        neighbours: str = "add_remove",
        negative: bool = False,
        constraints: Constraints | None = None,
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
        counts_share: validate.Number | None = None,
    ) -> Release:
        """Publish the counts once: `measure`, then recover every cell. See `measure` for the arguments."""
        table = private_table(counts, domain, contribution, negative=negative)
        terms = terms_for(table, constraints, epsilon, rho, delta, neighbours, ledger, sampler, source, counts_share)
        synopsis, spend = self._paid_for(table, terms, constraints)
        with spent_already(spend):
            release = synopsis.recover()
            if ledger is None or spend is None:
                return release
            release = replace(release, record=ledger.record(spend))
            if ledger.name is not None:  # it is kept in a file
                ledger.deliver(spend, release.digest)
            return release

    def measure(
        self,
        counts: npt.ArrayLike | Counts,
        *,
        epsilon: validate.Number | Budget | None = None,
        rho: validate.Number | None = None,
        delta: validate.Number | None = None,
        domain: Declared | None = None,
        contribution: int | None = None,
        neighbours: str = "add_remove",
        negative: bool = False,
        constraints: Constraints | None = None,
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
        counts_share: validate.Number | None = None,
    ) -> Synopsis:
        """The noisy measurement that can be stored and recovered later, elsewhere, without the data.

        `epsilon`: the privacy budget of pure ε-differential privacy; a float means the decimal it prints as (0.1 is
        one tenth). A `Budget` of any kind may stand here.
        `rho`: instead, that of ρ-zCDP, with discrete Gaussian noise.
        `delta`: beside `epsilon`, for (ε, δ)-differential privacy: the greatest ρ that gives it is spent.
        `domain`: what the cells are, a `Domain` or its axes, as objects or as text ("sex:F,M"); the counts must have
        its shape. A table without one gets plain ordered axes.
        `counts`: ready-made counts, or what `sparsedp.count` made of records, which brings its domain and its bound.
        `contribution`: the most one person can change the counts by, in total: your promise, 1 if you say nothing.
        `neighbours`: "add_remove" one person, or "replace_one" (twice the noise).
        `negative`: allow negative entries (sums of signed values).
        `constraints`: what is publicly known and the release shall obey; public totals make it protect "replace_one".
        `ledger`: checked and debited before any noise is drawn.
        `sampler`: "sparsedp", or "opendp" to draw the noise with that library.
        `source`: leave out; a seeded test source marks the result `private=False`.
        `counts_share`: of sums that were counted `with_counts`, the share of the budget for the counts, 1/4 if left
        out.

        Sums are exact modulo 2⁶⁴: counts whose sums leave 64 bits stay private, but come out wrong.
        """
        table = private_table(counts, domain, contribution, negative=negative)
        terms = terms_for(table, constraints, epsilon, rho, delta, neighbours, ledger, sampler, source, counts_share)
        synopsis, spend = self._paid_for(table, terms, constraints)
        _handed_over(synopsis, spend, ledger)
        return synopsis

    def sense(
        self, counts: npt.ArrayLike | Counts, *, domain: Declared | None = None, negative: bool = False
    ) -> RawMeasurement:
        """Exact sums of one part of the data, to be merged with others' (`+`) and given to `perturb`. PRIVATE."""
        table = private_table(counts, domain, None, negative=negative)
        if table.counts is not None:
            remedy = "count them apart, without with_counts, and measure the sums and the counts one after the other"
            raise InvalidInput("counts", "sums with counts beside them, which are not merged", remedy)
        plan = replace(
            self.plan(table.cells.size, table.domain), nonnegative=not table.negative, quantity=table.quantity
        )
        return RawMeasurement(plan, table.cells, bound=None if table.counted is None else table.contribution)

    def perturb(
        self,
        raw: RawMeasurement,
        *,
        epsilon: validate.Number | Budget | None = None,
        rho: validate.Number | None = None,
        delta: validate.Number | None = None,
        contribution: int | None = None,
        neighbours: str = "add_remove",
        ledger: Ledger | None = None,
        sampler: str = "sparsedp",
        source: RandomSource | None = None,
    ) -> Synopsis:
        """Add the noise to merged raw measurements. `contribution` is one person's change over all parts together.

        It may be left out, and is 1 then, only for parts that were handed over as ready-made counts.
        """
        if not isinstance(raw, RawMeasurement):
            raise InvalidInput("raw", f"of type {type(raw).__name__}", "give what `sense` returned")
        promised = raw.checked_contribution(contribution)
        terms = checked_terms(epsilon, rho, delta, promised, neighbours, ledger, sampler, source)
        sensing, planned = raw.plan.sensing, self.plan(raw.plan.sensing.n, raw.plan.domain)
        if raw.plan != replace(planned, nonnegative=raw.plan.nonnegative, quantity=raw.plan.quantity):
            given = "measured by another mechanism, or with other settings"
            raise InvalidInput("raw", given, "perturb it with the mechanism and seed that sensed it")
        noise_for(sensing, terms)
        spend = terms.debit(f"{self.name}, {sensing.n} cells", mechanism=repr(self), domain=raw.plan.domain)
        with spent_already(spend):
            synopsis = _perturb(raw, terms)
            if ledger is not None and spend is not None:
                ledger.settle(spend, synopsis)
        _handed_over(synopsis, spend, ledger)
        return synopsis

    def _paid_for(
        self, table: PrivateTable, terms: Terms, constraints: Constraints | None
    ) -> tuple[Synopsis, Spend | None]:
        plan = self.checked(table.cells.size, terms, table.domain)
        spend = self.debited(table, terms)
        return self.drawn(table, plan, terms, constraints, spend), spend

    # Check, debit, draw: in this order.

    @usual_warnings()
    def checked(self, cells: int, terms: Terms, domain: Domain | None) -> Plan | None:
        """Refuse, from public facts alone, what could not be measured; the plan, unless it takes a private choice."""
        plan = None
        for part in reversed(terms.parts):
            plan = self._plan_in_advance(cells, part, domain)
        return plan

    def debited(self, table: PrivateTable, terms: Terms, request: str | None = None) -> Spend | None:
        """Take the budget off the ledger, if there is one; `request`: of an order that may be taken up again."""
        if [each.bound for each in table.parts] != [
            (part.neighbours.contribution, part.neighbours.counted) for part in terms.parts
        ]:
            raise PrivateSide("These counts have another bound on what one person adds than the terms promise.")
        purpose = f"{self.name}, {table.cells.size} cells"
        return terms.debit(purpose, mechanism=repr(self), domain=table.domain, request=request)

    @usual_warnings()
    def drawn(
        self,
        table: PrivateTable,
        plan: Plan | None,
        terms: Terms,
        constraints: Constraints | None,
        spend: Spend | None,
        cut: Cut | None = None,
        looked: tuple[Expense, ...] = (),
    ) -> Synopsis:
        """Measure what was checked and debited; stored, where the ledger keeps a file, before anybody sees it.

        `cut`: what was measured before of how many records people have, and is stored with the rest; `looked`: what
        that cost. The rest of the budget is spent now, and `plan` was made for it.
        """
        if terms.ledger is not None and spend is None:
            raise RuntimeError("Noise would be drawn that the ledger has not paid for.")
        with spent_already(spend):
            with stage(f"measuring {table.cells.size:,} cells"):
                synopsis = self._all_measured(table, plan, terms.beside(looked), constraints)
            if looked:
                paid = terms.with_looked(synopsis.guarantee, looked)
                counts = synopsis.counts
                if counts is not None and paid.counts is not None:
                    counts = replace(counts, guarantee=paid.counts)
                synopsis = replace(synopsis, guarantee=paid, cut=cut, counts=counts)
            if terms.ledger is not None and spend is not None:
                terms.ledger.settle(spend, synopsis)
            return synopsis

    def _all_measured(
        self, table: PrivateTable, plan: Plan | None, terms: Terms, constraints: Constraints | None
    ) -> Synopsis:
        """The table; and, each with its own share of the budget and noise of its own, the counts beside it."""
        found = []
        for each, part in zip(table.parts, terms.parts, strict=True):
            cells, domain, negative = each.cells, each.domain, each.negative
            synopsis = self._measured(cells, plan, part, domain, negative=negative, constraints=constraints)
            found.append(replace(synopsis, plan=replace(synopsis.plan, quantity=each.quantity)))
        if len(found) == 1:
            return found[0]
        sums, counts = found
        stated = terms.budget if terms.budget.delta else None
        return replace(sums, guarantee=replace(sums.guarantee, counts=counts.guarantee, stated=stated), counts=counts)

    def _measured(
        self,
        cells: Ints,
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
        """The plan, checked from public facts alone before any debit; None if it takes a private choice."""
        plan = self.plan(cells, domain)
        noise_for(plan.sensing, terms)
        return plan

    def _plan_from(self, cells: Ints, terms: Terms, domain: Domain | None) -> Plan:
        """The plan that a private choice leads to, paid for, in mechanisms that have none in advance."""
        return self.plan(cells.size, domain)


# ---- what a mechanism is given to publish, checked: the cells in a row, what they are, and their bound


@dataclass(frozen=True, eq=False, repr=False)
class PrivateTable:
    """Private cells, row by row. `contribution` bounds what one person adds; `counted` says how that was enforced.

    `counts`: of sums, how many records they are of, where that is to be published beside them.
    """

    cells: Ints
    domain: Domain | None
    contribution: int
    negative: bool
    quantity: Quantity = RECORDS
    counted: Counted | None = None
    counts: PrivateTable | None = None

    @property
    def parts(self) -> tuple[PrivateTable, ...]:
        """Itself, and the counts beside it."""
        return (self,) if self.counts is None else (self, self.counts)

    @property
    def bound(self) -> tuple[int, Counted | None]:
        """What one person adds, and how that was enforced."""
        return self.contribution, self.counted


def private_table(
    counts: npt.ArrayLike | Counts, declared: Declared | None, contribution: int | None, *, negative: bool
) -> PrivateTable:
    """The table that was given, or what is wrong with it; nothing is spent yet.

    Counts of records bring their domain and their bound; of ready-made counts the bound is the caller's promise, 1 if
    nothing is said. A table that names no domain gets plain axes, a vector none.
    """
    validate.yes_or_no("negative", negative)
    domain = None if declared is None else Domain.of(declared)
    if isinstance(counts, Counts):
        return _of_records(counts, domain, contribution, negative=negative)
    array = validate.counts_array("counts", counts, negative=negative, shape=None if domain is None else domain.shape)
    if domain is None and array.ndim > 1:
        domain = Domain.of_shape(array.shape)
    return PrivateTable(array.reshape(-1), domain, 1 if contribution is None else contribution, negative)


def _of_records(counts: Counts, domain: Domain | None, contribution: int | None, *, negative: bool) -> PrivateTable:
    if domain is not None and domain != counts.domain:
        raise InvalidInput("domain", "another one than the records were counted in", "leave it out")
    if contribution is not None and contribution != counts.contribution:
        given = f"{contribution}, and the records were counted with a bound of {counts.contribution}"
        raise InvalidInput("contribution", given, "leave it out: the bound is enforced")
    step, across = counts.quantity.resolution, counts.multiline
    counted = Counted(counts.privacy_unit, counts.max_contributions, step, across, counts.chosen)
    cells = counts.values.reshape(-1)
    beside = None if counts.counts is None else _of_records(counts.counts, None, None, negative=False)
    return PrivateTable(
        cells, counts.domain, counts.contribution, negative or counts.negative, counts.quantity, counted, beside
    )


def public_knowledge(
    constraints: Constraints | None, cells: int, domain: Domain | None, quantity: Quantity, *, negative: bool
) -> bool:
    """Check constraints against what a table will be, before anything is spent; whether they fix sums of the data."""
    if constraints is None:
        return False
    if not isinstance(constraints, Constraints):
        raise InvalidInput("constraints", f"of type {type(constraints).__name__}", "give a sparsedp.Constraints")
    if negative:
        raise InvalidInput("negative", "True beside constraints", "leave it out: constrained cells are non-negative")
    if quantity != RECORDS:
        raise InvalidInput("constraints", "given for the sums of a value", "give them for counts of records")
    checked = constraints.checked(*((cells,), None) if domain is None else (domain.shape, domain.names))
    if domain is not None and not all(domain.ordered[axis] for axis in checked.monotone):
        raise InvalidInput("monotone", "along an axis of categories", "they have no order; give an ordered axis")
    if any(margin.totals.size == cells for margin in checked.margins):
        raise InvalidInput("constraints", "with a public total for every cell", "leave out what is to be protected")
    return constraints.is_invariant


def terms_for(
    table: PrivateTable,
    constraints: Constraints | None,
    epsilon: object,
    rho: object,
    delta: object,
    neighbours: str,
    ledger: object,
    sampler: str,
    source: object,
    counts_share: object = None,
) -> Terms:
    """The terms of publishing a table, or the first thing that is wrong with them; nothing is spent yet."""
    terms = checked_terms(
        epsilon,
        rho,
        delta,
        table.contribution,
        neighbours,
        ledger,
        sampler,
        source,
        public_knowledge(constraints, table.cells.size, table.domain, table.quantity, negative=table.negative),
        table.counted,
    )
    if table.counts is not None:
        return terms.with_counts(*table.counts.bound, counts_share)
    if counts_share is not None:
        raise InvalidInput("counts_share", "given without counts beside sums", _BESIDE)
    return terms


_BESIDE = 'count with value="amount" and with_counts=True'


def _handed_over(synopsis: Synopsis, spend: Spend | None, ledger: Ledger | None) -> None:
    """The caller has the synopsis, and what becomes of it is the caller's: nothing is left unfinished."""
    if ledger is not None and spend is not None and ledger.name is not None:
        with spent_already(spend):
            ledger.deliver(spend, synopsis.digest)


@contextmanager
def spent_already(spend: Spend | None) -> Iterator[None]:
    """Whatever ends the work from here on, Ctrl-C included, says that the budget was spent before it."""
    try:
        yield
    except BaseException as error:
        if spend is not None:
            error.add_note(f"{spend.budget.amount} was debited from the ledger before this happened and stays spent.")
        raise


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
