"""A ledger on behalf of one order: the same books, with the request written beside its debit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger, Spend, Storable


class Booking(Ledger):
    """Passes everything on to the real ledger, and remembers what was debited.

    What is published this way is delivered when it has reached its place, not when the numbers are in memory, so
    `deliver` waits until `delivered`. `before_debit` is called last of all before the debit, and may refuse it.
    """

    def __init__(self, ledger: Ledger, request: str, before_debit: Callable[[], None] | None = None) -> None:
        # No `super().__init__()`: a booking has no total of its own.
        self.name = ledger.name
        self._allowance = ledger._allowance
        self._ledger = ledger
        self._request = request
        self._before_debit = before_debit
        self.spend: Spend | None = None

    @property
    def entries(self) -> tuple[Spend, ...]:
        """The real ledger's."""
        return self._ledger.entries

    def unfinished(self, request: str) -> Spend | None:
        """As the real ledger has it."""
        return self._ledger.unfinished(request)

    def debit(
        self,
        budget: Budget,
        purpose: str,
        *,
        rho: Fraction | None = None,
        relation: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        request: str | None = None,
    ) -> Spend:
        """Debit the real ledger, for this request."""
        if self._before_debit is not None:
            self._before_debit()
        self.spend = self._ledger.debit(
            budget, purpose, rho=rho, relation=relation, parameters=parameters, request=request or self._request
        )
        return self.spend

    def settle(self, spend: Spend, synopsis: Storable) -> Spend:
        """Store the synopsis with the real ledger."""
        return self._ledger.settle(spend, synopsis)

    def record(self, spend: Spend) -> dict[str, str]:
        """The real ledger's record."""
        return self._ledger.record(spend)

    def deliver(self, spend: Spend, digest: str) -> Spend:
        """Nothing is delivered yet."""
        return spend

    def delivered(self, digest: str) -> None:
        """The release is where it was to go: nothing is left unfinished."""
        if self.spend is not None:
            self._ledger.deliver(self.spend, digest)
