"""NOT PRIVATE: how many records a count leaves out, and why. For owners who hold the data and look at it themselves.

Nothing that is published may come from here: these are exact numbers about the records.
"""

from __future__ import annotations

from typing import Any

from sparsedp.ingest.lookups import Lookups
from sparsedp.ingest.query import Query, query_of
from sparsedp.ingest.request import Request, request_of
from sparsedp.ingest.session import guarded, session
from sparsedp.ingest.sources import source_of
from sparsedp.progress import stage

WARNING = "NOT PRIVATE: exact numbers about the records; for the data's owner alone, never to be published."


class NotPrivateLosses(dict[str, int]):
    """Why → how many records, the first reason of each; "read" is all of them, and "counted" is what was left."""

    def __repr__(self) -> str:
        return f"<{WARNING} {dict(self)}>"

    __str__ = __repr__


def NOT_PRIVATE_losses(  # noqa: N802
    source: Any,
    domain: Any,
    *,
    privacy_unit: Any,
    max_contributions: int = 1,
    columns: Any = None,
    outside: Any = "drop",
    value: Any = None,
    clamp: Any = None,
    resolution: Any = None,
    csv: Any = None,
) -> NotPrivateLosses:
    """NOT PRIVATE. How many records `sparsedp.count` would read, leave out and count, with the same arguments.

    A record that is left out is told of once, by the first of these: it is a broken line of CSV; it has no unit; on an
    axis, in their order, it is missing or cannot be read, or is outside; its value is missing or cannot be read; its
    person has more than `max_contributions`.
    """
    request = request_of(domain, privacy_unit, max_contributions, columns, outside, value, clamp, resolution, csv, None)
    with stage("looking for what is left out"), session() as connection:

        def run() -> NotPrivateLosses:
            records = source_of(source, request.needed, request.dialect)
            found = records.attach(connection, request.needed)
            numbers = connection.execute(_aggregate(request, query_of(request, found, Lookups(connection)))).fetchone()
            read, *others = (int(one or 0) for one in numbers or ())
            broken = records.broken()
            return NotPrivateLosses(zip(_reasons(request), (read + broken, broken, *others), strict=True))

        return guarded(run)


def _reasons(request: Request) -> list[str]:
    axes = [reason for name in request.domain.names for reason in (f"{name} unreadable", f"{name} outside")]
    value = [] if request.amounts is None else [f"{request.amounts.column} unreadable"]
    return ["read", "broken", "no unit", *axes, *value, "beyond max_contributions", "counted"]


def _aggregate(request: Request, query: Query) -> str:
    """One query: first by person, whose records beyond the bound are to be known, then over all of them."""
    units = [one.name for one in query.people]
    conditions = [" OR ".join(f"{unit} IS NULL" for unit in units) or "false"]
    for place in range(len(request.domain.axes)):
        conditions += [f"p{place} IS NULL AND x{place} IS NULL", f"p{place} IS NULL"]
    if request.amounts is not None:
        conditions.append("steps IS NULL")
    cases = " ".join(f"WHEN {condition} THEN {reason}" for reason, condition in enumerate(conditions))
    left = f"SELECT *, CASE {cases} ELSE {len(conditions)} END AS reason FROM ({query.places})"  # noqa: S608
    tallies = ", ".join(f"count(*) FILTER (reason = {reason}) AS n{reason}" for reason in range(len(conditions) + 1))
    grouped = f"GROUP BY {', '.join(units)}" if units else ""
    people = f"SELECT {tallies} FROM ({left}) {grouped}"  # noqa: S608
    good = f"n{len(conditions)}"
    kept = f"least({good}, {request.max_contributions})" if units else good
    everything = " + ".join(f"n{reason}" for reason in range(len(conditions) + 1))
    sums = [everything, *(f"n{reason}" for reason in range(len(conditions))), f"{good} - {kept}", kept]
    return f"SELECT {', '.join(f'sum({one})' for one in sums)} FROM ({people})"  # noqa: S608
