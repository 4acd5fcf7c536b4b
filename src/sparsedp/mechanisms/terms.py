"""The terms a caller asks for, checked before anything is spent, and the noise that shares of the budget buy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import cast

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.axes.domain import Domain
from sparsedp.errors import InvalidInput
from sparsedp.laws import MOST_VARIANCE, DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw
from sparsedp.noise.samplers import SAMPLERS, NoiseSampler
from sparsedp.noise.source import RandomSource, SystemSource, protects
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.conversion import epsilon_of
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.ledger import Ledger, Spend
from sparsedp.privacy.neighbours import Counted, Neighbours

LARGEST_SCALE = 2**55
"""Noise of a larger scale would not leave 64 bits of room for an answer; refused before anything is spent."""

WHOLE = Fraction(1)

COUNTS_SHARE = Fraction(1, 4)
"""Of the budget, for the counts beside sums (`releases/means.md`)."""

_ROOT_BITS = 48


@dataclass(frozen=True)
class Terms:
    """What a caller asked for, checked."""

    budget: Budget
    neighbours: Neighbours
    sampler: NoiseSampler
    source: RandomSource
    ledger: Ledger | None
    counts: CountsBeside | None = None
    """What of it is for the counts beside sums."""
    announced: str | None = None
    """Whom it protects, as a ledger is told before a look has chosen how much one person may add."""
    of: Budget | None = None
    """What was asked for, of which `budget` is a part."""

    def with_counts(self, contribution: int, counted: Counted | None, share: object) -> Terms:
        """The same, a part of which is for counts of the records that are summed: a quarter, if nothing is said."""
        part = COUNTS_SHARE if share is None else validate.share("counts_share", share)
        return replace(
            self, counts=CountsBeside(part, replace(self.neighbours, contribution=contribution, counted=counted))
        )

    @property
    def parts(self) -> tuple[Terms, ...]:
        """The terms of the sums, and those of the counts beside them; or these alone."""
        counts = self.counts
        if counts is None:
            return (self,)
        sums = replace(self, budget=self.budget.part(WHOLE - counts.share), counts=None, of=self.of or self.budget)
        budget = self.budget.part(counts.share)
        return sums, replace(sums, budget=budget, neighbours=counts.neighbours)

    @property
    def gaussian(self) -> bool:
        """Whether the noise is Gaussian: under ρ and under (ε, δ)."""
        return self.budget.rho_spent is not None

    @property
    def epsilon(self) -> Fraction:
        """The ε of a pure budget; refused for the other kinds, which have no use for it."""
        if self.gaussian or self.budget.epsilon is None:
            raise InvalidInput("budget", str(self.budget), "give epsilon alone: this takes pure ε")
        return self.budget.epsilon

    def noise(
        self, l1_sensitivity: int, l2_sensitivity_squared: int, share: Fraction = WHOLE, purpose: str = "measure"
    ) -> CalibratedNoise:
        """The noise that `share` of the budget buys for integers of these sensitivities: Δ₁, and Δ₂ squared.

        Under pure ε discrete Laplace noise of scale Δ₁/(share·ε), else discrete Gaussian noise of σ² = Δ₂²/(2·share·ρ).
        Nothing is drawn yet. Noise too wide for 64 bits is refused, so ask for it once before the debit.
        """
        part = self.budget.part(share)
        law: DiscreteLaplaceLaw | DiscreteGaussianLaw
        if part.rho is not None:
            variance = Fraction(l2_sensitivity_squared) / (2 * part.rho)
            if variance > MOST_VARIANCE or self.sampler.effective_variance(variance) > MOST_VARIANCE:
                raise self._too_small(Fraction(l2_sensitivity_squared, 2 * MOST_VARIANCE) / share)
            law = DiscreteGaussianLaw(self.sampler.effective_variance(variance))
        else:
            self.check_scale(Fraction(l1_sensitivity, self.neighbours.distance), share)
            law = DiscreteLaplaceLaw(self.sampler.effective_scale(Fraction(l1_sensitivity) / (self.epsilon * share)))
        return CalibratedNoise(law, Expense(purpose, part), self.sampler, self.source)

    def choice(self, share: Fraction, purpose: str) -> tuple[Fraction, Expense]:
        """The ε₀ that `share` of the budget buys for one draw of the exponential mechanism, and what it costs.

        Under pure ε, share·ε. Under ρ, √(8·share·ρ): the draw is ε₀²/8-zCDP (`noise/exponential.md`).
        """
        part = self.budget.part(share)
        epsilon = self.epsilon * share if part.rho is None else root_below(8 * part.rho)
        return epsilon, Expense(purpose, part)

    def pure(self, share: Fraction, purpose: str) -> tuple[Fraction, Expense]:
        """The ε₀ that `share` of the budget buys for any ε₀-private step, and what it costs.

        Under pure ε, share·ε. Under ρ, √(2·share·ρ): what is ε₀-private is ε₀²/2-zCDP (Bun and Steinke 2016).
        """
        part = self.budget.part(share)
        epsilon = self.epsilon * share if part.rho is None else root_below(2 * part.rho)
        return epsilon, Expense(purpose, part)

    def share_of(self, expense: Expense) -> Fraction:
        """Which part of the budget an expense was."""
        whole, part = self.budget.part(WHOLE), expense.budget
        if whole.rho is not None and part.rho is not None:
            return part.rho / whole.rho
        if whole.epsilon is not None and part.epsilon is not None:
            return part.epsilon / whole.epsilon
        raise InvalidInput("expense", f"{part}", "phases of one release are paid in one kind")

    def beside(self, paid: Sequence[Expense]) -> Terms:
        """The same terms with what is left of the budget when all of this is paid."""
        left = WHOLE - sum(map(self.share_of, paid))
        return replace(self, budget=self.budget.part(left), of=self.of or self.budget) if paid else self

    def check_scale(self, column: int | Fraction, share: Fraction = WHOLE) -> None:
        """Refuse Laplace noise that would leave no room in 64 bits: a public fact, checked before any debit.

        `column` is the largest ‖φⱼ‖₁ that may come up, `share` the part of ε that is left for measuring.
        """
        least = Fraction(self.neighbours.distance * column, LARGEST_SCALE) / share
        if self.epsilon < least:
            raise self._too_small(least)

    def _too_small(self, least: Fraction) -> InvalidInput:
        """What to say of a budget below `least`, in the caller's own words."""
        if self.of is not None:
            whole = replace(self, budget=self.of, of=None)
            return whole._too_small(least / whole.share_of(Expense("", self.budget)))
        budget = self.budget
        name, amount = ("rho", budget.rho) if budget.epsilon is None else ("epsilon", budget.epsilon)
        if budget.delta:
            least = epsilon_of(least, budget.delta)
        given = f"{float(amount or 0):.1e}, so small that the noise would not fit 64-bit integers"
        return InvalidInput(name, given, f"give at least {float(least) * 1.1:.1e}")

    @property
    def charged(self) -> Budget:
        """The budget, saying whom it is counted for: what is debited."""
        return self.budget.counted_for(self.neighbours.whom)

    def check(self, entries: Sequence[Spend] | None = None) -> None:
        """Refuse what the ledger would refuse to debit now; nothing is taken. `entries`: as it has just been read."""
        if self.ledger is not None:
            rho, relation = self.budget.rho_spent, self.neighbours.relation
            self.ledger.check(self.charged, rho=rho, relation=relation, entries=entries)

    def debit(self, purpose: str, *, mechanism: str, domain: Domain | None, request: str | None = None) -> Spend | None:
        """Take the whole budget off the ledger, if there is one; after this, noise may be drawn.

        The ledger also keeps what was published, in public words: the mechanism, the cells, the neighbours; and the
        `request`, by which a run that is started again finds what was paid for.
        """
        if self.ledger is None:
            return None
        return self.ledger.debit(
            self.charged,
            purpose,
            rho=self.budget.rho_spent,
            relation=self.neighbours.relation,
            parameters={
                "mechanism": mechanism,
                **({} if domain is None else {"cells": str(domain)}),
                "neighbours": self.announced
                or self.neighbours.announced(None if self.counts is None else self.counts.neighbours),
            },
            request=request,
        )

    def guarantee(self, expenses: Iterable[Expense]) -> Guarantee:
        """The promise of a release that was paid for by these expenses, which may not exceed the budget."""
        paid = tuple(expenses)
        if sum(map(self.share_of, paid)) > WHOLE:
            raise InvalidInput("expenses", f"more than {self.budget}", "give phases shares that add up to 1")
        stated = self.budget if self.budget.delta else None
        return Guarantee(paid, self.neighbours, protects(self.source), stated=stated)

    def with_looked(self, promised: Guarantee, looked: tuple[Expense, ...]) -> Guarantee:
        """A promise that was paid for with what this left of the budget, and this on top.

        Counts beside sums are a release of their own. Where the look chose the bound that they tell, it is they that
        have to say what it cost; the sums' promise is of both together.
        """
        counted, counts = promised.neighbours.counted, promised.counts
        if counts is not None and counted is not None and counted.chosen:
            of_counts = replace(counts, expenses=(*looked, *counts.expenses))
            whole = replace(promised, counts=of_counts, stated=None)
        else:
            whole = replace(promised, expenses=(*looked, *promised.expenses), stated=None)
        if not self.budget.part(WHOLE).covers(whole.total):
            raise InvalidInput("expenses", f"more than {self.budget}", "give phases shares that add up to 1")
        return replace(whole, stated=self.budget) if self.budget.delta else whole


