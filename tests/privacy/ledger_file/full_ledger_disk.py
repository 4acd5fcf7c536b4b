"""Run as a program: a ledger on a disk that is full (files may not grow beyond a limit), then is not full any more.

What happened is printed as JSON, a line for each limit.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger_places import TENTH, NoisySynopsis

from sparsedp.errors import SparsedpError
from sparsedp.privacy.ledger_file import open_ledger


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Writing beyond this size fails in this process, as it does on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def run(folder: Path, size: int, long: int) -> dict[str, object]:
    """A debit and its synopsis while the disk is full; what is said, what is spent, and how it goes on."""
    ledger = open_ledger(folder / "budget.db").declare("visits", epsilon=1)
    said, returned, spend = "", 0, None
    with no_file_beyond(size):
        try:
            spend = ledger.debit(TENTH, "p" * long)
            returned = 1
            ledger.settle(spend, NoisySynopsis("n" * long))
        except SparsedpError as error:
            said = str(error)
    spent = len(ledger.entries)
    again = ledger.debit(TENTH, "there is room again").number
    return {"said": said, "returned": returned, "spent": spent, "again": again, "left": os.listdir(folder)}


def begin(folder: Path, size: int) -> dict[str, object]:
    """Begin a ledger on a full disk; what is said, and what is left there; with room again it is begun."""
    said, books = "", open_ledger(folder / "budget.db")
    with no_file_beyond(size):
        try:
            books.declare("visits", epsilon=1)
        except SparsedpError as error:
            said = str(error)
    left = os.listdir(folder)
    books.declare("visits", epsilon=1)
    return {"begun": not said, "said": said, "left": left}


if __name__ == "__main__":
    for size in (0, 100, 4096, 8000, 9000, 20000, 40000, 57344, 61440, 70000, 90000):
        for long in (10, 20000):
            place = Path(sys.argv[1]) / f"{size} {long}"
            place.mkdir()
            print(json.dumps(run(place, size, long)))
        place = Path(sys.argv[1]) / f"{size} new"
        place.mkdir()
        print(json.dumps(begin(place, size)))
