"""Data sets are known by declared names: short texts that cannot be mistaken for one another."""

from __future__ import annotations

import re
import unicodedata

from sparsedp.errors import InvalidInput

LONGEST = 64
_NAME = re.compile(r"\w(?:[\w .-]*\w)?")
_REMEDY = f"give up to {LONGEST} letters, digits, spaces, dots, dashes and underscores, such as 'visits-2024'"


def checked_name(name: object) -> str:
    """The name of a data set, in the one form in which it is kept."""
    if not isinstance(name, str):
        raise InvalidInput("dataset", f"of type {type(name).__name__}", _REMEDY)
    normal = unicodedata.normalize("NFC", name)
    if len(normal) > LONGEST or not _NAME.fullmatch(normal):
        raise InvalidInput("dataset", f"{name[:LONGEST]!r}{'…' if len(name) > LONGEST else ''}", _REMEDY)
    return normal


def folded(name: str) -> str:
    """What two names share that a reader would take for the same: a second budget for "Visits" is an accident."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
