"""A ledger file: several data sets, each with its total, under declared names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.files.untrusted import printable
from sparsedp.privacy.allowance import Allowance
from sparsedp.privacy.ledger_file import faults
from sparsedp.privacy.ledger_file.data_set import DataSetLedger
from sparsedp.privacy.ledger_file.faults import Refused
from sparsedp.privacy.ledger_file.names import checked_name, folded
from sparsedp.privacy.ledger_file.payment import Payment, Published, payment_of
from sparsedp.privacy.ledger_file.rows import Unreadable, add_data_set, allowance_of, names_in
from sparsedp.privacy.ledger_file.store import LedgerStore
from sparsedp.privacy.spend import now


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
        given = checked_name(name)
        self._store.create()
        with self._store.writing("", begin=True) as connection:
            try:
                stands = allowance_of(connection, given)
            except Unreadable:
                raise Refused(faults.damaged(self.path)) from None
            if stands is None:
                for other in names_in(connection):
                    if folded(other) == folded(given):
                        remedy = f"write {other!r}: a name that differs so little would be a second budget"
                        raise InvalidInput("dataset", f"{given!r} beside {other!r}", remedy)
                add_data_set(connection, given, folded(given), wanted, now())
            elif (stands.total, stands.composition) != (wanted.total, wanted.composition):
                raise InvalidInput("total", _other(wanted, given, stands), "leave it: a total never changes")
        return DataSetLedger(self._store, given, stands or wanted)

    def __getitem__(self, name: str) -> DataSetLedger:
        given = checked_name(name)
        with self._store.reading() as connection:
            try:
                allowance = allowance_of(connection, given)
            except Unreadable:
                raise Refused(faults.damaged(self.path)) from None
            if allowance is None:
                known = names_in(connection)
                raise UnknownName("dataset", given, known, _how_to_declare(self.path, given, known))
        return DataSetLedger(self._store, given, allowance)

    def paid_for(self, published: Published) -> Payment | None:
        """The spend that paid for a release or a synopsis, opened from whatever file; None if it is not one of these.

        It is known by the digest that was recorded when it was delivered, or, recovered again, by its measurement. What
        a release says of its ledger is not relied on. Releases of streams are not recorded one by one.
        """
        return payment_of([self[name] for name in self.names], published)

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