@dataclass(frozen=True)
class CountsBeside:
    """The counts of the records that are summed: which share of the budget they get, and what one person adds."""

    share: Fraction
    neighbours: Neighbours


@dataclass(frozen=True)
class CalibratedNoise:
    """Independent noise of `law` for every value, just as much as `expense` pays for; made by `Terms.noise`.

    Adding it once to integers of the sensitivity it was made for costs `expense`; adding it twice costs it twice.
    """

    law: IndependentLaw
    expense: Expense
    sampler: NoiseSampler
    source: RandomSource

    def add_to(self, values: Ints) -> None:
        """Add fresh noise to every value, in place, modulo 2⁶⁴."""
        if isinstance(self.law, DiscreteGaussianLaw):
            self.sampler.add_gaussian(values, self.law.variance_parameter, self.source)
        else:
            self.sampler.add_noise(values, self.law.scale, self.source)


def checked_pure_terms(
    epsilon: object,
    contribution: int,
    neighbours: str,
    ledger: object,
    sampler: str,
    source: object,
    unit: str | None = None,
) -> Terms:
    """The terms of a call that takes pure ε alone, or the first thing that is wrong with them; nothing is spent yet."""
    if isinstance(epsilon, Budget) and epsilon.delta == 0:
        epsilon = epsilon.epsilon
    whom, chosen, bits, books = _checked_surroundings(contribution, neighbours, ledger, sampler, source, unit)
    return Terms(Budget(epsilon=validate.budget("epsilon", epsilon)), whom, chosen, bits, books)


