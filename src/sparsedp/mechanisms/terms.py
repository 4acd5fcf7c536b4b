"""The terms a caller asks for, checked before anything is spent: budget, neighbours, sampler, source of randomness."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sparsedp import validate
from sparsedp.errors import InvalidInput
from sparsedp.noise.samplers import SAMPLERS, NoiseSampler
from sparsedp.noise.source import RandomSource, SystemSource
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.privacy.neighbours import Neighbours

LARGEST_SCALE = 2**55
"""Noise of a larger scale would not leave 64 bits of room for an answer; refused before anything is spent."""


@dataclass(frozen=True)
class Terms:
    """What a caller asked for, checked."""

    epsilon: Fraction
    neighbours: Neighbours
    sampler: NoiseSampler
    source: RandomSource
    ledger: Ledger | None

    def check_scale(self, column: int, share: Fraction = Fraction(1)) -> None:
        """Refuse noise that would leave no room in 64 bits: a public fact, checked before any debit.

        `column` is the largest ‖φⱼ‖₁ that may come up, `share` the part of ε that is left for measuring.
        """
        least = Fraction(self.neighbours.distance * column, LARGEST_SCALE) / share
        if self.epsilon < least:
            given = f"{float(self.epsilon):.1e}, so small that the noise would not fit 64-bit integers"
            raise InvalidInput("epsilon", given, f"give at least {float(least) * 1.1:.1e}")

    def debit(self, purpose: str) -> None:
        """Take the whole ε off the ledger, if there is one; after this, noise may be drawn."""
        self.debit_amount(Budget(epsilon=self.epsilon), purpose)

    def debit_amount(self, amount: Budget, purpose: str) -> None:
        """The same for what is guaranteed, where that is more than the ε that was asked for."""
        if self.ledger is not None:
            self.ledger.debit(amount, purpose)


def checked_terms(
    epsilon: object,
    contribution: int,
    neighbours: str,
    ledger: object,
    sampler: str,
    source: object,
    unit: str | None = None,
) -> Terms:
    """The terms of a call, or the first thing that is wrong with them; nothing has been spent yet."""
    if isinstance(epsilon, Budget) and epsilon.delta == 0:
        epsilon = epsilon.epsilon
    if source is None:
        source = SystemSource()
    if not isinstance(source, RandomSource):
        given = f"of type {type(source).__name__}"
        raise InvalidInput("source", given, "leave it out: private noise takes its bits from the operating system")
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InvalidInput("ledger", f"of type {type(ledger).__name__}", "give a sparsedp.Ledger, or leave it out")
    chosen = validate.one_of("sampler", sampler, SAMPLERS)
    chosen.check(source)
    whom = Neighbours(contribution, neighbours, unit)
    return Terms(validate.budget("epsilon", epsilon), whom, chosen, source, ledger)
