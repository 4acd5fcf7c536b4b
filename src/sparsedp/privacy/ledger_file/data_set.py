"""The ledger of one data set in a file: debit, commit, and only then noise; whatever happens in between."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from sparsedp.errors import BadFile, InvalidInput, PrivateSide
from sparsedp.privacy.allowance import Allowance
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger, Storable, checked_text, described
from sparsedp.privacy.ledger_file import faults
from sparsedp.privacy.ledger_file.faults import Refused
from sparsedp.privacy.ledger_file.rows import Unreadable, add_spend, allowance_of, go_forward, next_number, spends_of
from sparsedp.privacy.ledger_file.shelf import Shelf, digest_of
from sparsedp.privacy.ledger_file.store import LedgerStore
from sparsedp.privacy.spend import Spend


class DataSetLedger(Ledger):
    """A ledger in a file, shared by all processes that open it; use it wherever a `Ledger` goes.

    The order of things: `debit` returns once the debit is committed and on disk, and only then is noise drawn;
    `settle` stores the synopsis beside the file and records its digest; `deliver` records the digest of the release.
    From the debit on the budget is spent, however the run ends: `unfinished` tells the next one what there is, and a
    stored synopsis is delivered at no cost.

    Processes and threads may share the file. Nothing is kept in memory but the total, which never changes: every sum
    is taken anew from the file.
    """

    name: str

    def __init__(self, store: LedgerStore, name: str, allowance: Allowance) -> None:
        self._store = store
        self._allowance = allowance
        self._shelf = Shelf(store.synopses)
        self.name = name

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self._store.path

    @property
    def entries(self) -> tuple[Spend, ...]:
        """Every spend on this data set so far, in order."""
        with self._store.reading() as connection:
            return self._spends(connection)

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
        """Take `budget` off what remains, or raise `BudgetExceeded` and take nothing; see `Ledger.debit`.

        When it returns, the debit is on disk. If it raises, the error says whether anything was spent.
        """
        token = secrets.token_hex(8)
        self._store.reached("before the debit")
        with self._store.writing(faults.NOTHING_SPENT, token=token) as connection:
            entries, number = self._spends(connection), next_number(connection)
            spend = self._admitted(entries, number, budget, purpose, rho=rho, relation=relation)
            spend = replace(described(spend, parameters, request), token=token)
            add_spend(connection, self.name, spend)
        self._store.reached("debited")
        return spend

    def settle(self, spend: Spend, synopsis: Storable) -> Spend:
        """Store the synopsis that was paid for by a spend, whole and on disk, then record its digest."""
        stands = f"Spend {spend.number} stays spent; what was drawn is in memory only, so finish this run."
        kept = self._now(spend, stands)
        if kept.state != "debited":
            remedy = "a spend pays for one synopsis: debit again for another"
            raise InvalidInput("spend", f"number {spend.number}, which is {kept.state}", remedy)
        try:
            digest = self._shelf.put(spend, synopsis)
        except BadFile as error:
            raise BadFile(f"{error} {stands}") from None
        self._store.reached("synopsis written")
        stored = f"Spend {spend.number} stays spent, and its synopsis is {self._shelf.place_of(spend)}."
        settled = self._moved(spend, stored, state="stored", synopsis_digest=digest)
        self._store.reached("stored")
        return self._shelf.found(settled)

    def deliver(self, spend: Spend, digest: str) -> Spend:
        """Record the digest of the release that was made of a spend, once it has reached its file."""
        checked_text("digest", digest)
        written = f"Spend {spend.number} stays spent; its release was written, and only this was not recorded."
        kept = self._now(spend, written)
        if kept.release_digest == digest:
            return self._shelf.found(kept)
        if kept.state == "delivered":
            remedy = "its digest is on record and stays"
            raise InvalidInput("spend", f"number {spend.number}, which was delivered", remedy)
        found = self._shelf.found(kept).synopsis_path
        synopsis = kept.synopsis_digest or (None if found is None else digest_of(found))
        delivered = self._moved(spend, written, state="delivered", synopsis_digest=synopsis, release_digest=digest)
        self._store.reached("delivered")
        return self._shelf.found(delivered)

    def unfinished(self, request: str) -> Spend | None:
        """The newest spend for this request whose release was not delivered.

        One that has its synopsis comes first, also if a later one was delivered: it is paid for, and can be delivered
        at no cost. A spend whose `synopsis_path` is None bought nothing that is left, or belongs to a run that is still
        under way; once a later one was delivered, nobody waits for it.
        """
        entries = [entry for entry in self.entries if entry.request == request]
        done = max((entry.number for entry in entries if entry.state == "delivered"), default=0)
        open_ones = [self._shelf.found(entry) for entry in reversed(entries) if entry.state != "delivered"]
        for spend in open_ones:
            if spend.synopsis_path is not None:
                return spend
        return next((spend for spend in open_ones if spend.number > done), None)

    def stored(self, spend: Spend) -> Spend:
        """The spend with the place of its synopsis, where that is still as it was stored."""
        return self._shelf.found(spend)

    def _now(self, spend: Spend, outcome: str) -> Spend:
        """The spend as the file has it now."""
        with self._store.reading(outcome) as connection:
            return self._kept(connection, spend)

    def _moved(self, spend: Spend, outcome: str, **reached: str | None) -> Spend:
        """Write how far a spend has come."""
        with self._store.writing(outcome) as connection:
            moved = replace(self._kept(connection, spend), **reached)  # type: ignore[arg-type]
            go_forward(connection, moved)
        return moved

    def _kept(self, connection: sqlite3.Connection, spend: Spend) -> Spend:
        for entry in self._spends(connection):
            if entry.token == spend.token:
                return entry
        given = f"number {spend.number}, which this ledger does not hold"
        raise InvalidInput("spend", given, "give what its own debit, or unfinished, returned")

    def _spends(self, connection: sqlite3.Connection) -> tuple[Spend, ...]:
        try:
            if allowance_of(connection, self.name) == self._allowance:
                return spends_of(connection, self.name, self._allowance)
        except Unreadable:
            pass
        raise Refused(faults.damaged(self.path))

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A ledger in a file is not copied or pickled: open it there by its path and name.")

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy
    __reduce_ex__ = _refuse_copy
