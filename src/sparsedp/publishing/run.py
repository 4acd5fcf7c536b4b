"""Carry out an order: count, debit, measure, store, recover, deliver; or go on where an earlier run was stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sparsedp.counts import Counts
from sparsedp.errors import BadFile, BudgetExceeded, InvalidInput
from sparsedp.ingest import counted, refuse_empty
from sparsedp.ingest.request import Request
from sparsedp.mechanisms.base import private_table, spent_already
from sparsedp.plan import Plan
from sparsedp.privacy.ledger import Ledger, Spend
from sparsedp.publishing.order import Order
from sparsedp.releases.release import Release
from sparsedp.releases.uncertainty import HIGHEST_LEVEL, UnknownTogether
from sparsedp.synopsis import Synopsis, open_synopsis


class Run:
    """One order on its way. Whatever stops it, it can be asked how far it came.

    The ledger is read once, when the run is made: all that is decided before the debit is decided by that.
    `before_debit`: called last of all before the debit; what it raises stops the run at no cost.
    """

    def __init__(self, order: Order, before_debit: Callable[[], None] | None = None) -> None:
        ledger = order.terms.ledger
        self.order = order
        self.spend: Spend | None = None
        """What pays for it, once it is debited in this run, or was in the one that is taken up."""
        self.release: Release | None = None
        """What is on its way to its place, or there."""
        self.taken_up = False
        """It goes on from what an earlier run has paid for and stored."""
        self.was_there = False
        """The earlier run had brought it there already."""
        self.delivered = False
        """It is there, and the ledger knows."""
        self._before_debit = before_debit
        self._asked_to_pay = False
        self._seen = () if ledger is None else ledger.entries
        self._unfinished = None if ledger is None else ledger.unfinished(order.identity, self._seen)

    @property
    def stored(self) -> Spend | None:
        """The spend of an earlier run whose stored measurement this one takes up; None if it has to pay."""
        return None if self._unfinished is None or self._unfinished.synopsis_path is None else self._unfinished

    def check(self) -> None:
        """Raise what the ledger would refuse."""
        self.order.terms.check(self._seen)

    def carried_out(self) -> Release:
        """The release, delivered, and signed if there is a key."""
        order, ledger = self.order, self.order.terms.ledger
        if ledger is not None and self.stored is not None:
            return self._resumed(ledger, self.stored)
        if self._unfinished is not None:
            warnings.warn(
                f"An earlier run of the same order debited {self._unfinished.budget.amount} and left no measurement: "
                "it was stopped, or is still under way. What it debited stays spent, and this run spends again.",
                stacklevel=3,
            )
        order.delivery.check()
        self.check()
        synopsis = self._measured()
        with spent_already(self.spend):
            release = synopsis.recover()
            if ledger is not None and self.spend is not None:
                release = replace(release, record=ledger.record(self.spend))
            return self._brought(release)

    def _measured(self) -> Synopsis:
        """Check, debit, draw, in this order. The records are read, counted and forgotten here."""
        order, mechanism = self.order, self.order.mechanism
        plan = order.checked_plan()
        counts = counted(order.request, if_none=None if order.allow_empty else refuse_empty)
        table = private_table(counts, None, None, negative=False)
        if self._before_debit is not None:
            self._before_debit()
        self._asked_to_pay = True
        try:
            self.spend = mechanism.debited(table, order.terms, order.identity)
        except (BudgetExceeded, InvalidInput):
            self._asked_to_pay = False  # it took nothing, surely: what is debited by now is another job's
            raise
        return measured(order, plan, counts, counted, self.spend)

    def _resumed(self, ledger: Ledger, spend: Spend) -> Release:
        """What an interrupted run of the same order has paid for and stored, delivered."""
        self.spend, self.taken_up = spend, True
        warnings.warn(
            f"Taken up where an earlier run of the same order was stopped, {spend.time}: its stored measurement, of "
            "the records as they were then, is published, no records are read again, and nothing more is spent.",
            stacklevel=4,
        )
        return self._brought(recovered(ledger, spend, memory_for(self.order)))

    def _brought(self, release: Release) -> Release:
        """Signed, brought to its place unless it is there, and recorded."""
        delivery, sign, ledger = self.order.delivery, self.order.sign, self.order.terms.ledger
        self.release = release = release if sign is None else release.sign(sign)
        self.was_there = self.taken_up and delivery.has(release)
        if not self.was_there:
            if self.taken_up:
                delivery.check()
            delivery.write(release)
        if ledger is not None and self.spend is not None:
            ledger.deliver(self.spend, release.digest)
        self.delivered = True
        if _tells_nothing(release):
            warnings.warn(
                "Nothing in this release can be told from an empty table: the intervals of its total and of all its "
                "cells hold 0. Either the noise is larger than what was counted, or the records were read wrongly: "
                "run `sparsedp check` on them, for their owner alone.",
                stacklevel=5,
            )
        return release

    # How far it came: the ledger and the place are asked, not memory.

    @property
    def paid(self) -> Spend | None:
        """What pays for it, as the ledger has it now: it may have been debited without our taking note."""
        ledger = self.order.terms.ledger
        if ledger is None or (self.spend is None and not self._asked_to_pay):
            return None
        before = {entry.token for entry in self._seen}
        for entry in reversed(ledger.entries):
            ours = entry.token not in before and entry.request == self.order.identity
            if ours if self.spend is None else entry.token == self.spend.token:
                return ledger.stored(entry)
        return None

    @property
    def has_arrived(self) -> bool:
        """Whether the release is in its place, whole."""
        return self.release is not None and self.order.delivery.has(self.release)


def _tells_nothing(release: Release) -> bool:
    """Whether the total, and the cell that stands out most, may well be 0: all of it follows from what is published."""
    if release.stderr is None or not _may_be_zero(release, np.ones(release.shape), _LEVEL):
        return False
    values, errors = release.values, release.stderr
    apart = np.divide(abs(values), errors, out=np.where(values == 0, 0.0, np.inf), where=errors > 0)
    cell = np.unravel_index(apart.argmax(), release.shape)
    level = min(1 - (1 - _LEVEL) / len(release), HIGHEST_LEVEL)  # for all cells at once
    return _may_be_zero(release, tuple(map(int, cell)), level)


def _may_be_zero(release: Release, query: Any, level: float) -> bool:
    try:
        found = release.interval(query, level)
    except UnknownTogether:
        return False
    return found.low <= 0 <= found.high


_LEVEL = 0.95


def measured(
    order: Order, plan: Plan | None, counts: Counts, count: Callable[[Request], Counts], spend: Spend | None
) -> Synopsis:
    """What the spend pays for: first the looks, at how many records people have and at how large values are, then the
    table.

    Where a look chooses a bound, `counts` were for the greatest one, and `count` counts for that which is chosen.
    """
    if order.terms.ledger is not None and spend is None:
        raise RuntimeError("Noise would be drawn that the ledger has not paid for.")
    with spent_already(spend):
        cut = order.cut_of(counts)
        if cut is not None and cut.chosen:
            order = order.with_bound(cut.bound)
            plan = order.checked_plan()
            counts = count(order.request)
        clamp = order.clamp_of(counts)
        if clamp is not None:
            order = order.clamped_to(*clamp)
            plan = order.checked_plan()
            counts = count(order.request)
    table = private_table(counts, None, None, negative=False)
    return order.mechanism.drawn(table, plan, order.terms, order.constraints, spend, cut, order.looked)


_CELL_BYTES = 256
"""More than a file says that a cell takes."""


def memory_for(order: Order) -> int:
    """What the stored measurement of an order may take: beside the usual, room for all cells that were declared."""
    return 2**31 + _CELL_BYTES * order.request.domain.size


def recovered(ledger: Ledger, spend: Spend, memory: str | int | None = None) -> Release:
    """The release of a spend, from its stored measurement, with the ledger's line for it: published at no cost.

    `memory`: as for `open_synopsis`. What was measured may be small, and its table large.
    """
    if spend.synopsis_path is None:
        raise BadFile(f"Spend {spend.number} has no stored measurement.")
    return replace(open_synopsis(spend.synopsis_path, memory=memory).recover(), record=ledger.record(spend))
