"""From records to a published file in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparsedp import validate
from sparsedp.axes.domain import Declared
from sparsedp.constraints import Constraints
from sparsedp.files.signatures import signing_key
from sparsedp.mechanisms import Mechanism
from sparsedp.privacy.budget import Budget, asked_for
from sparsedp.privacy.ledger import Ledger
from sparsedp.publishing.carrying_out import carried_out
from sparsedp.publishing.delivery import FileDelivery
from sparsedp.publishing.in_memory import DEFAULT, checked_mechanism
from sparsedp.publishing.order import Order
from sparsedp.releases.release import Release

if TYPE_CHECKING:
    from sparsedp.files.signatures import Private


def publish(
    source: Any,
    *,
    to: str | os.PathLike[str],
    domain: Declared,
    privacy_unit: str | Sequence[str] | None,
    max_contributions: int = 1,
    epsilon: validate.Number | Budget | None = None,
    rho: validate.Number | None = None,
    delta: validate.Number | None = None,
    mechanism: str | Mechanism = DEFAULT,
    ledger: Ledger | None,
    overwrite: bool = False,
    columns: Mapping[str, str] | None = None,
    outside: str | Mapping[str, str | int] = "drop",
    value: str | None = None,
    clamp: tuple[validate.Number, validate.Number] | None = None,
    resolution: validate.Number | None = None,
    csv: Mapping[str, Any] | None = None,
    neighbours: str = "add_remove",
    constraints: Constraints | None = None,
    sign: Private | None = None,
    passphrase: str | bytes | None = None,
) -> Release:
    """Count records, publish the counts once under differential privacy, and write the release to a file.

    `source`, `domain`, `privacy_unit`, `max_contributions`, `columns`, `outside`, `value`, `clamp`, `resolution`,
    `csv`: as for `sparsedp.count`. `epsilon`, `rho`, `delta`, `mechanism`, `neighbours`, `constraints`: as for
    `sparsedp.release`.
    `to`: the file to write; one that exists is refused unless `overwrite` says so.
    `ledger`: a data set of a ledger file (`sparsedp.open_ledger("budget.db", "visits")`), or one in memory; None says
    aloud that nobody keeps count of what is spent.
    `sign`: a private key that signs the file (`sparsedp.new_key` makes one), unlocked by `passphrase` if it is locked.

    With a ledger file an interruption costs nothing twice: once the noisy measurement is stored beside the ledger, the
    same call goes on from there, reads no records and spends nothing; of records in a file also if `to` is another.
    What was stored is what was paid for, even if the file has changed since. Stopped between the debit and that moment,
    the budget is spent, which the next call says before it spends again.
    """
    validate.yes_or_no("overwrite", overwrite)
    key = None if sign is None else signing_key(sign, passphrase, argument="sign")
    order = Order(
        source,
        {
            "domain": domain,
            "privacy_unit": privacy_unit,
            "max_contributions": max_contributions,
            "columns": columns,
            "outside": outside,
            "value": value,
            "clamp": clamp,
            "resolution": resolution,
            "csv": csv,
        },
        checked_mechanism(mechanism),
        asked_for(epsilon, rho, delta),
        neighbours,
        constraints,
    )
    return carried_out(order, FileDelivery(to, overwrite=overwrite), ledger, sign=key)
