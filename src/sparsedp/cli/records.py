"""Records to count: a path as it is given, or CSV on standard input, read as it comes."""

from __future__ import annotations

import sys
from typing import Any

from sparsedp.cli.files import STANDARD
from sparsedp.errors import InvalidInput


def records_from(source: str) -> Any:
    """What `sparsedp.count` reads. From standard input nothing is kept on disk: it is private."""
    if source != STANDARD:
        return source
    if sys.stdin.isatty():
        raise InvalidInput("standard input", "a terminal", "pipe CSV into it, or name a file")

    import pyarrow as pa
    import pyarrow.csv

    try:
        return pyarrow.csv.open_csv(sys.stdin.buffer)
    except (pa.ArrowException, OSError):
        raise InvalidInput("standard input", "not CSV with a line of headings", "pipe CSV into it") from None
