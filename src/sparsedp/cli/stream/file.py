"""The file of a stream that a command goes on with, or begins."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sparsedp.cli.interruption import Interrupted
from sparsedp.cli.speaking import warnings_as_notes
from sparsedp.errors import BadFile

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.streams.base import Stream


@contextmanager
def the_stream(file: str) -> Iterator[Stream]:
    """The stream in the file, which must exist: one begun by accident would be another budget."""
    from sparsedp.streams.durable import open_stream

    if not os.path.exists(file):
        begin = f"`sparsedp stream init {shlex.quote(file)} --epsilon 0.5 --ledger budget.db`"
        raise BadFile(f"There is no stream {file}; check the path, or begin one: {begin}.")
    with open_stream(file) as stream:
        yield stream


def begin(path: Path, stream: Stream, ledger: Ledger | None) -> None:
    """Make the stream's file, once its ledger is debited; whatever ends that, say what was spent."""
    from sparsedp.streams.durable import begin as make

    amount = stream.spent.amount
    before = _debits(path, ledger)
    try:
        with warnings_as_notes():
            begun = make(path, stream)
        if not begun:
            raise BadFile(f"{path} exists already; a stream is never begun anew: go on with it, or give another name.")
    except KeyboardInterrupt:
        # The debit may have been committed in the moment before: the ledger knows.
        raise Interrupted(_outcome(path, amount, debited=_debits(path, ledger) > before)) from None
    except BadFile as error:
        if _debits(path, ledger) == before:
            raise
        raise BadFile(f"{error} {_outcome(path, amount, debited=True)}") from None


def _debits(path: Path, ledger: Ledger | None) -> int:
    """How many debits there were for a stream at this place."""
    from sparsedp.streams.durable.payment import request_for

    return 0 if ledger is None else sum(entry.request == request_for(path) for entry in ledger.entries)


def _outcome(path: Path, amount: str, *, debited: bool) -> str:
    if path.exists():
        return f"The stream {path} was begun{f', and {amount} is spent on it' if debited else ''}."
    if not debited:
        return "No stream was begun and nothing was spent."
    return f"{amount} was already debited and stays spent, but there is no stream; beginning it again debits it again."
