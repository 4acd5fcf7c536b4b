"""A ledger file: several data sets, each with its total, under declared names."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, overload

from sparsedp import validate
from sparsedp.errors import BadFile, InvalidInput, UnknownName
from sparsedp.files.columns_file import Packed, open_contents
from sparsedp.files.untrusted import printable
from sparsedp.privacy.ledger import Allowance, Spend, now
from sparsedp.privacy.ledger_file import _faults
from sparsedp.privacy.ledger_file._faults import Refused
from sparsedp.privacy.ledger_file.data_set import DataSetLedger, Unreadable, add_data_set, allowance_of, names_in
from sparsedp.privacy.ledger_file.store import LedgerStore


class LedgerFile:
    """The budgets of several data sets in one SQLite file: `books["visits"]` is the ledger of one of them.

    A data set is known by the name that was declared, never by what is in it: data with one row more would have a new
    budget. Declare the same people under one name.
    """

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    @property
    def names(self) -> tuple[str, ...]:
        """The data sets, in the order of their declaration."""
        with self._store.reading() as connection:
            return names_in(connection)

    def declare(
        self, name: str, *, epsilon: object = None, rho: object = None, delta: object = None, composition: str = "basic"
    ) -> DataSetLedger:
        """The ledger of a data set with this total: ε, (ε, δ) or ρ. The file is made if there is none.

        A total never changes: declared again it must be the same. `composition`: for a total in (ε, δ), "basic" adds
        up ε and δ; "zcdp" counts everything in the ρ that gives the total, and pays for ε, ρ and (ε, δ) alike.
        """
        wanted = Allowance.of(epsilon=epsilon, rho=rho, delta=delta, composition=composition)
        given = _checked_name(name)
        self._store.create()
        with self._store.writing("", begin=True) as connection:
            try:
                stands = allowance_of(connection, given)
            except Unreadable:
                raise Refused(_faults.damaged(self.path)) from None
            if stands is None:
                for other in names_in(connection):
                    if _folded(other) == _folded(given):
                        remedy = f"write {other!r}: a name that differs so little would be a second budget"
                        raise InvalidInput("dataset", f"{given!r} beside {other!r}", remedy)
                add_data_set(connection, given, _folded(given), wanted, now())
            elif (stands.total, stands.composition) != (wanted.total, wanted.composition):
                raise InvalidInput("total", _other(wanted, given, stands), "leave it: a total never changes")
        return DataSetLedger(self._store, given, stands or wanted)

    def __getitem__(self, name: str) -> DataSetLedger:
        given = _checked_name(name)
        with self._store.reading() as connection:
            try:
                allowance = allowance_of(connection, given)
            except Unreadable:
                raise Refused(_faults.damaged(self.path)) from None
            if allowance is None:
                known = names_in(connection)
                raise UnknownName("dataset", given, known, _how_to_declare(self.path, given, known))
        return DataSetLedger(self._store, given, allowance)

    def paid_for(self, published: Published) -> Payment | None:
        """The spend that paid for a release or a synopsis, opened from whatever file; None if it is not one of these.

        It is known by the digest that was recorded when it was delivered, or, recovered again, by its measurement. What
        a release says of its ledger is not relied on. Releases of streams are not recorded one by one.
        """
        return _payment_of([self[name] for name in self.names], published)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __repr__(self) -> str:
        if not self.path.exists():
            return f"LedgerFile({str(self.path)!r}: not begun; `declare` begins it)"
        return printable(f"LedgerFile({str(self.path)!r}: {', '.join(self.names) or 'no data sets'})")


def _other(wanted: Allowance, name: str, stands: Allowance) -> str:
    if wanted.total == stands.total:
        return (
            f"counted by {wanted.composition!r} for {name!r}, whose total {stands.total} is by {stands.composition!r}"
        )
    return f"{wanted.total} for {name!r}, whose total stands at {stands.total}"


def _how_to_declare(path: Path, name: str, known: tuple[str, ...]) -> str:
    there = f"the ledger has {', '.join(known)}" if known else "the ledger has no data sets yet"
    return f'{there}; `open_ledger("{path}").declare("{name}", epsilon=2)` declares one'


# Data sets are known by declared names: short texts that cannot be mistaken for one another.

_LONGEST = 64
_NAME = re.compile(r"\w(?:[\w .-]*\w)?")
_REMEDY = f"give up to {_LONGEST} letters, digits, spaces, dots, dashes and underscores, such as 'visits-2024'"


def _checked_name(name: object) -> str:
    """The name of a data set, in the one form in which it is kept."""
    if not isinstance(name, str):
        raise InvalidInput("dataset", f"of type {type(name).__name__}", _REMEDY)
    normal = unicodedata.normalize("NFC", name)
    if len(normal) > _LONGEST or not _NAME.fullmatch(normal):
        raise InvalidInput("dataset", f"{name[:_LONGEST]!r}{'…' if len(name) > _LONGEST else ''}", _REMEDY)
    return normal


def _folded(name: str) -> str:
    """What two names share that a reader would take for the same: a second budget for "Visits" is an accident."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


