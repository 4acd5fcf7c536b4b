"""Carry out an order: count, debit, measure, store, recover, deliver; or go on where an earlier run was stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

from sparsedp.errors import InvalidInput
from sparsedp.mechanisms.base import spent_already
from sparsedp.privacy.ledger import Ledger
from sparsedp.publishing.booking import Booking
from sparsedp.publishing.delivery import Delivery
from sparsedp.publishing.order import Order
from sparsedp.releases.release import Release
from sparsedp.synopsis import open_synopsis


def carried_out(
    order: Order, delivery: Delivery, ledger: Ledger | None, *, before_debit: Callable[[], None] | None = None
) -> Release:
    """The release, delivered. `before_debit` is the last thing that can still stop it at no cost."""
    if ledger is not None and not isinstance(ledger, Ledger):
        remedy = 'give a sparsedp.Ledger or `sparsedp.open_ledger("budget.db", "name")`, or leave it out'
        raise InvalidInput("ledger", f"of type {type(ledger).__name__}", remedy)
    request = order.request(delivery.name)
    resumed = None if ledger is None else _resumed(ledger, request, delivery)
    if resumed is not None:
        return resumed
    delivery.check()
    if ledger is not None:
        ledger.check(order.budget, rho=order.asked.rho, relation=order.relation)
    counts = order.counts()
    if before_debit is not None:
        before_debit()
    booking = None if ledger is None else Booking(ledger, request, before_debit)
    release = order.mechanism.release(
        counts,
        epsilon=order.asked.budget,
        neighbours=order.neighbours,
        constraints=order.constraints,
        ledger=booking,
    )
    with spent_already(None if booking is None else booking.spend):
        delivery.write(release)
        if booking is not None:
            booking.delivered(release.digest)
    return release


def _resumed(ledger: Ledger, request: str, delivery: Delivery) -> Release | None:
    """What an interrupted run of the same order left behind, delivered; None if there is nothing."""
    spend = ledger.unfinished(request)
    if spend is None:
        return None
    if spend.synopsis_path is None:
        warnings.warn(
            f"An earlier run of the same order debited {spend.budget.amount} and left no measurement: it was stopped, "
            "or is still under way. What it debited stays spent, and this run spends again.",
            stacklevel=4,
        )
        return None
    warnings.warn(
        f"Taken up where an earlier run of the same order was stopped, {spend.time}: its stored measurement is "
        "published, no records are read again, and nothing more is spent.",
        stacklevel=4,
    )
    release = replace(open_synopsis(spend.synopsis_path).recover(), record=ledger.record(spend))
    if not delivery.has(release):
        delivery.check()
        delivery.write(release)
    ledger.deliver(spend, release.digest)
    return release
