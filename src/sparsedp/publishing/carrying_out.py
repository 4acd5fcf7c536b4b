"""Carry out an order: count, debit, measure, store, recover, deliver; or go on where an earlier run was stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from sparsedp.errors import InvalidInput
from sparsedp.files.signatures import SigningKey
from sparsedp.mechanisms.base import spent_already
from sparsedp.privacy.ledger import Ledger, Spend
from sparsedp.publishing.booking import Booking
from sparsedp.publishing.course import Course
from sparsedp.publishing.delivery import Delivery
from sparsedp.publishing.order import Order
from sparsedp.publishing.stored import recovered
from sparsedp.releases.release import Release


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