def checked_terms(
    epsilon: object,
    rho: object,
    delta: object,
    contribution: int,
    neighbours: str,
    ledger: object,
    sampler: str,
    source: object,
    invariant: bool = False,
    counted: Counted | None = None,
) -> Terms:
    """The same where ε, ρ, or ε with δ may be asked for.

    Beside public totals (`invariant`) people can only be replaced, and that is what is protected, whatever was asked.
    """
    if invariant and neighbours == "add_remove":
        neighbours = "replace_one"
    whom, chosen, bits, books = _checked_surroundings(
        contribution, neighbours, ledger, sampler, source, None, invariant, counted
    )
    return Terms(asked_for(epsilon, rho, delta), whom, chosen, bits, books)


def _checked_surroundings(
    contribution: int,
    neighbours: str,
    ledger: object,
    sampler: str | NoiseSampler,
    source: object,
    unit: str | None,
    invariant: bool = False,
    counted: Counted | None = None,
) -> tuple[Neighbours, NoiseSampler, RandomSource, Ledger | None]:
    if source is None:
        source = SystemSource()
    if not isinstance(source, RandomSource):
        given = f"of type {type(source).__name__}"
        raise InvalidInput("source", given, "leave it out: private noise takes its bits from the operating system")
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InvalidInput("ledger", f"of type {type(ledger).__name__}", "give a sparsedp.Ledger, or leave it out")
    # One that stands in for a sampler may do so only where what is made is marked as protecting nobody.
    stands_in = not isinstance(sampler, str) and isinstance(sampler, NoiseSampler) and not protects(source)
    chosen = cast(NoiseSampler, sampler) if stands_in else validate.one_of("sampler", sampler, SAMPLERS)
    chosen.check(source)
    return Neighbours(contribution, neighbours, unit, invariant, counted), chosen, source, ledger


def root_below(number: Fraction) -> Fraction:
    """√number, rounded down to a multiple of 2^−48, or to 48 binary digits where the number is below 1."""
    smaller = max(0, number.denominator.bit_length() - number.numerator.bit_length()) if number else 0
    places = _ROOT_BITS + -(-smaller // 2)
    scaled = (number.numerator << 2 * places) // number.denominator
    return Fraction(isqrt(scaled), 1 << places)
