"""The ledger of one data set in a file: debit, commit, and only then noise; whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from sparsedp.errors import BadFile, InvalidInput, PrivateSide
from sparsedp.files.untrusted import document
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Allowance, Ledger, Spend, Storable, checked_text, described
from sparsedp.privacy.ledger_file import _faults
from sparsedp.privacy.ledger_file._faults import Refused
from sparsedp.privacy.ledger_file.store import LedgerStore, sync_folder
from sparsedp.validate import stored_number


class DataSetLedger(Ledger):
    """A ledger in a file, shared by all processes that open it; use it wherever a `Ledger` goes.

    The order of things: `debit` returns once the debit is committed and on disk, and only then is noise drawn;
    `settle` stores the synopsis beside the file and records its digest; `deliver` records the digest of the release.
    From the debit on the budget is spent, however the run ends: `unfinished` tells the next one what there is, and a
    stored synopsis is delivered at no cost.

    Processes and threads may share the file. Nothing is kept in memory but the total, which never changes, and which
    debits of its own wait for their synopsis: every sum is taken anew from the file.
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
        with self._store.writing(_faults.NOTHING_SPENT, token=token) as connection:
            entries, number = self._spends(connection), _next_number(connection)
            spend = self._admitted(entries, number, budget, purpose, rho=rho, relation=relation)
            spend = replace(described(spend, parameters, request), token=token)
            spend = replace(spend, line=self._line([*entries, spend]))
            _add_spend(connection, self.name, spend)
        self._store.reached("debited")
        return spend

    def settle(self, spend: Spend, synopsis: Storable) -> Spend:
        """Store the synopsis that was paid for by a spend, whole and on disk, and record its digest.

        Both happen while no other process can write to the ledger: of two that were forked after the debit, or that
        share its token, the first stores what it drew, and the other is refused before anything is written.
        """
        stands = f"Spend {spend.number} stays spent; what was drawn is in memory only, so finish this run."
        place = f"Spend {spend.number} stays spent; if its synopsis was written, it is {self._shelf.place_of(spend)}."
        with self._store.writing(place) as connection:
            kept = self._kept(connection, spend)
            if kept.state != "debited":
                remedy = "a spend pays for one synopsis: debit again for another"
                raise InvalidInput("spend", f"number {spend.number}, which is {kept.state}", remedy)
            try:
                digest = self._shelf.put(spend, synopsis)
            except BadFile as error:
                raise BadFile(f"{error} {stands}") from None
            self._store.reached("synopsis written")
            settled = replace(kept, state="stored", synopsis_digest=digest)
            _go_forward(connection, settled)
        self._store.reached("stored")
        return self._shelf.found(settled)

    def deliver(self, spend: Spend, digest: str) -> Spend:
        """Record the digest of the release that was made of a spend, once it has reached its file."""
        checked_text("digest", digest)
        written = f"Spend {spend.number} stays spent; its release was written, and only this was not recorded."
        with self._store.writing(written) as connection:
            delivered = kept = self._kept(connection, spend)
            if kept.release_digest != digest:
                if kept.state == "delivered":
                    remedy = "its digest is on record and stays"
                    raise InvalidInput("spend", f"number {spend.number}, which was delivered", remedy)
                found = None if kept.synopsis_digest else self._shelf.found(kept).synopsis_path
                synopsis = kept.synopsis_digest if found is None else _digest_of(found)
                delivered = replace(kept, state="delivered", synopsis_digest=synopsis, release_digest=digest)
                _go_forward(connection, delivered)
        self._store.reached("delivered")
        return self._shelf.found(delivered)

    def unfinished(self, request: str, entries: Sequence[Spend] | None = None) -> Spend | None:
        """The newest spend for this request whose release was not delivered.

        One that has its synopsis comes first, also if a later one was delivered: it is paid for, and can be delivered
        at no cost. A spend whose `synopsis_path` is None bought nothing that is left, or belongs to a run that is still
        under way; once a later one was delivered, nobody waits for it.
        """
        entries = [entry for entry in (self.entries if entries is None else entries) if entry.request == request]
        done = max((entry.number for entry in entries if entry.state == "delivered"), default=0)
        open_ones = [self._shelf.found(entry) for entry in reversed(entries) if entry.state != "delivered"]
        for spend in open_ones:
            if spend.synopsis_path is not None:
                return spend
        return next((spend for spend in open_ones if spend.number > done), None)

    def stored(self, spend: Spend) -> Spend:
        """The spend with the place of its synopsis, where that is still as it was stored."""
        return self._shelf.found(spend)

    def _kept(self, connection: sqlite3.Connection, spend: Spend) -> Spend:
        for entry in self._spends(connection):
            if entry.token == spend.token:
                return entry
        given = f"number {spend.number}, which this ledger does not hold"
        raise InvalidInput("spend", given, "give what its own debit, or unfinished, returned")

    def _spends(self, connection: sqlite3.Connection) -> tuple[Spend, ...]:
        try:
            if allowance_of(connection, self.name) == self._allowance:
                return _spends_of(connection, self.name, self._allowance)
        except Unreadable:
            pass
        raise Refused(_faults.damaged(self.path))

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise PrivateSide("A ledger in a file is not copied or pickled: open it there by its path and name.")

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy
    __reduce_ex__ = _refuse_copy


# Lines of the tables as the library's own values, and back.

