"""A ledger for one process: check, debit, and only then may noise be drawn."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, Protocol

from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.privacy.allowance import Allowance, spent_on
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.spend import Spend, now

LONGEST_TEXT = 2**16
"""Of a purpose, a request, or parameters: a ledger is no place for data."""


class Storable(Protocol):
    """A synopsis, as far as a ledger knows it: noise-protected, and able to write itself to a file, all or nothing."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it."""


class Ledger:
    """Keeps the total that may be spent on one data set and refuses what would exceed it.

    >>> ledger = Ledger(epsilon=1)
    >>> spend = ledger.debit(Budget(epsilon="0.3"), "monthly table")
    >>> str(ledger.remaining)
    'ε = 0.7'

    It is kept in what its total is given in: ε, (ε, δ) or ρ. Whatever is ε-private is ε²/2-zCDP, so a ledger in ρ also
    pays for pure ε; a ledger in ε, or in (ε, δ), is not charged in ρ, as a ρ says nothing until a δ is chosen. A total
    in (ε, δ) with `composition="zcdp"` is counted in the ρ that gives it, and pays for ε, ρ and (ε, δ) alike.

    However the spends were chosen, each in view of everything released before, all releases together are private with
    the total (`privacy/ledger.md`).

    Budgets add up between the same neighbours only: what is ε between data with and without a person is up to 2ε
    between data with one person and with another. So all spends of one ledger are for the same relation, and for the
    same people: what is ε for one record is 50ε for a person with 50 of them.

    Safe between threads. A debit is never given back: once it is taken, noise may have been drawn. A copy would mint
    a second budget, so a ledger refuses to be copied, pickled, or used in a forked child. One that outlives the
    process, and that several processes share, is kept in a file: `sparsedp.open_ledger`.
    """

    name: str | None = None
    """The declared name of the data set; None in memory, where a ledger is for one."""

    def __init__(
        self, *, epsilon: object = None, rho: object = None, delta: object = 0, composition: str = "basic"
    ) -> None:
        self._allowance = Allowance.of(epsilon=epsilon, rho=rho, delta=delta, composition=composition)
        self._entries: list[Spend] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def total(self) -> Budget:
        """All that may be spent; it cannot be changed."""
        return self._allowance.total

    @property
    def composition(self) -> str:
        """By which rule spends add up: "basic" or "zcdp"; it cannot be changed."""
        return self._allowance.composition

    @property
    def limit(self) -> Budget:
        """What the spends are counted against: the total, or the ρ that gives it."""
        return self._allowance.limit

    @property
    def entries(self) -> tuple[Spend, ...]:
        """Every spend so far, in order."""
        return tuple(self._entries)

    @property
    def spent(self) -> Budget | None:
        """What has been spent, or None before the first spend."""
        return spent_on(self.entries)

    @property
    def remaining(self) -> Budget | None:
        """What is left, or None when nothing is."""
        return self._allowance.left(self.entries)

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
        """Take `budget` off what remains, or raise `BudgetExceeded` and take nothing.

        `rho`: the ρ that was spent on a budget stated as (ε, δ), which is what a ledger in ρ is charged.
        `relation`: between which neighbours the budget is promised.
        `parameters`: the public parameters of the release, as JSON has them; nothing that was learnt from the data.
        `request`: a text by which `unfinished` finds this spend again.
        """
        if os.getpid() != self._process:
            raise PrivateSide("This ledger belongs to another process; debit it there, where the total is kept.")
        with self._lock:
            spend = self._admitted(self._entries, len(self._entries) + 1, budget, purpose, rho=rho, relation=relation)
            spend = replace(described(spend, parameters, request), token=secrets.token_hex(8))
            self._entries.append(spend)
        return spend

    def check(self, budget: Budget, *, rho: Fraction | None = None, relation: str | None = None) -> None:
        """Raise what `debit` would raise now, and take nothing: for a long job, before it begins."""
        entries = self.entries
        self._admitted(entries, len(entries) + 1, budget, "", rho=rho, relation=relation)

    def settle(self, spend: Spend, synopsis: Storable) -> Spend:
        """The noise was drawn: a ledger in a file stores the synopsis; in memory there is nothing to do."""
        return spend

    def deliver(self, spend: Spend, digest: str) -> Spend:
        """The release reached its file: a ledger in a file records its digest; in memory there is nothing to do."""
        return spend

    def unfinished(self, request: str) -> Spend | None:
        """What an interrupted run with this request has paid for; in memory nothing outlives the run."""
        return None

    def record(self, spend: Spend) -> dict[str, str]:
        """The ledger's line for a release: public facts, in words, as they were right after this spend."""
        upto = [entry for entry in self.entries if entry.number <= spend.number]
        return {
            "data_set": self.name or "unnamed (a ledger in memory)",
            "spend": str(spend.number),
            "time": spend.time,
            "charged": spend.spent.amount,
            "total": str(self._allowance),
            "spent": _amount(spent_on(upto)),
            "left": _amount(self._allowance.left(upto)),
        }

    def _admitted(
        self,
        entries: Sequence[Spend],
        number: int,
        budget: Budget,
        purpose: str,
        *,
        rho: Fraction | None,
        relation: str | None,
    ) -> Spend:
        """The spend that these entries leave room for, or the refusal."""
        if not isinstance(budget, Budget):
            raise InvalidInput("budget", f"of type {type(budget).__name__}", "give a sparsedp.Budget")
        _refuse_other_neighbours(entries, relation)
        _refuse_other_people(entries, budget.protects)
        charge = self._allowance.charge(budget, rho)
        self._allowance.check(charge, entries)
        return Spend(number, budget, charge, checked_text("purpose", purpose), now(), relation, rho)

    def __repr__(self) -> str:
        entries = self.entries
        whose = "" if self.name is None else f"{self.name}, "
        left = self._allowance.left(entries) or "nothing"
        number = "1 spend" if len(entries) == 1 else f"{len(entries)} spends"
        return f"Ledger({whose}total: {self._allowance}; left: {left}; {number})"

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A ledger cannot be copied or pickled: the copy would be a second budget for the same data.")

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy
    __reduce_ex__ = _refuse_copy


