"""From records to a published file in one call: count, debit, measure, store, recover, write."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sparsedp import validate
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest import count
from sparsedp.mechanisms import Mechanism
from sparsedp.mechanisms.base import spent_already
from sparsedp.privacy.asked import asked_for
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.publishing.booking import Booking
from sparsedp.publishing.in_memory import DEFAULT, checked_mechanism
from sparsedp.publishing.request import request_of
from sparsedp.publishing.target import checked_target
from sparsedp.release_file import open_release
from sparsedp.releases.release import Release
from sparsedp.synopsis import open_synopsis


def publish(
    source: Any,
    *,
    to: str | os.PathLike[str],
    domain: Domain,
    privacy_unit: str | Sequence[str] | None,
    max_contributions: int = 1,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    mechanism: str | Mechanism = DEFAULT,
    ledger: Ledger | None = None,
    overwrite: bool = False,
    columns: Mapping[str, str] | None = None,
    outside: str | Mapping[str, str] = "drop",
    value: str | None = None,
    clamp: tuple[validate.Number, validate.Number] | None = None,
    resolution: validate.Number | None = None,
    csv: Mapping[str, str] | None = None,
    neighbours: str = "add_remove",
    constraints: Constraints | None = None,
) -> Release:
    """Count records, publish the counts once under differential privacy, and write the release to a file.

    `source`, `domain`, `privacy_unit`, `max_contributions`, `columns`, `outside`, `value`, `clamp`, `resolution`,
    `csv`: as for `sparsedp.count`. `epsilon`, `rho`, `delta`, `mechanism`, `neighbours`, `constraints`: as for
    `sparsedp.release`.
    `to`: the file to write; one that exists is refused unless `overwrite` says so.
    `ledger`: a data set of a ledger file (`sparsedp.open_ledger("budget.db", "visits")`), or one in memory.

    With a ledger file an interruption costs nothing twice: once the noisy measurement is stored beside the ledger, the
    same call goes on from there, reads no records and spends nothing. Stopped between the debit and that moment, the
    budget is spent, which the next call says before it spends again.
    """
    validate.yes_or_no("overwrite", overwrite)
    chosen, asked = checked_mechanism(mechanism), asked_for(epsilon, rho, delta)
    if ledger is not None and not isinstance(ledger, Ledger):
        remedy = 'give a sparsedp.Ledger or `sparsedp.open_ledger("budget.db", "name")`, or leave it out'
        raise InvalidInput("ledger", f"of type {type(ledger).__name__}", remedy)
    declared = {
        "domain": domain.describe() if isinstance(domain, Domain) else None,
        "unit": privacy_unit,
        "max_contributions": max_contributions,
        "budget": asked.budget.describe(),
        "mechanism": repr(chosen),
        "columns": dict(columns or {}),
        "outside": outside if isinstance(outside, str) else dict(outside),
        "value": [value, clamp, resolution],
        "neighbours": neighbours,
        "constraints": None if constraints is None else constraints.describe(),
    }
    request = request_of(source, Path(os.fspath(to)) if isinstance(to, str | os.PathLike) else Path(), declared)
    resumed = None if ledger is None else _resumed(ledger, request, to, overwrite=overwrite)
    if resumed is not None:
        return resumed
    target = checked_target(to, overwrite=overwrite)
    if ledger is not None:
        ledger.check(asked.budget, rho=asked.rho)
    counts = count(
        source,
        domain,
        privacy_unit=privacy_unit,
        max_contributions=max_contributions,
        columns=columns,
        outside=outside,
        value=value,
        clamp=clamp,
        resolution=resolution,
        csv=csv,
    )
    return _published(counts, chosen, asked.budget, target, ledger, request, neighbours, constraints)


def _published(
    counts: Counts,
    mechanism: Mechanism,
    budget: Budget,
    target: Path,
    ledger: Ledger | None,
    request: str,
    neighbours: str,
    constraints: Constraints | None,
) -> Release:
    booking = None if ledger is None else Booking(ledger, request)
    release = mechanism.release(counts, epsilon=budget, neighbours=neighbours, constraints=constraints, ledger=booking)
    with spent_already(None if booking is None else booking.spend):
        release.save(target)
        if booking is not None:
            booking.delivered_to_file(release.digest)
    return release


def _resumed(ledger: Ledger, request: str, to: str | os.PathLike[str], *, overwrite: bool) -> Release | None:
    """What an interrupted call of the same request left behind, brought to its file; None if there is nothing."""
    spend = ledger.unfinished(request)
    if spend is None:
        return None
    if spend.synopsis_path is None:
        warnings.warn(
            f"An earlier run of the same request debited {spend.budget} and left no measurement: it was stopped, or is "
            "still under way. What it debited stays spent, and this run spends again.",
            stacklevel=3,
        )
        return None
    warnings.warn(
        f"Taken up where an earlier run of the same request was stopped, {spend.time}: its stored measurement is "
        "published, no records are read again, and nothing more is spent.",
        stacklevel=3,
    )
    release = replace(open_synopsis(spend.synopsis_path).recover(), record=ledger.record(spend))
    if not _is_there(release, to):
        release.save(checked_target(to, overwrite=overwrite))
    ledger.deliver(spend, release.digest)
    return release


def _is_there(release: Release, to: str | os.PathLike[str]) -> bool:
    """Whether the file was written before the interruption came."""
    try:
        return Path(to).is_file() and open_release(to).digest == release.digest
    except BadFile:
        return False