_COLUMNS = (
    "number, time, purpose, relation, protects, epsilon, delta, rho, charged_epsilon, charged_delta, charged_rho, "
    "parameters, request, token, state, synopsis_digest, release_digest"
)
_SPENDS = f"SELECT {_COLUMNS} FROM spends WHERE data_set = ? ORDER BY number"  # noqa: S608
_INSERT = f"INSERT INTO spends (data_set, {_COLUMNS}) VALUES (?{', ?' * 17})"  # noqa: S608
_DATA_SET = "SELECT epsilon, delta, rho, composition, limit_rho FROM data_sets WHERE name = ?"
_DECLARE = "INSERT INTO data_sets VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class Unreadable(Exception):
    """A line that this library did not write."""


def _spends_of(connection: sqlite3.Connection, data_set: str, allowance: Allowance) -> tuple[Spend, ...]:
    """Every spend on a data set, in order; each charge is computed anew, and must be the one that was written."""
    try:
        return tuple(_spend(row, allowance) for row in connection.execute(_SPENDS, (data_set,)))
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        raise Unreadable from None


def _facts(parameters: str) -> dict[str, Any]:
    found = document(parameters)
    if not isinstance(found, dict):
        raise TypeError("no facts by name")
    return found


def _spend(row: tuple[Any, ...], allowance: Allowance) -> Spend:
    number, time, purpose, relation, protects, epsilon, delta, rho, *charged, parameters, request = row[:13]
    asked = _budget(epsilon, delta, None if epsilon is not None else rho).counted_for(protects)
    behind = stored_number("rho", rho) if rho is not None and epsilon is not None else None
    spent = _budget(*charged).counted_for(protects)
    if allowance.charge(asked, behind) != spent:
        raise ValueError("the charge is another one")
    if not (isinstance(purpose, str) and isinstance(time, str) and isinstance(relation, str | None)):
        raise TypeError("no text")
    return Spend(
        number,
        asked,
        spent,
        purpose,
        time,
        relation,
        behind,
        _facts(parameters),
        request,
        *row[14:15],
        *row[13:14],
        *row[15:17],
    )


def _add_spend(connection: sqlite3.Connection, data_set: str, spend: Spend) -> None:
    """Write the line of a debit."""
    epsilon, delta, rho = _texts(spend.budget)
    row = (
        *(spend.number, spend.time, spend.purpose, spend.relation, spend.budget.protects),
        *(epsilon, delta, rho if spend.rho is None else str(spend.rho)),
        *_texts(spend.spent),
        *(json.dumps(spend.parameters, sort_keys=True), spend.request, spend.token, spend.state),
        *(spend.synopsis_digest, spend.release_digest),
    )
    connection.execute(_INSERT, (data_set, *row))


def _next_number(connection: sqlite3.Connection) -> int:
    """Of the next spend, on whichever data set."""
    (number,) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM spends").fetchone()
    return int(number)


def _go_forward(connection: sqlite3.Connection, spend: Spend) -> None:
    """Write the state and the digests that a spend has reached."""
    reached = (spend.state, spend.synopsis_digest, spend.release_digest, spend.number)
    connection.execute("UPDATE spends SET state = ?, synopsis_digest = ?, release_digest = ? WHERE number = ?", reached)


def names_in(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The declared names, in the order of their declaration."""
    return tuple(str(name) for (name,) in connection.execute("SELECT name FROM data_sets ORDER BY rowid"))


def allowance_of(connection: sqlite3.Connection, data_set: str) -> Allowance | None:
    """What may be spent on a data set; None of one that was not declared."""
    row = connection.execute(_DATA_SET, (data_set,)).fetchone()
    if row is None:
        return None
    try:
        total, limit = _budget(*row[:3]), row[4]
        return Allowance.restored(total, row[3], total if limit is None else Budget(rho=stored_number("rho", limit)))
    except (ValueError, TypeError, ArithmeticError, InvalidInput):
        raise Unreadable from None


def add_data_set(connection: sqlite3.Connection, name: str, folded: str, allowance: Allowance, time: str) -> None:
    """Write the line of a declaration."""
    limit = None if allowance.limit == allowance.total else str(allowance.limit.rho)
    connection.execute(_DECLARE, (name, folded, *_texts(allowance.total), allowance.composition, limit, time))


def _budget(epsilon: str | None, delta: str | None, rho: str | None) -> Budget:
    return Budget(
        epsilon=None if epsilon is None else stored_number("epsilon", epsilon),
        delta=0 if delta is None else stored_number("delta", delta),
        rho=None if rho is None else stored_number("rho", rho),
    )


def _texts(budget: Budget) -> tuple[str | None, str | None, str | None]:
    """ε, δ and ρ as text; exact, whatever their length."""
    written = budget.describe()
    return written.get("epsilon"), written.get("delta"), written.get("rho")


# The folder beside a ledger where synopses are stored: nothing in it but what is noise-protected already.


class Shelf:
    """One file for each spend, named by its number and its random token; it is there whole, or it is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place_of(self, spend: Spend) -> Path:
        """Where the synopsis of a spend is, or will be."""
        return self.folder / f"{spend.number}-{spend.token}.synopsis"

    def put(self, spend: Spend, synopsis: Storable) -> str:
        """Store a synopsis; it is on disk when this returns. Its digest."""
        place = self.place_of(spend)
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700)
                sync_folder(self.folder.parent)
            synopsis.save(place)
            sync_folder(self.folder)
            return _digest_of(place)
        except OSError as error:
            raise BadFile(f"Could not write {place}: {error.strerror or 'the system refuses'}.") from None

    def found(self, spend: Spend) -> Spend:
        """The spend with the place of its synopsis, if that is there and is as it was stored."""
        place = self.place_of(spend)
        try:
            whole = spend.synopsis_digest in (None, _digest_of(place))
        except OSError:
            whole = False
        return replace(spend, synopsis_path=place if whole else None)


def _digest_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