def described(spend: Spend, parameters: Mapping[str, Any] | None, request: str | None) -> Spend:
    """The spend with its public parameters, as JSON gives them back, and its request."""
    try:
        text = json.dumps(dict(parameters or {}), allow_nan=False, sort_keys=True)
    except (TypeError, ValueError):
        remedy = "give text, whole numbers, lists and dicts of them"
        raise InvalidInput("parameters", "not what JSON can hold", remedy) from None
    checked_text("parameters", text)
    return replace(
        spend, parameters=json.loads(text), request=None if request is None else checked_text("request", request)
    )


def checked_text(argument: str, text: object) -> str:
    """A text that is not too long for a ledger."""
    if not isinstance(text, str):
        raise InvalidInput(argument, f"of type {type(text).__name__}", "give a text")
    if len(text) > LONGEST_TEXT or "\0" in text:
        raise InvalidInput(argument, "too long, or with a null character", f"give at most {LONGEST_TEXT} characters")
    return text


def _refuse_other_neighbours(entries: Sequence[Spend], relation: str | None) -> None:
    kept = {entry.relation for entry in entries} - {None}
    if relation is not None and kept and relation not in kept:
        given = f"{relation!r} on a ledger whose spends are for {next(iter(kept))!r}"
        raise InvalidInput("neighbours", given, "use the same, or another ledger (public totals need 'replace_one')")


def _refuse_other_people(entries: Sequence[Spend], protects: str | None) -> None:
    kept = {entry.budget.protects for entry in entries} - {None}
    if protects is not None and kept and protects not in kept:
        given = f"counted for {protects}, on a ledger whose spends are for {next(iter(kept))}"
        raise InvalidInput("budget", given, "declare another data set for it: such budgets do not add up to one")


def _amount(budget: Budget | None) -> str:
    return "nothing" if budget is None else budget.amount
