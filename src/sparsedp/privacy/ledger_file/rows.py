"""Lines of the tables as the library's own values, and back."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from sparsedp.errors import InvalidInput
from sparsedp.files.untrusted import document
from sparsedp.privacy.allowance import Allowance
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.spend import Spend
from sparsedp.validate import stored_number

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


def spends_of(connection: sqlite3.Connection, data_set: str, allowance: Allowance) -> tuple[Spend, ...]:
    """Every spend on a data set, in order; each charge is computed anew, and must be the one that was written."""
    try:
        return tuple(_spend(row, allowance) for row in connection.execute(_SPENDS, (data_set,)))
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        raise Unreadable from None


def _spend(row: tuple[Any, ...], allowance: Allowance) -> Spend:
    number, time, purpose, relation, protects, epsilon, delta, rho, *charged, parameters, request = row[:13]
    asked = _budget(epsilon, delta, None if epsilon is not None else rho).counted_for(protects)
    behind = stored_number("rho", rho) if rho is not None and epsilon is not None else None
    spent = _budget(*charged).counted_for(protects)
    if allowance.charge(asked, behind) != spent:
        raise ValueError("the charge is another one")
    return Spend(
        number,
        asked,
        spent,
        purpose,
        time,
        relation,
        behind,
        document(parameters),
        request,
        *row[14:15],
        *row[13:14],
        *row[15:17],
    )


def add_spend(connection: sqlite3.Connection, data_set: str, spend: Spend) -> None:
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


def next_number(connection: sqlite3.Connection) -> int:
    """Of the next spend, on whichever data set."""
    (number,) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM spends").fetchone()
    return int(number)


def go_forward(connection: sqlite3.Connection, spend: Spend) -> None:
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
