"""One spend of a ledger: what was asked for, what it was charged, and how far its release has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from sparsedp.files.untrusted import printable
from sparsedp.privacy.budget import Budget

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

    def __str__(self) -> str:
        return printable(f"spend {self.number}: {self.spent} on {self.purpose}")


def now() -> str:
    """The time of a debit."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
