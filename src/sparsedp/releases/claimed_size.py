"""How large a file of a release or a synopsis says it is, and what that takes: before anything of it is decoded."""

from __future__ import annotations

from typing import Any

from sparsedp.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.parquet_claims import Claim
from sparsedp.sensing import sensing_from
from sparsedp.sensing.base import Sensing

RECOVERED_BYTES = 32
"""A cell, while it is recovered: its estimate, its error, and as much again to work with."""

UNUSABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError, RecursionError, MemoryError)
"""What comes of building something from a description that this library did not write."""


def release_needs(claim: Claim, shown: str) -> int:
    """Refuse a release with other rows than it describes cells; it takes nothing beyond its columns."""
    described = _described_cells(claim.document)
    if described is not None and described != claim.rows:
        raise BadFile(f"{shown} has not as many rows as it describes cells; it was changed or not written by sparsedp.")
    return 0


def synopsis_needs(claim: Claim, shown: str) -> int:
    """Refuse a synopsis of other rows than its plan has; bytes that its cells take once it is recovered."""
    try:
        sensing = sensing_from(claim.document["sensing"])
    except (*UNUSABLE, BadFile) as error:
        reason = str(error) if isinstance(error, BadFile | InvalidInput) else "it does not say what was measured."
        raise BadFile(f"{shown} is a sparsedp synopsis that cannot be used: {reason}") from None
    _check_rows(claim, sensing, shown)
    return sensing.n * RECOVERED_BYTES


def embedded_needs(claim: Claim, shown: str) -> int:
    """The same of a synopsis within a release; one of a later version, perhaps, is kept, and not used."""
    try:
        sensing = sensing_from(claim.document["sensing"])
    except (*UNUSABLE, BadFile):
        return 0
    _check_rows(claim, sensing, shown)
    return sensing.n * RECOVERED_BYTES


def _check_rows(claim: Claim, sensing: Sensing, shown: str) -> None:
    if claim.rows != sensing.rows or claim.columns != ("value",):
        found = f"{claim.rows:,} rows, and its plan has {sensing.rows:,}"
        raise BadFile(f"{shown} has {found}; it was changed or not written by this library.")


def _described_cells(document: dict[str, Any]) -> int | None:
    """How many cells the domain has, or the plan of a plain vector; None where that is not to be made out."""
    try:
        if "domain" in document:
            return Domain.from_description(document["domain"]).size
        return int(document["plan"]["sensing"]["n"]) if document.get("plan") is not None else None
    except UNUSABLE:
        return None
