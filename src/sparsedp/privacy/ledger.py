"""A ledger for one process: check, debit, and only then may noise be drawn."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NoReturn, Protocol

from sparsedp import validate
from sparsedp.errors import BudgetExceeded, InvalidInput, PrivateSide
from sparsedp.files.untrusted import printable
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.conversion import delta_of, rho_for

_LONGEST_TEXT = 2**16
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
        return _spent_on(self.entries)

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
            spend = replace(spend, line=self._line([*self._entries, spend]))
            self._entries.append(spend)
        return spend

    def check(
        self,
        budget: Budget,
        *,
        rho: Fraction | None = None,
        relation: str | None = None,
        entries: Sequence[Spend] | None = None,
    ) -> None:
        """Raise what `debit` would raise now, and take nothing: for a long job, before it begins.

        `entries`: the spends as they were read a moment ago.
        """
        entries = self.entries if entries is None else entries
        self._admitted(entries, len(entries) + 1, budget, "", rho=rho, relation=relation)

    def settle(self, spend: Spend, synopsis: Storable) -> Spend:
        """The noise was drawn: a ledger in a file stores the synopsis; in memory there is nothing to do."""
        return spend

    def deliver(self, spend: Spend, digest: str) -> Spend:
        """The release reached its file: a ledger in a file records its digest; in memory there is nothing to do."""
        return spend

    def unfinished(self, request: str, entries: Sequence[Spend] | None = None) -> Spend | None:
        """What an interrupted run with this request has paid for; in memory nothing outlives the run.

        `entries`: the spends as they were read a moment ago.
        """
        return None

    def stored(self, spend: Spend) -> Spend:
        """The spend with the place of its synopsis; in memory there is none."""
        return spend

    def record(self, spend: Spend) -> dict[str, str]:
        """The ledger's line for a release: public facts, in words, as they were right after this spend."""
        return dict(spend.line or self._line([entry for entry in self.entries if entry.number <= spend.number]))

    def _line(self, entries: Sequence[Spend]) -> dict[str, str]:
        """Of the last of these, which are all until then."""
        spend = entries[-1]
        return {
            "data_set": self.name or "unnamed (a ledger in memory)",
            "spend": str(spend.number),
            "time": spend.time,
            "charged": spend.spent.amount,
            "total": str(self._allowance),
            "spent": _amount(_spent_on(entries)),
            "left": _amount(self._allowance.left(entries)),
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
    if len(text) > _LONGEST_TEXT or "\0" in text:
        raise InvalidInput(argument, "too long, or with a null character", f"give at most {_LONGEST_TEXT} characters")
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


# One spend of a ledger: what was asked for, what it was charged, and how far its release has come.

STATES = {
    "debited": "the budget is spent; no synopsis was recorded",
    "stored": "the synopsis is stored; the release was not delivered",
    "delivered": "the release was delivered",
}
"""How far a spend has come, in the order it comes there. The budget is spent in every one of them."""


@dataclass(frozen=True)
class Spend:
    """One line of a ledger. All of it is public: no counts of rows, no timings, nothing about where the data lie."""

    number: int
    """1, 2, 3, …, in the order of the debits: of a ledger file, across all its data sets."""
    budget: Budget
    """As it was asked for."""
    spent: Budget
    """What the ledger was charged for it, in the ledger's own kind."""
    purpose: str
    """What it bought: the mechanism and the number of cells, mostly."""
    time: str
    """When it was debited: UTC, to the second."""
    relation: str | None = None
    """Between which neighbours it was promised, if that is known: "add_remove" or "replace_one"."""
    rho: Fraction | None = None
    """The ρ that was spent on a budget stated as (ε, δ)."""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The public parameters of the release."""
    request: str | None = None
    """By which a run that is started again finds what an interrupted one has paid for."""
    state: str = "debited"
    """One of `STATES`."""
    token: str = ""
    """A random name, so that no synopsis of another ledger is taken for this spend's."""
    synopsis_digest: str | None = None
    """SHA-256 of the stored synopsis's file."""
    release_digest: str | None = None
    """The digest of the release that was delivered."""
    synopsis_path: Path | None = None
    """Where the stored synopsis is; None if there is none, or it is not as it was stored."""
    line: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """What `record` says of it, if it was debited by this process; stored nowhere."""

    def __str__(self) -> str:
        return printable(f"spend {self.number}: {self.spent} on {self.purpose}")


def now() -> str:
    """The time of a debit."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# What may be spent on one data set, and the one public rule by which spends are counted against it (`ledger.md`).

COMPOSITIONS = {"basic": "ε and δ add up", "zcdp": "everything is counted in ρ"}
"""The rules. A total in ρ is counted in ρ; one in (ε, δ) by either rule; one in ε alone adds up."""


@dataclass(frozen=True)
class Allowance:
    """A total and its rule, fixed when they are declared: the sum of all charges stays within `limit`."""

    total: Budget
    composition: str
    limit: Budget
    """What the charges add up against: the total itself, or the ρ that gives it."""

    @classmethod
    def of(
        cls, *, epsilon: object = None, rho: object = None, delta: object = None, composition: str = "basic"
    ) -> Allowance:
        """The allowance that a caller declares, or what contradicts itself in it."""
        validate.one_of("composition", composition, COMPOSITIONS)
        if isinstance(epsilon, Budget):
            total = epsilon
            if rho is not None or delta:
                raise InvalidInput("epsilon", "a Budget beside rho or delta", "leave those out: the budget says it all")
        else:
            total = Budget(epsilon=epsilon, rho=rho, delta=0 if delta is None else delta)
        validate.budget("rho" if total.epsilon is None else "epsilon", total.rho or total.epsilon)
        if total.delta:
            validate.budget("delta", total.delta)
        if total.rho is not None:
            return cls(total, "zcdp", total)
        if composition == "basic":
            return cls(total, composition, total)
        if not total.delta:
            raise InvalidInput("composition", "'zcdp' for a total without delta", "give delta= too, or leave it out")
        return cls(total, composition, Budget(rho=rho_for(total.epsilon, total.delta)))

    @classmethod
    def restored(cls, total: Budget, composition: str, limit: Budget) -> Allowance:
        """The same from a file: the limit as it was declared, checked to give the total."""
        if composition not in COMPOSITIONS or (limit != total and not _gives(limit, total)):
            raise InvalidInput("limit", f"{limit} for {total}", "it does not follow")
        return cls(total, composition, limit)

    def charge(self, budget: Budget, rho: Fraction | None) -> Budget:
        """What is charged for a budget, or a refusal where no such charge would be true."""
        if self.limit.rho is None:
            return self._charge_in_epsilon(budget)
        if budget.rho is not None:
            return budget
        if rho is not None:
            return Budget(rho=rho).counted_for(budget.protects)
        if budget.delta or budget.epsilon is None:
            remedy = "say which rho was spent on it: (ε, δ) alone does not bound ρ"
            raise InvalidInput("budget", f"{budget} on a ledger that is kept in rho", remedy)
        return Budget(rho=budget.epsilon**2 / 2).counted_for(budget.protects)

    def _charge_in_epsilon(self, budget: Budget) -> Budget:
        if budget.rho is not None:
            kind = "epsilon and delta" if self.total.delta else "epsilon"
            remedy = f"ask for {kind}, or keep the ledger in rho: a ρ has no δ to charge this one with"
            if self.total.delta:
                remedy += " (or declare it with composition='zcdp', which takes ε, ρ and (ε, δ))"
            raise InvalidInput("budget", f"{budget} on a ledger that is kept in {kind}", remedy)
        if budget.delta and not self.total.delta:
            remedy = "ask for epsilon alone, or give the ledger a delta"
            raise InvalidInput("budget", f"{budget} on a ledger that has no delta", remedy)
        return budget

    def left(self, spends: Iterable[Spend]) -> Budget | None:
        """What is left after these spends, or None when nothing is: summed anew, every time."""
        spent = _spent_on(spends)
        if spent is None:
            return self.limit
        if self.limit.rho is not None and spent.rho is not None:
            left = self.limit.rho - spent.rho
            return Budget(rho=left) if left > 0 else None
        if self.limit.epsilon is not None and spent.epsilon is not None:
            left, small = self.limit.epsilon - spent.epsilon, self.limit.delta - spent.delta
            return Budget(epsilon=left, delta=small) if left > 0 and small >= 0 else None
        return None

    def check(self, charge: Budget, spends: Iterable[Spend]) -> None:
        """Refuse a charge that would exceed what is left after these spends."""
        left = self.left(spends)
        if left is None or not left.covers(charge):
            raise BudgetExceeded(charge, left)

    def __str__(self) -> str:
        return f"{self.total}" if self.limit == self.total else f"{self.total} (counted as {self.limit})"


def _spent_on(spends: Iterable[Spend]) -> Budget | None:
    """The sum of what was charged; None of nothing."""
    charges = [spend.spent for spend in spends]
    return reduce(add, charges) if charges else None


def _gives(limit: Budget, total: Budget) -> bool:
    """Whether everything within a limit in ρ is within a total in (ε, δ)."""
    if limit.rho is None or total.epsilon is None:
        return False
    return delta_of(limit.rho, total.epsilon) <= total.delta
