"""Whether a published file is one of those that a ledger has paid for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sparsedp.errors import BadFile
from sparsedp.files.columns_file import Packed, open_contents
from sparsedp.privacy.spend import Spend

if TYPE_CHECKING:
    from sparsedp.privacy.ledger_file.data_set import DataSetLedger


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


def payment_of(ledgers: list[DataSetLedger], published: Published) -> Payment | None:
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
