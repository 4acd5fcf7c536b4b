"""Records to count: a path as it is given, or CSV on standard input, read as it comes."""

from __future__ import annotations

import sys
from typing import Any

from sparsedp.cli.files import STANDARD
from sparsedp.errors import InvalidInput


def records_from(source: str) -> Any:
    """What `sparsedp.count` reads. Standard input is read as a CSV file is, and nothing of it is kept on disk."""
    if source != STANDARD:
        return source
    if sys.stdin.isatty():
        raise InvalidInput("standard input", "a terminal", "pipe CSV into it, or name a file")
    return sys.stdin.buffer


def unread(source: str) -> Any:
    """The same, to be named and not read: a dry run may well have a terminal as its standard input."""
    return sys.stdin.buffer if source == STANDARD else source