# Open a ledger file, or one data set's ledger in it.

_WAIT = 10.0
"""Seconds that an operation waits for another process to finish its own, which takes milliseconds."""


@overload
def open_ledger(path: str | os.PathLike[str], dataset: None = None, *, wait: float = _WAIT) -> LedgerFile: ...


@overload
def open_ledger(path: str | os.PathLike[str], dataset: str, *, wait: float = _WAIT) -> DataSetLedger: ...


def open_ledger(
    path: str | os.PathLike[str], dataset: str | None = None, *, wait: float = _WAIT
) -> LedgerFile | DataSetLedger:
    """The budgets in the file at `path`: all of them, or the ledger of the data set that is named.

    >>> import sparsedp as sdp, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> books = open_ledger(f"{folder.name}/budget.db")
    >>> visits = books.declare("visits", epsilon=2)
    >>> release = sdp.release([12, 5, 7], epsilon="0.5", ledger=visits)
    >>> str(open_ledger(f"{folder.name}/budget.db", "visits").remaining)
    'ε = 1.5'
    >>> folder.cleanup()

    The file is made by the first `declare`, never by opening. `wait`: seconds to wait for other processes.
    """
    target = validate.file_path("path", path, "give the path of a ledger, such as 'budget.db'")
    seconds = float(validate.positive("wait", wait))
    try:
        books = LedgerFile(LedgerStore(target, seconds))
        exists = target.exists()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "its links lead nowhere"
        raise BadFile(f"{target} cannot be reached: {reason}; check the path and who may read it.") from None
    if dataset is not None:
        return books[dataset]
    if exists and (target.is_dir() or target.stat().st_size):
        books.names  # noqa: B018  # what cannot be used is refused at once
    return books


# Whether a published file is one of those that a ledger has paid for.


class Measured(Protocol):
    """A synopsis, as far as it is compared here."""

    @property
    def digest(self) -> str:
        """Of what it says."""

    def packed(self) -> Packed:
        """A file of it."""


class Published(Protocol):
    """A release or a synopsis."""

    @property
    def digest(self) -> str:
        """Of what it says."""

    def verified_synopsis(self) -> Measured | None:
        """What it was recovered from, if that gives the very same."""


@dataclass(frozen=True)
class Payment:
    """The spend that has paid for a release, and how that is known.

    `by`: "release", where the file is the one that was delivered, by its digest; "synopsis", where it was recovered
    from the measurement that was paid for, again or in another way, and the ledger knows that by its digest.
    """

    data_set: str
    spend: Spend
    by: str


def _payment_of(ledgers: list[DataSetLedger], published: Published) -> Payment | None:
    """The spend that paid for this release or synopsis; None if none of these ledgers has."""
    entries = [(ledger, entry) for ledger in ledgers for entry in ledger.entries]
    for ledger, entry in entries:
        if entry.release_digest == published.digest:
            return Payment(ledger.name, ledger.stored(entry), "release")
    synopsis = published.verified_synopsis()
    if synopsis is None:
        return None
    file = hashlib.sha256(synopsis.packed().content).hexdigest()
    for ledger, entry in entries:
        spend = ledger.stored(entry)
        if spend.synopsis_digest == file or _stored_digest(spend) == synopsis.digest:
            said: Mapping[str, Any] | None = getattr(published, "record", None)
            return Payment(ledger.name, spend, "synopsis") if said in (None, ledger.record(entry)) else None
    return None


def _stored_digest(spend: Spend) -> str | None:
    """The digest of what the stored synopsis says, where that is still there."""
    if spend.synopsis_path is None:
        return None
    try:
        return open_contents(spend.synopsis_path, "synopsis").digest
    except BadFile:
        return None
