"""Carry out an order: count, debit, measure, store, recover, deliver; or go on where an earlier run was stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.signatures import SigningKey
from sparsedp.mechanisms.base import spent_already
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger, Spend, Storable
from sparsedp.publishing.order import Delivery, Order
from sparsedp.releases.release import Release
from sparsedp.synopsis import open_synopsis


def carried_out(
    order: Order,
    delivery: Delivery,
    ledger: Ledger | None,
    *,
    before_debit: Callable[[], None] | None = None,
    course: Course | None = None,
    sign: SigningKey | None = None,
) -> Release:
    """The release, delivered, and signed if there is a key. `before_debit` is the last that can stop it at no cost.

    `course`: told how far it has come, on the way.
    """
    if ledger is not None and not isinstance(ledger, Ledger):
        remedy = 'give `sparsedp.open_ledger("budget.db", "name")`, or None if you keep count of it elsewhere'
        raise InvalidInput("ledger", f"of type {type(ledger).__name__}", remedy)
    course = Course() if course is None else course
    request = order.request(delivery.name)
    spend = None if ledger is None else ledger.unfinished(request)
    if ledger is not None and spend is not None:
        if spend.synopsis_path is not None:
            return _resumed(ledger, spend, delivery, course, sign)
        warnings.warn(
            f"An earlier run of the same order debited {spend.budget.amount} and left no measurement: it was stopped, "
            "or is still under way. What it debited stays spent, and this run spends again.",
            stacklevel=3,
        )
    delivery.check()
    if ledger is not None:
        ledger.check(order.budget, rho=order.asked.rho, relation=order.relation)
    counts = order.counts()
    if before_debit is not None:
        before_debit()
    booking = course.booking = None if ledger is None else Booking(ledger, request, before_debit)
    release = order.mechanism.release(
        counts,
        epsilon=order.asked.budget,
        neighbours=order.neighbours,
        constraints=order.constraints,
        ledger=booking,
    )
    with spent_already(None if booking is None else booking.spend):
        course.release = release = release if sign is None else release.sign(sign)
        delivery.write(release)
        if booking is not None:
            booking.delivered(release.digest)
    course.delivered = True
    return release


def _resumed(
    ledger: Ledger, spend: Spend, delivery: Delivery, course: Course, sign: SigningKey | None = None
) -> Release:
    """What an interrupted run of the same order has paid for and stored, delivered."""
    course.taken_up = spend
    warnings.warn(
        f"Taken up where an earlier run of the same order was stopped, {spend.time}: its stored measurement, of the "
        "records as they were then, is published, no records are read again, and nothing more is spent.",
        stacklevel=4,
    )
    release = recovered(ledger, spend)
    course.release = release = release if sign is None else release.sign(sign)
    course.was_there = delivery.has(release)
    if not course.was_there:
        delivery.check()
        delivery.write(release)
    ledger.deliver(spend, release.digest)
    course.delivered = True
    return release


# A ledger on behalf of one order: the same books, with the request written beside its debit.


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


# How far an order has come: for whoever has to say what was spent and written when it is stopped.


@dataclass
class Course:
    """Filled in while an order is carried out."""

    booking: Booking | None = None
    """The ledger's line for it, if it is debited in this run."""
    taken_up: Spend | None = None
    """What an earlier run has paid for and stored, if this one goes on from there."""
    release: Release | None = None
    """What is on its way to its place, or there."""
    was_there: bool = False
    """The earlier run had brought it there already."""
    delivered: bool = False
    """It is there, and the ledger knows."""

    @property
    def spend(self) -> Spend | None:
        """What pays for it."""
        return self.taken_up or (None if self.booking is None else self.booking.spend)


# What an interrupted run has paid for and left beside the ledger: published at no cost.


def stored_for(order: Order, delivery: Delivery, ledger: Ledger | None) -> Spend | None:
    """The spend whose stored measurement this order would take up; None if it would have to pay."""
    spend = None if ledger is None else ledger.unfinished(order.request(delivery.name))
    return None if spend is None or spend.synopsis_path is None else spend


def recovered(ledger: Ledger, spend: Spend) -> Release:
    """The release of a spend, from its stored measurement, with the ledger's line for it."""
    if spend.synopsis_path is None:
        raise BadFile(f"Spend {spend.number} has no stored measurement.")
    return replace(open_synopsis(spend.synopsis_path).recover(), record=ledger.record(spend))
